//! Two files become one run.

use super::*;
use crate::memory::MemorySources;
use crate::port::Sources as _;
use crate::run::RunState;

fn read(transcript: Option<&str>, sidecar: Option<&str>) -> SessionRun {
    let sources = MemorySources::new();
    let open = |name: &str, content: Option<&str>| {
        content.map(|content| {
            sources.put(name, content);
            sources.open(name).unwrap()
        })
    };
    let (transcript, sidecar) = (open("s.jsonl", transcript), open("s.t", sidecar));
    let files = SessionFiles {
        transcript: transcript.as_deref(),
        sidecar: sidecar.as_deref(),
        session: "s",
        longest_row: limits::Reading::standard().session_line_bytes,
    };
    files.fold(Prices::shipped()).unwrap()
}

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-06-01T09:00:00Z","cwd":"/w"}"#;

fn entry(id: &str, parent: &str, second: u32, message: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-06-01T10:{:02}:{:02}Z","message":{message}}}"#,
        second / 60,
        second % 60,
    )
}

fn event(kind: &str, second: u32, session: &str, data: &str) -> String {
    format!(
        r#"{{"traceSchema":"openclaw-trajectory","schemaVersion":1,"source":"runtime","type":"{kind}","ts":"2026-06-01T10:{:02}:{:02}Z","seq":{second},"sessionId":"{session}","data":{data}}}"#,
        second / 60,
        second % 60,
    )
}

fn call(id: u32) -> String {
    format!(
        r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"c{id}","name":"shell","arguments":{{}}}}]}}"#
    )
}

fn result(id: u32, exit: u32, text: &str) -> String {
    format!(
        r#"{{"role":"toolResult","toolCallId":"c{id}","toolName":"shell","details":{{"exitCode":{exit}}},"content":[{{"type":"text","text":"{text}"}}]}}"#
    )
}

#[test]
fn a_call_that_both_files_state_counts_once() {
    let transcript =
        [HEADER.to_owned(), entry("a", "", 1, &call(1)), entry("b", "a", 5, &result(1, 3, "no"))];
    let sidecar = [
        event("session.started", 0, "s", "{}"),
        event("tool.call", 1, "s", r#"{"toolCallId":"c1","name":"shell","arguments":{}}"#),
        event("tool.result", 4, "s", r#"{"toolCallId":"c1","name":"shell","success":true}"#),
        event("session.started", 9, "other", "{}"),
        "{torn".to_owned(),
    ];
    let both = read(Some(&transcript.join("\n")), Some(&sidecar.join("\n")));
    assert_eq!((both.run.calls.calls, both.run.calls.failed), (1, 1));
    assert_eq!(both.run.status, Some(RunState::Open));
    assert_eq!((both.recorded, both.unread), (3, 1));
    assert_eq!(both.run.workspace.as_deref(), Some("/w"));
    // The header is an hour older, but nothing happened then.
    assert_eq!(both.run.started_at.unwrap().to_iso(), "2026-06-01T10:00:00.000Z");
    assert_eq!(both.run.ended_at.unwrap().to_iso(), "2026-06-01T10:00:05.000Z");
}

#[test]
fn entries_beside_the_active_branch_do_not_count() {
    let rows = [
        HEADER.to_owned(),
        entry("a", "", 1, r#"{"role":"user","content":"go"}"#),
        entry("b", "a", 2, &call(1)),
        entry("c", "b", 3, &result(1, 3, "no")),
        entry("d", "a", 4, &call(2)),
        entry("e", "d", 5, &result(2, 0, "yes")),
    ];
    let run = read(Some(&rows.join("\n")), None).run;
    assert_eq!((run.turns, run.calls.calls, run.calls.failed), (1, 1, 0));
    assert_eq!((run.branches, run.branch_entries), (1, 2));
    let line = read(Some(&rows[..4].join("\n")), None).run;
    assert_eq!((line.calls.calls, line.calls.failed), (1, 1));
}

#[test]
fn files_longer_than_a_block_are_merged_by_time() {
    let text = "word ".repeat(2_000);
    let mut transcript = vec![HEADER.to_owned()];
    let mut sidecar = vec![event("session.started", 0, "s", "{}")];
    let mut parent = String::new();
    let (mut calls, mut failed) = (0, 0);
    for number in 0..300 {
        let (exit, second) = (u32::from(number % 7 == 0), number * 4);
        let (one, other) = (format!("a{number}"), format!("b{number}"));
        transcript.push(entry(&one, &parent, second, &call(number)));
        transcript.push(entry(&other, &one, second + 2, &result(number, exit, &text)));
        parent = other;
        let id = format!(r#""toolCallId":"c{number}","name":"shell""#);
        sidecar.push(event("tool.call", second, "s", &format!("{{{id}}}")));
        sidecar.push(event("tool.result", second + 1, "s", &format!("{{{id},\"success\":true}}")));
        calls += 1;
        failed += u64::from(exit);
    }
    let (transcript, sidecar) = (transcript.join("\n"), sidecar.join("\n") + "\n");
    assert!(transcript.len() > 2 * 1024 * 1024);
    let both = read(Some(&transcript), Some(&sidecar));
    assert_eq!((both.run.calls.calls, both.run.calls.failed), (calls, failed));
    assert_eq!((both.recorded, both.unread), (601, 0));
    // The recorder's clock counts: one second per call.
    assert_eq!(both.run.calls.total_millis, 300_000);
    // As in a bundle, where a call is a separate event beside its message.
    assert_eq!(both.run.events, 601 + 600 + 300);
}

#[test]
fn files_of_unknown_dialect_state_nothing() {
    let read = read(Some("{\"a\":1}\n"), None);
    assert_eq!((read.dialect, read.run), (None, Run::default()));
}

#[test]
fn the_last_row_of_a_rollout_counts_without_its_line_end() {
    let rollout = r#"{"timestamp":"2026-06-01T10:00:00Z","type":"session_meta","payload":{"id":"s","cli_version":"1"}}
{"timestamp":"2026-06-01T10:00:02Z","type":"event_msg","payload":{"type":"user_message","message":"hi"}}"#;
    let read = read(Some(rollout), None);
    assert_eq!(read.dialect, Some(Dialect::CodexRollout));
    assert_eq!((read.run.agent.as_deref(), read.run.turns), (Some("codex"), 1));
}
