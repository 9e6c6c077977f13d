//! Properties of capturing, for any data and any limits.

use proptest::prelude::*;

use super::*;
use crate::event::EventKind;
use crate::id::SessionId;
use crate::port::{is_credible_sequence, source_sequence_of};
use crate::redaction::{MarkerKey, RedactionPolicy};

/// A redactor whose rules are compiled once for all cases.
fn redactor() -> Redactor {
    static REDACTOR: std::sync::OnceLock<Redactor> = std::sync::OnceLock::new();
    let standard = || Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
    REDACTOR.get_or_init(standard).clone()
}

/// The data in the line, and the blobs.
fn captured(limits: Limits, data: &Json<'static>) -> (Json<'static>, Vec<Blob>) {
    let context = RunContext::new(SessionId::parse("session").unwrap());
    let capture = Capture::new(redactor(), limits, &context);
    let event = Event::new(EventKind::parse("x"), data.as_object().cloned());
    let mut prepared = capture.prepare(event, UnixMillis::EPOCH);
    let mut line = String::new();
    prepared.encode(1).unwrap().write(1, &mut line);
    let row = Json::parse(line.trim_end()).unwrap();
    let data = row.get("data").cloned().unwrap().into_owned();
    (data, prepared.blobs().to_vec())
}

/// Any value; no rule takes its words for a secret.
fn value() -> impl Strategy<Value = Json<'static>> {
    let numbers = ["0", "-0", "1.0", "1e400", "18446744073709551615", "-0.5e-7"];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        prop::sample::select(numbers.to_vec()).prop_map(|text| Json::parse(text).unwrap()),
        "[aeiou äö😀\"\\\\]{0,40}".prop_map(Json::from),
    ];
    leaf.prop_recursive(8, 64, 8, |inside| {
        prop_oneof![
            prop::collection::vec(inside.clone(), 0..12).prop_map(Json::Array),
            object(inside).prop_map(Json::Object),
        ]
    })
}

fn object(value: impl Strategy<Value = Json<'static>>) -> impl Strategy<Value = Object<'static>> {
    prop::collection::vec(("m[0-9]{1,2}", value), 0..12).prop_map(|members| {
        let mut object = Object::new();
        members.into_iter().for_each(|(name, value)| object.push(name, value));
        object
    })
}

fn data() -> impl Strategy<Value = Json<'static>> {
    object(value()).prop_map(Json::Object)
}

fn limits() -> impl Strategy<Value = Limits> {
    (1_usize..50, 1_usize..10, 1_usize..10, 1_usize..8, 0_usize..20).prop_map(
        |(text_units, array_items, object_members, depth, preview_characters)| Limits {
            text_units,
            array_items,
            object_members,
            depth,
            preview_characters,
            line_bytes: 10_000_000,
            ..Limits::standard()
        },
    )
}

fn is_marker(value: &Json<'_>) -> bool {
    value.get("truncated").and_then(Json::as_bool) == Some(true)
}

/// Every value below this one, with its depth; does not descend into markers.
fn walk<'v>(
    value: &'v Json<'static>,
    depth: usize,
    visit: &mut impl FnMut(&'v Json<'static>, usize),
) {
    visit(value, depth);
    match value {
        _ if is_marker(value) => {}
        Json::Array(items) => items.iter().for_each(|item| walk(item, depth + 1, visit)),
        Json::Object(object) => object.iter().for_each(|(_, item)| walk(item, depth + 1, visit)),
        _ => {}
    }
}

