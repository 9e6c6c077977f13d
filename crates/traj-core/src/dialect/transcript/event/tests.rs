//! Tests of `event`: laws, formats and corner cases.

use super::{EventFrame, TranscriptEvents};
use crate::json::Json;
use crate::redaction::RedactedText;
use crate::redaction::{MarkerKey, RedactionPolicy, RedactionReport, Redactor};
use crate::timestamp::UnixMillis;

fn lines_of(events: TranscriptEvents, seq: u64, source_seq: u64) -> Vec<String> {
    let mut numbers = RedactedText::new();
    TranscriptEvents::push_numbers(&mut numbers, seq, source_seq);
    let numbers = numbers.finish().into_inner();
    let (text, parts) = events.into_parts();
    let mut rest = text.into_inner();
    let lines = parts.into_iter().map(|parts| {
        let behind = rest.split_off(parts.head + parts.tail);
        let mut line = std::mem::replace(&mut rest, behind);
        line.insert_str(parts.head, &numbers);
        line
    });
    lines.collect()
}

/// The events' types and data, one per line.
fn data_of(entry: &str) -> String {
    let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
    let mut report = RedactionReport::default();
    let frame = EventFrame::new(&redactor, &mut report, "s", None, "/w");
    let entry = redactor.json(Json::parse(entry).unwrap(), &mut report);
    let mut lines = String::new();
    let mut events = TranscriptEvents::new();
    events.add_entry(&frame, entry.view(), UnixMillis::EPOCH);
    for line in lines_of(events, 9, 1) {
        let event = Json::parse(&line).unwrap();
        event.get("type").unwrap().write_compact(&mut lines);
        lines.push(' ');
        event.get("data").unwrap().write_compact(&mut lines);
        lines.push('\n');
    }
    lines
}

#[test]
fn an_event_has_the_envelope_of_the_schema() {
    let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
    let mut report = RedactionReport::default();
    let frame = EventFrame::new(&redactor, &mut report, "s1", Some("agent:main:main"), "work");
    let entry = Json::parse(r#"{"type":"label","id":"l","parentId":null,"targetId":"a"}"#).unwrap();
    let entry = redactor.json(entry, &mut report);
    let mut events = TranscriptEvents::new();
    events.add_entry(&frame, entry.view(), UnixMillis::EPOCH);
    insta::assert_snapshot!(
        lines_of(events, 12, 4)[0],
        @r#"{"traceSchema":"openclaw-trajectory","schemaVersion":1,"traceId":"s1","source":"transcript","type":"session.label","ts":"1970-01-01T00:00:00.000Z","seq":12,"sourceSeq":4,"sessionId":"s1","sessionKey":"agent:main:main","workspaceDir":"work","entryId":"l","parentEntryId":null,"data":{"targetId":"a"}}"#
    );
}

#[test]
fn messages_are_named_after_their_role() {
    insta::assert_snapshot!(
        [
            r#"{"type":"message","id":"a","message":{"role":"user","content":"hi"}}"#,
            r#"{"type":"message","id":"a","message":{"role":"toolResult","toolCallId":"c"}}"#,
            r#"{"type":"message","id":"a","message":{"role":"bashExecution"}}"#,
        ]
        .map(data_of)
        .concat(),
        @r#"
    "user.message" {"message":{"role":"user","content":"hi"}}
    "tool.result" {"message":{"role":"toolResult","toolCallId":"c"}}
    "message.bashExecution" {"message":{"role":"bashExecution"}}
    "#
    );
}

#[test]
fn every_spelling_of_a_tool_call_is_one() {
    let entry = r#"{"type":"message","id":"a","message":{"role":"assistant","content":[
        {"type":"toolCall","id":"c1","name":"read","arguments":{"x":1}},
        {"type":"tool_use","id":"c2","input":{"y":2}},
        {"type":" FUNCTION_CALL ","arguments":null,"input":null,"parameters":null},
        {"type":"toolcall","id":7,"arguments":0},
        {"type":"text","text":"t"},null,"toolCall"]}}"#;
    let calls: Vec<String> = data_of(entry).lines().skip(1).map(str::to_owned).collect();
    insta::assert_snapshot!(calls.join("\n"), @r#"
    "tool.call" {"toolCallId":"c1","name":"read","arguments":{"x":1},"assistantEntryId":"a","blockIndex":0}
    "tool.call" {"toolCallId":"c2","arguments":{"y":2},"assistantEntryId":"a","blockIndex":1}
    "tool.call" {"arguments":null,"assistantEntryId":"a","blockIndex":2}
    "tool.call" {"arguments":0,"assistantEntryId":"a","blockIndex":3}
    "#);
}

#[test]
fn other_entries_keep_their_members_in_order() {
    insta::assert_snapshot!(
        [
            r#"{"type":"compaction","tokensBefore":3,"summary":"s","fromHook":null}"#,
            r#"{"type":"branch_summary","fromId":"root","details":null,"fromHook":true}"#,
            r#"{"type":"custom_message","display":true,"customType":"n","content":"c"}"#,
            r#"{"type":"label","targetId":"a"}"#,
            r#"{"type":"reset","reason":"new topic","firstKeptEntryId":"k"}"#,
            r#"{"type":"mystery","payload":1}"#,
        ]
        .map(data_of)
        .concat(),
        @r#"
    "session.compaction" {"summary":"s","tokensBefore":3,"fromHook":false}
    "session.branch_summary" {"fromId":"root","details":null,"fromHook":true}
    "session.custom_message" {"customType":"n","content":"c","display":true}
    "session.label" {"targetId":"a"}
    "session.reset" {"reason":"new topic","firstKeptEntryId":"k"}
    "#
    );
}
