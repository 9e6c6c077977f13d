//! Trims on whole sessions, with the in-memory adapters.

use proptest::prelude::*;

use super::*;
use crate::json::Json;
use crate::memory::{MemoryBlobs, MemoryLog, MemorySession};
use crate::port::{BlobFolder as _, LineEdit as _, RewriteMode, SessionRewriter as _};
use crate::timestamp::UnixMillis;

const HEADER: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-06-01T10:00:00.000Z","cwd":"/ws"}"#;

fn result(id: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"e{id}","parentId":null,"timestamp":"2026-06-01T10:00:01.000Z","message":{{"role":"toolResult","toolCallId":"{id}","toolName":"read","content":[{{"type":"text","text":"{text}"}}],"isError":false}}}}"#
    )
}

fn call(id: &str, name: &str) -> String {
    format!(
        r#"{{"type":"message","id":"c{id}","message":{{"role":"assistant","content":[{{"type":"toolCall","id":"{id}","name":"{name}","arguments":{{"p":1}}}},{{"type":"toolCall","id":"{id}","name":"{name}","arguments":{{"p":1}}}}]}}}}"#
    )
}

fn item(target: &str, replacement: &str, own: &str) -> TrimItem {
    TrimItem::parse(target, Some(replacement), Some(own)).unwrap()
}

fn at(millis: i64) -> UnixMillis {
    UnixMillis::new(millis).unwrap()
}

fn ports(session: &MemorySession) -> TrimPorts<'_> {
    TrimPorts { session, sidecar: None, blobs: None }
}

fn text_of(session: &MemorySession) -> String {
    String::from_utf8(session.read().unwrap()).unwrap()
}

fn request<'a>(
    items: &'a [TrimItem],
    queue: Option<&'a dyn crate::port::LineLog>,
) -> DrainRequest<'a> {
    DrainRequest { session_file: "s1.jsonl", items, queue, mode: RewriteMode::Commit }
}

fn trimmed(lines: &[String], items: &[TrimItem]) -> (String, DrainReport) {
    let session = MemorySession::new(lines.join("\n").as_bytes());
    let report = drain(&ports(&session), request(items, None), None);
    (text_of(&session), report.unwrap().unwrap())
}