proptest! {
    #[test]
    fn values_within_the_limits_are_unchanged(data in data()) {
        let limits = Limits { depth: 100, ..Limits::standard() };
        let (kept, blobs) = captured(limits, &data);
        prop_assert_eq!(kept, data);
        prop_assert!(blobs.is_empty());
    }

    #[test]
    fn limits_are_respected_everywhere(data in data(), limits in limits()) {
        let (kept, blobs) = captured(limits.clone(), &data);
        let mut named = Vec::new();
        let mut problems = Vec::new();
        walk(&kept, 0, &mut |value, depth| {
            let within = match value {
                _ if is_marker(value) => {
                    named.extend(value.get("blob").and_then(Json::as_str));
                    true
                }
                Json::String(text) => text.encode_utf16().count() <= limits.text_units,
                // One more than the limit: the marker.
                Json::Array(items) => {
                    let cut = items.last().is_some_and(is_marker);
                    items.len() <= limits.array_items + usize::from(cut) && depth < limits.depth
                }
                Json::Object(object) => {
                    let cut = object.get("_truncated").is_some_and(is_marker);
                    object.len() <= limits.object_members + usize::from(cut)
                        && depth < limits.depth
                }
                _ => true,
            };
            if !within {
                problems.push((value.to_line(), depth));
            }
        });
        prop_assert!(problems.is_empty(), "{:?}", problems);
        for name in named {
            let digest = BlobDigest::parse(name).unwrap();
            prop_assert!(blobs.iter().any(|blob| *blob.digest() == digest));
        }
    }

    #[test]
    fn nothing_is_lost_to_a_limit(data in data(), limits in limits()) {
        let (kept, blobs) = captured(limits, &data);
        let mut everything = kept.to_line();
        for blob in &blobs {
            prop_assert_eq!(blob.digest(), &BlobDigest::of(blob.text().as_ref().as_bytes()));
            everything.push_str(blob.text().as_ref());
        }
        walk(&data, 0, &mut |value, _| {
            let found = match value {
                // The blob of a string holds the string itself; other blobs
                // hold JSON.
                Json::String(text) => everything.contains(text.as_ref())
                    || everything.contains(&value.to_line()),
                Json::Number(number) => everything.contains(number.as_text()),
                _ => true,
            };
            assert!(found, "lost {}", value.to_line());
        });
    }

    #[test]
    fn a_preview_is_the_start_of_its_string(
        text in "[aeiou äö😀]{11,60}",
        preview_characters in 0_usize..80,
    ) {
        let limits = Limits { text_units: 10, preview_characters, ..Limits::standard() };
        let mut data = Object::new();
        data.push("m", text.clone());
        let (kept, blobs) = captured(limits, &Json::Object(data));
        let marker = kept.get("m").unwrap();
        let expected: String = text.chars().take(preview_characters).collect();
        prop_assert_eq!(marker.get("preview").and_then(Json::as_str), Some(expected.as_str()));
        let units = text.encode_utf16().count() as u64;
        prop_assert_eq!(marker.get("originalChars").and_then(Json::as_u64), Some(units));
        prop_assert_eq!(blobs[0].text().as_ref(), &text);
    }

    #[test]
    fn a_line_has_its_stated_length_and_its_number(
        sequence in 1..u64::MAX,
        source_sequence in 0..u64::MAX,
        before in 0..u64::MAX,
    ) {
        let context = RunContext::new(SessionId::parse("session").unwrap());
        let capture = Capture::new(redactor(), Limits::standard(), &context);
        let event = Event::new(EventKind::SessionStarted, None);
        let pending = capture.prepare(event, UnixMillis::EPOCH).encode(sequence).unwrap();
        let mut line = String::new();
        pending.write(source_sequence, &mut line);
        let digits = source_sequence.to_string().len();
        prop_assert_eq!(line.len(), pending.bytes_without_number() + digits + 1);
        let believed = |number: u64| is_credible_sequence(number, before).then_some(number);
        let expected = believed(source_sequence).or_else(|| believed(sequence));
        prop_assert_eq!(source_sequence_of(line.as_bytes(), before), expected);
    }

    #[test]
    fn a_blob_name_is_safe_in_a_path(name in "[0-9a-fA-F./]{60,66}", content in any::<Vec<u8>>()) {
        let is_plain = name.len() == 64
            && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        prop_assert_eq!(BlobDigest::parse(&name).is_some(), is_plain);
        let digest = BlobDigest::of(&content);
        prop_assert_eq!(BlobDigest::parse(digest.as_str()), Some(digest));
    }
}
