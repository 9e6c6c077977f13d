//! Tests of `capture`: properties, formats and edge cases.

use proptest::prelude::*;

use super::*;
use crate::event::{EventKind, RuntimeRow};
use crate::id::SessionId;
use crate::redaction::{MarkerKey, RedactionPolicy};

fn capture(limits: Limits) -> Capture {
    let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
    let mut context = RunContext::new(SessionId::parse("session-1").unwrap());
    context.session_key = Some("agent:main".into());
    context.model_id = Some("model-x".into());
    Capture::new(redactor, limits, &context)
}

fn data(text: &str) -> Option<Object<'static>> {
    match Json::parse(text).unwrap().into_owned() {
        Json::Object(object) => Some(object),
        _ => None,
    }
}

fn line_of(limits: Limits, text: &str) -> (String, Vec<Blob>) {
    let capture = capture(limits);
    let event = Event::new(EventKind::parse("test.kind"), data(text));
    let mut prepared = capture.prepare(event, UnixMillis::EPOCH);
    let pending = prepared.encode(3).unwrap();
    let mut line = String::new();
    pending.write(9, &mut line);
    (line, prepared.blobs().to_vec())
}

#[test]
fn a_line_has_its_members_in_order() {
    let (line, blobs) = line_of(Limits::standard(), r#"{"b":1.0,"a":[true,null]}"#);
    insta::assert_snapshot!(line, @r#"{"traceSchema":"openclaw-trajectory","schemaVersion":1,"traceId":"session-1","source":"runtime","type":"test.kind","ts":"1970-01-01T00:00:00.000Z","seq":3,"sourceSeq":9,"sessionId":"session-1","sessionKey":"agent:main","modelId":"model-x","data":{"b":1.0,"a":[true,null]}}"#);
    assert!(blobs.is_empty());
    assert!(RuntimeRow::parse(line.trim_end()).is_ok());
}

#[test]
fn data_nested_a_million_levels_deep_is_recorded() {
    let deep = |levels: usize| {
        (0..levels).fold(Json::from("x"), |inside, level| match level % 2 {
            0 => Json::Array(vec![inside]),
            _ => Json::Object(Object::from_iter([("a", inside)])),
        })
    };
    let capture = capture(Limits::standard());
    let data = Object::from_iter([("deep", deep(1_000_000)), ("flat", Json::from(1))]);
    let event = Event::new(EventKind::ToolResult, Some(data)).with("later", deep(1_000_000));
    let mut prepared = capture.prepare(event, UnixMillis::EPOCH);
    let mut line = String::new();
    prepared.encode(1).unwrap().write(1, &mut line);
    assert!(line.contains("trajectory-depth-limit") && line.contains(r#""flat":1"#));
    assert!(RuntimeRow::parse(line.trim_end()).is_ok());
}

#[test]
fn earlier_events_do_not_change_later_lines() {
    let text = "the build machine greets everybody with Xk9vQ2mL7pRt4w in its log";
    let clean = format!(r#"{{"text":"{text}"}}"#);
    let telling = format!(r#"{{"text":"{text}","password":"Xk9vQ2mL7pRt4w"}}"#);
    let used = capture(Limits::standard());
    let line = |capture: &Capture, data_text: &str| {
        let event = Event::new(EventKind::ToolCall, data(data_text));
        let mut line = String::new();
        capture.prepare(event, UnixMillis::EPOCH).encode(1).unwrap().write(1, &mut line);
        line
    };
    for data_text in [&clean, &clean, &telling, &clean, &telling] {
        assert_eq!(line(&used, data_text), line(&capture(Limits::standard()), data_text));
    }
    assert!(!line(&used, &telling).contains("Xk9vQ2mL7pRt4w"));
}

#[test]
fn lines_of_a_block_are_those_of_single_events() {
    let limits = Limits { text_units: 40, line_bytes: 600, ..Limits::standard() };
    let capture = capture(limits);
    let texts = ["short", "password=Xk9vQ2mL7pRt4w", &"long ".repeat(9), &"é".repeat(30)];
    let events = texts.iter().enumerate().map(|(number, text)| {
        let mut event =
            Event::new(EventKind::parse("test.kind"), None).with("text", (*text).to_owned());
        event.at = UnixMillis::new(number as i64 / 2);
        event
    });
    let events: Vec<Event> = events.chain([Event::new(EventKind::ToolCall, None)]).collect();
    let mut block = LineBlock::new(&capture, "what was there before".to_owned(), 2);
    for event in &events {
        block.add(event.clone(), UnixMillis::EPOCH);
        block.add_nothing();
    }
    let (_, captured) = block.finish();
    let captured: Vec<Captured<'_>> = captured.collect();
    assert_eq!(captured.len(), 2 * events.len());
    for (event, captured) in events.into_iter().zip(captured.into_iter().step_by(2)) {
        let (mut expected, mut line) = (String::new(), String::new());
        let mut prepared = capture.prepare(event, UnixMillis::EPOCH);
        prepared.encode(7).unwrap().write(9, &mut expected);
        match captured {
            Captured::Line(found) => {
                assert!(prepared.blobs().is_empty());
                found.numbered(7).write(9, &mut line);
            }
            Captured::Apart(mut apart) => {
                apart.encode(7).unwrap().write(9, &mut line);
                assert_eq!(apart.blobs(), prepared.blobs());
            }
            Captured::Nothing => unreachable!("every event was added"),
        }
        assert_eq!(line, expected);
    }
}

#[test]
fn a_long_string_becomes_a_marker_and_a_blob() {
    let limits = Limits { text_units: 10, preview_characters: 4, ..Limits::standard() };
    let (line, blobs) = line_of(limits, r#"{"prompt":"höher und höher"}"#);
    let (_, data) = line.trim_end().split_once("\"data\":").unwrap();
    insta::assert_snapshot!(data, @r#"{"prompt":{"truncated":true,"reason":"trajectory-field-size-limit","originalChars":15,"limitChars":10,"originalBytes":17,"preview":"höhe","blob":"a918254b19d1b8f2c9ab50914c0d9c30fbd3ba5b8ff7cedec9e02469195c947a"}}}"#);
    assert_eq!(blobs[0].text().as_ref(), "höher und höher");
}

#[test]
fn values_cut_from_containers_are_in_a_blob() {
    let limits = Limits { array_items: 2, object_members: 2, depth: 2, ..Limits::standard() };
    let (line, blobs) = line_of(limits, r#"{"list":[1,2,3],"deep":{"a":{"b":1}},"more":1}"#);
    let texts: Vec<&str> = blobs.iter().map(|blob| blob.text().as_ref().as_str()).collect();
    assert_eq!(
        texts,
        [r#"{"list":[1,2,3],"deep":{"a":{"b":1}},"more":1}"#, "[1,2,3]", r#"{"b":1}"#]
    );
    for reason in ["array-size", "object-size", "depth"] {
        assert!(line.contains(&format!("trajectory-{reason}-limit")), "{reason}");
    }
}

#[test]
fn a_long_line_keeps_its_frame_and_stores_its_data() {
    let limits = Limits { line_bytes: 600, ..Limits::standard() };
    let text = format!(r#"{{"text":"{}"}}"#, "x".repeat(500));
    let (line, blobs) = line_of(limits, &text);
    assert!(line.len() <= 601 && line.contains("trajectory-event-size-limit"));
    assert_eq!(blobs[0].text().as_ref(), &text);
}

#[test]
fn an_event_that_cannot_fit_is_refused() {
    let limits = Limits { line_bytes: 100, ..Limits::standard() };
    let capture = capture(limits);
    let event = Event::new(EventKind::SessionStarted, None);
    let error = capture.prepare(event, UnixMillis::EPOCH).encode(1).unwrap_err();
    assert!(error.bytes > 100 && error.limit == 100);
}

#[test]
fn a_blob_that_was_not_stored_is_marked() {
    let limits = Limits { text_units: 4, ..Limits::standard() };
    let capture = capture(limits);
    let event = Event::new(EventKind::SessionStarted, data(r#"{"a":[{"b":"longer"}]}"#));
    let mut prepared = capture.prepare(event, UnixMillis::EPOCH);
    let digest = prepared.blobs()[0].digest().clone();
    prepared.omit_blob(&digest, OmittedBlob::Budget);
    let mut line = String::new();
    prepared.encode(1).unwrap().write(1, &mut line);
    assert!(line.contains(r#""blob":null,"blobOmitted":"trajectory-blob-budget""#));
    assert!(prepared.blobs().is_empty());
}

proptest! {
    #[test]
    fn lines_respect_the_limit_and_lose_nothing(
        texts in prop::collection::vec("[a-z😀 \"\\\\]{0,200}", 0..20),
        line_bytes in 480_usize..2_000,
        text_units in 1_usize..100,
    ) {
        let limits = Limits { line_bytes, text_units, array_items: 5, ..Limits::standard() };
        let capture = capture(limits);
        let mut object = Object::new();
        object.push("texts", texts.clone());
        let event = Event::new(EventKind::parse("x"), Some(object));
        let mut prepared = capture.prepare(event, UnixMillis::EPOCH);
        let mut line = String::new();
        prepared.encode(u64::MAX).unwrap().write(u64::MAX, &mut line);
        prop_assert!(line.len() <= line_bytes + 1);
        prop_assert!(RuntimeRow::parse(line.trim_end()).is_ok());
        let kept: String = std::iter::once(line)
            .chain(prepared.blobs().iter().map(|blob| blob.text().as_ref().clone()))
            .collect();
        for text in texts {
            let encoded = Json::from(text.clone()).to_line();
            prop_assert!(kept.contains(&text) || kept.contains(&encoded));
        }
    }
}