#[test]
fn a_result_and_the_call_itself_are_shortened() {
    let lines = [HEADER.to_owned(), result("c1", "long long text"), call("d1", TOOL_NAME)];
    let (text, report) = trimmed(&lines, &[item("c1", "short é", "d1")]);
    let expected = [
        HEADER.to_owned(),
        result("c1", "[trimmed by self] short é"),
        call("d1", TOOL_NAME).replacen(
            r#"{"p":1}"#,
            r#"{"tool_call_id":"c1","_self_compacted":true}"#,
            1,
        ),
    ];
    assert_eq!(text, expected.join("\n"));
    insta::assert_snapshot!(report.to_json().to_line(), @r#"{"session_file":"s1.jsonl","applied":1,"skipped":0,"trimmed_bytes":-12,"self_compacted":1,"errors":[],"bytes_before":529,"bytes_after":578,"merged_bytes":0,"held_open":false,"sidecar_events":0,"sidecar_trimmed_bytes":0,"removed_blobs":0}"#);
}

#[test]
fn only_the_first_of_several_rows_is_trimmed_and_the_last_item_counts() {
    let lines = [result("c1", "first"), result("c1", "second copy stays"), call("d1", "read")];
    let (text, report) = trimmed(&lines, &[item("c1", "one", "d1"), item("c1", "two", "d2")]);
    assert!(text.contains("[trimmed by self] two") && !text.contains("[trimmed by self] one"));
    assert!(text.contains("second copy stays"));
    assert_eq!((report.session.applied, report.session.self_compacted), (1, 1));
    assert_eq!(
        report.session.errors,
        ["self tool_use d2 not found in session (cannot self-compact)"]
    );
}

#[test]
fn results_without_text_are_reported() {
    let lines = [
        r#"{"type":"message","message":{"role":"toolResult","toolCallId":"c1","content":[]}}"#,
        r#"{"type":"message","message":{"role":"toolResult","toolCallId":"c2","content":"string"}}"#,
        r#"{"type":"message","message":{"role":"toolResult","toolCallId":"c3","content":[{"type":"image","data":"x"}]}}"#,
    ];
    let items: Vec<TrimItem> = ["c1", "c2", "c3", "c4"]
        .iter()
        .map(|id| TrimItem::parse(id, None, None).unwrap())
        .collect();
    let lines = lines.map(str::to_owned);
    let (text, report) = trimmed(&lines, &items);
    assert_eq!(text, lines.join("\n"));
    assert_eq!((report.session.applied, report.session.skipped), (0, 4));
    insta::assert_debug_snapshot!(report.session.errors, @r#"
    [
        "toolResult c1 has no content[] to trim",
        "toolResult c2 has no content[] to trim",
        "toolResult c3 has no text blocks",
        "toolResult c4 not found in session",
    ]
    "#);
}

#[test]
fn every_shape_of_call_and_result_is_found() {
    let rows = [
        r#"{"type":"message","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c\u0031","content":"old text"}]}}"#,
        r#"{ "type": "message", "message": { "role": "toolResult", "toolCall\u0049d": "a\/b\"", "content": [ { "type": "text", "text": "old text" } ] } }"#,
        r#"{"type":"message","message":{"role":"assistant","content":[{"type":"tool_use","id":"d1","name":"dynamic-trim","input":{"replacement":"new"}}]}}"#,
    ];
    let (text, report) =
        trimmed(&rows.map(str::to_owned), &[item("c1", "new", "d1"), item("a/b\"", "new", "d1")]);
    assert!(!text.contains("old text"), "{text}");
    assert!(text.contains(r#""input":{"tool_call_id":"a/b\"","_self_compacted":true}"#), "{text}");
    assert_eq!((report.session.applied, report.session.errors.len()), (2, 0));
}

#[test]
fn untouched_bytes_stay_whatever_they_are() {
    let odd = b"{\"n\": 1.0, \"big\": 12345678901234567890}\r\n{garbage c1\n\xff\xfe\n\n";
    let mut bytes = odd.to_vec();
    bytes.extend_from_slice(result("c1", "x").as_bytes());
    let session = MemorySession::new(&bytes);
    drain(&ports(&session), request(&[item("c1", "r", "d")], None), None).unwrap();
    assert!(session.read().unwrap().starts_with(odd));
}

#[test]
fn the_sidecar_and_its_blobs_hold_no_copy() {
    let blobs = MemoryBlobs::default();
    let whole = blobs.store("the secret listing");
    let nested = blobs.store(r#"[{"role":"toolResult","toolCallId":"c1","content":[{"type":"text","text":"the secret listing"}]}]"#);
    let other = blobs.store("something else");
    let event = |data: &str| format!(r#"{{"type":"x","data":{data}}}"#);
    let marker = |blob: &crate::capture::BlobDigest| {
        format!(r#"{{"truncated":true,"preview":"the secret","blob":"{blob}"}}"#)
    };
    let sidecar = MemorySession::new(
        [
            event(r#"{"toolCallId":"c1","name":"read","success":true,"contentItems":[{"type":"inputText","text":"the secret listing"}]}"#),
            event(&format!(r#"{{"toolCallId":"c1","result":{}}}"#, marker(&whole))),
            event(&format!(r#"{{"messages":{}}}"#, marker(&nested))),
            event(&format!(r#"{{"messages":[{{"role":"toolResult","toolCallId":"c1","content":[{{"type":"text","text":"the secret listing"}}]}}],"more":{}}}"#, marker(&other))),
        ]
        .join("\n")
        .as_bytes(),
    );
    let session = MemorySession::new(result("c1", "the secret listing").as_bytes());
    let ports = TrimPorts { session: &session, sidecar: Some(&sidecar), blobs: Some(&blobs) };
    let journal = MemoryLog::default();
    let writer = JournalWriter::new(&journal, at(1), at(100));
    let before = (session.read(), sidecar.read());
    let report =
        drain(&ports, request(&[item("c1", "gone", "d")], None), Some(writer)).unwrap().unwrap();
    assert_eq!((report.sidecar_rewrite.changed_lines, report.removed_blobs), (4, 2));
    assert!(!text_of(&sidecar).replace(&marker(&other), "").contains("secret"));
    assert!(!text_of(&session).contains("secret"));
    for digest in blobs.list().unwrap() {
        let content = String::from_utf8(blobs.read(&digest).unwrap().unwrap()).unwrap();
        assert!(!content.contains("secret"), "{content}");
    }
    let back = undo(&ports, &journal, UndoSelection::Last, at(50), RewriteMode::Commit).unwrap();
    assert_eq!((back.session_lines, back.sidecar_lines, back.blobs, back.not_found), (1, 4, 2, 0));
    assert_eq!((session.read(), sidecar.read()), before);
    assert!(blobs.read(&whole).unwrap().is_some() && blobs.read(&nested).unwrap().is_some());
    assert!(journal.lines().is_empty());
}

#[test]
fn a_rollout_is_trimmed_and_a_numbered_one_keeps_its_offsets() {
    let output = |ordinal: &str| {
        format!(
            r#"{{"timestamp":"2026-06-01T10:00:00Z",{ordinal}"type":"response_item","payload":{{"type":"function_call_output","call_id":"c1","output":"a rather long listing of many files"}}}}"#
        )
    };
    let own = r#"{"timestamp":"2026-06-01T10:00:00Z","type":"response_item","payload":{"type":"function_call","call_id":"d1","name":"dynamic-trim","arguments":"{\"replacement\":\"new\"}"}}"#;
    let (text, report) = trimmed(&[output(""), own.to_owned()], &[item("c1", "new", "d1")]);
    assert_eq!((report.session.applied, report.session.self_compacted), (1, 1));
    assert!(text.contains(r#""output":"[trimmed by self] new""#));
    assert!(text.contains(r#""arguments":"{\"tool_call_id\":\"c1\",\"_self_compacted\":true}""#));

    let numbered = output(r#""ordinal":7,"#);
    let (text, report) = trimmed(std::slice::from_ref(&numbered), &[item("c1", "new", "d1")]);
    assert_eq!((text.len(), report.session.applied), (numbered.len(), 1));
    assert!(text.ends_with("  ") && Json::parse(&text).is_ok());
    let (text, report) =
        trimmed(std::slice::from_ref(&numbered), &[item("c1", &"long".repeat(20), "d1")]);
    assert_eq!((text, report.session.applied, report.session.skipped), (numbered, 0, 1));
}

#[test]
fn the_queue_survives_until_its_work_is_done() {
    let session =
        MemorySession::new([result("c1", "text"), call("d1", TOOL_NAME)].join("\n").as_bytes());
    let queue = MemoryLog::new(&["not an entry"]);
    let input = Json::parse(r#"{"tool_call_id":"c1","replacement":"r"}"#).unwrap();
    let reply = enqueue(&session, &queue, &input, "d1", at(0)).unwrap();
    assert_eq!(reply.to_json().get("status").and_then(Json::as_str), Some("queued"));
    // A failed drain leaves the queue unchanged.
    let journal = MemoryLog::default();
    journal.fail_appends();
    let writer = JournalWriter::new(&journal, at(1), at(2));
    drain(&ports(&session), request(&[], Some(&queue)), Some(writer)).unwrap_err();
    assert_eq!(queue.lines().len(), 2);
    assert!(text_of(&session).contains("\"text\":\"text\""));
    let report = drain(&ports(&session), request(&[], Some(&queue)), None);
    let report = report.unwrap().unwrap();
    assert_eq!((report.session.applied, report.session.self_compacted), (1, 1));
    assert_eq!(report.session.errors, ["a queue entry is damaged"]);
    assert!(queue.lines().is_empty());
    assert!(drain(&ports(&session), request(&[], Some(&queue)), None).unwrap().is_none());
}

#[test]
fn queue_errors_tell_the_agent_what_to_pass() {
    let session = MemorySession::new(result("c1", "text").as_bytes());
    let queue = MemoryLog::default();
    let ask = |input: &str, own: &str| {
        let input = Json::parse(input).unwrap();
        enqueue(&session, &queue, &input, own, at(0)).unwrap_err().to_string()
    };
    assert_eq!(ask("{}", "d"), "the parameter tool_call_id is missing");
    let unnamed = ask(r#"{"tool_call_id":"c1"}"#, "");
    assert!(unnamed.starts_with("the host did not pass the id of the dynamic-trim call"));
    let unknown = ask(r#"{"tool_call_id":"c2"}"#, "d");
    assert!(unknown.starts_with("no result in this session has the tool_call_id \"c2\""));
    assert!(queue.lines().is_empty());
}

#[test]
fn large_old_results_and_repeated_images_are_trimmed_by_rule() {
    let user = r#"{"type":"message","message":{"role":"user","content":[{"type":"text","text":"go on"}]}}"#;
    let image = |data: &str| {
        format!(
            r#"{{"type":"message","message":{{"role":"user","content":[{{"type":"image","mimeType":"image/png","data":"{data}"}}]}}}}"#
        )
    };
    let big = "x".repeat(100);
    let lines = [
        user.to_owned(),
        result("c1", &big),
        result("c2", "above the bar, but shorter than its note"),
        image("AAAA"),
        user.to_owned(),
        image("AAAA"),
        result("c3", &big),
    ];
    let session = MemorySession::new(lines.join("\n").as_bytes());
    let mut survey = AutoSurvey::default();
    session.rewrite(&mut survey, RewriteMode::Preview).unwrap();
    let policy = AutoPolicy::new(Age::Turns(1), 30);
    let mut edit = AutoEdit::new(policy, &survey);
    session.rewrite(&mut edit, RewriteMode::Commit).unwrap();
    let (items, tally, totals) = edit.finish();
    assert_eq!((items.len(), tally.applied, totals.images, totals.image_bytes), (1, 1, 1, 4));
    assert_eq!(totals.tools["read"], (1, 100));
    let text = text_of(&session);
    let after: Vec<&str> = text.lines().collect();
    assert!(after[1].contains("[trimmed by self] 100 bytes of read output"));
    assert!(after[3].contains("[trimmed by self] image/png"));
    for kept in [0, 2, 4, 5, 6] {
        assert_eq!(after[kept], lines[kept]);
    }
}

proptest! {
    #[test]
    fn undoing_gives_every_byte_back(
        texts in proptest::collection::vec("[a-z \u{e9}]{0,40}", 1..6),
        wishes in proptest::collection::vec((0_usize..6, "[a-z]{0,8}"), 1..6),
    ) {
        let lines: Vec<String> =
            texts.iter().enumerate().map(|(index, text)| result(&format!("c{index}"), text)).collect();
        let before = lines.join("\n").into_bytes();
        let session = MemorySession::new(&before);
        let journal = MemoryLog::default();
        for (time, (target, replacement)) in wishes.iter().enumerate() {
            let wish = item(&format!("c{target}"), replacement, "d");
            let writer = JournalWriter::new(&journal, at(time as i64), at(1_000));
            drain(&ports(&session), request(&[wish], None), Some(writer)).unwrap();
        }
        undo(&ports(&session), &journal, UndoSelection::All, at(500), RewriteMode::Commit).unwrap();
        prop_assert_eq!(session.read().unwrap(), before);
        prop_assert!(journal.lines().is_empty());
    }

    #[test]
    fn only_the_selected_trim_is_undone(
        texts in proptest::collection::vec("[a-z \u{e9}]{1,40}", 1..6),
        chosen in 0_usize..6,
    ) {
        let chosen = chosen % texts.len();
        let lines: Vec<String> =
            texts.iter().enumerate().map(|(index, text)| result(&format!("c{index}"), text)).collect();
        let trims = |session: &MemorySession, journal: &MemoryLog, left_out: Option<usize>| {
            for index in (0..texts.len()).filter(|index| Some(*index) != left_out) {
                let writer = JournalWriter::new(journal, at(index as i64), at(1_000));
                let wish = item(&format!("c{index}"), "short", "d");
                drain(&ports(session), request(&[wish], None), Some(writer)).unwrap();
            }
        };
        let (session, journal) = (MemorySession::new(lines.join("\n").as_bytes()), MemoryLog::default());
        trims(&session, &journal, None);
        let listed = undoable(&journal, at(500)).unwrap();
        prop_assert_eq!(listed.len(), texts.len());
        prop_assert_eq!(listed[chosen].bytes, lines[chosen].len() as u64);
        let selection = UndoSelection::MadeAt(at(chosen as i64));
        let report = undo(&ports(&session), &journal, selection, at(500), RewriteMode::Commit).unwrap();
        prop_assert_eq!((report.session_lines, report.not_found), (1, 0));
        let (without, other) = (MemorySession::new(lines.join("\n").as_bytes()), MemoryLog::default());
        trims(&without, &other, Some(chosen));
        prop_assert_eq!(session.read().unwrap(), without.read().unwrap());
        prop_assert_eq!(journal.lines(), other.lines());
        prop_assert!(undoable(&journal, at(1_001)).unwrap().is_empty());
    }

    #[test]
    fn trimming_twice_is_trimming_once(text in "[a-z]{1,30}", replacement in "[a-z]{0,10}") {
        let mut edit = TrimEdit::new(&[item("c1", &replacement, "d")]);
        let crate::port::LineVerdict::Replace(once) = edit.line(result("c1", &text).as_bytes()) else {
            return Err(TestCaseError::fail("not trimmed"));
        };
        let mut again = TrimEdit::new(&[item("c1", &replacement, "d")]);
        prop_assert_eq!(again.line(&once), crate::port::LineVerdict::Keep);
        prop_assert_eq!(again.finish().applied, 1);
    }
}
