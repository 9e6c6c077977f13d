//! The media type that an object declares.

use super::sniffed;
use crate::json::{Json, Object};

/// Members that may contain the type.
const TYPES: &[&str] = &[
    "media_type",
    "mimeType",
    "mime_type",
    "mediaType",
    "contentType",
    "content_type",
    "format",
    "type",
];

/// Values that name only the kind of a medium.
const KINDS: &[&str] = &["image", "audio", "video", "input_image", "input_audio", "image_url"];

/// Values of `format` that name an audio format.
const SOUND_FORMATS: &[&str] = &["wav", "mp3", "flac", "opus", "pcm16", "ogg"];

/// Whether a member with this name may declare a media type.
pub(in crate::redaction) fn says_type(name: &str) -> bool {
    TYPES.contains(&name)
}

/// Whether a string may declare a media type; a quick check that rules out most.
pub(in crate::redaction) fn may_be_type(text: &str) -> bool {
    let first = text.trim_start().as_bytes().first().map(u8::to_ascii_lowercase);
    KINDS.iter().chain(SOUND_FORMATS).any(|kind| kind.as_bytes().first().copied() == first)
        || memchr::memchr(b'/', text.as_bytes()).is_some()
}

/// The media type of an object, as declared or, for a mere kind, by its bytes.
pub(super) fn declared_type(object: &Object<'_>) -> Option<String> {
    let text_of = |name: &str| object.get(name).and_then(Json::as_str);
    for name in TYPES {
        let Some(declared) = text_of(name) else {
            continue;
        };
        let lower = declared.trim().to_ascii_lowercase();
        let top = lower.split('/').next().unwrap_or_default();
        if lower.contains('/')
            && (matches!(top, "image" | "audio" | "video" | "font")
                || lower.starts_with("application/pdf")
                || lower.starts_with("application/octet-stream")
                || lower.starts_with("application/vnd.")
                || lower.starts_with("application/zip"))
        {
            return Some(lower);
        }
        if KINDS.contains(&lower.as_str()) {
            // Another member may have the full type.
            return Some(
                TYPES
                    .iter()
                    .filter_map(|name| text_of(name))
                    .find(|text| text.contains('/'))
                    .map_or_else(|| sniffed(object, &lower), str::to_owned),
            );
        }
        if *name == "format" && SOUND_FORMATS.contains(&lower.as_str()) {
            return Some(format!("audio/{lower}"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn says() -> impl Strategy<Value = String> {
        let words: Vec<&str> = KINDS.iter().chain(SOUND_FORMATS).copied().collect();
        let word = prop::sample::select(words).prop_map(str::to_owned);
        let full = "(image|audio|Video|font|application)/(png|pdf|zip|octet-stream|vnd.x)";
        let blanks = prop::sample::select(vec!["", " ", "\t"]);
        let text = prop_oneof![word, full, "[a-z/_]{0,12}"];
        (blanks.clone(), text, any::<bool>(), blanks).prop_map(|(before, text, upper, behind)| {
            let text = if upper { text.to_uppercase() } else { text };
            format!("{before}{text}{behind}")
        })
    }

    proptest! {
        /// The quick check rules out no declared type.
        #[test]
        fn every_declared_type_passes_the_quick_check(
            name in prop::sample::select(TYPES.to_vec()),
            text in says(),
        ) {
            let mut object = Object::new();
            object.push(name, text.as_str());
            if declared_type(&object).is_some() {
                prop_assert!(says_type(name) && may_be_type(&text));
            }
        }
    }
}
