//! `TRAJ_READ_LINE_BYTES`: the longest line that commands read as a whole.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use traj_tests::rows::rollout_row;
use traj_tests::sidecar::Place;
use traj_tests::traj_binary::traj_command;

use crate::recorder::record_command::{record, result, run};

const LIMIT: (&str, &str) = ("TRAJ_READ_LINE_BYTES", "400");

/// A rollout whose second of three prompts has more bytes than the limit.
fn rollout() -> String {
    let row =
        |kind: &str, payload: Value| rollout_row(kind, "2026-06-01T10:00:00Z", payload).line();
    let prompt = |text: &str| row("event_msg", json!({"type": "user_message", "message": text}));
    let header = row("session_meta", json!({"id": "s", "cli_version": "0.169.0"}));
    [header, prompt("hi"), prompt(&"x".repeat(1_000)), prompt("bye")].concat()
}

fn traj(home: &Path, arguments: &[&str], is_limited: bool) -> std::process::Output {
    let mut command = traj_command(home);
    run(command.args(arguments).envs(is_limited.then_some(LIMIT)), b"")
}

#[test]
fn a_recorder_reports_lines_above_the_limit() {
    let place = Place::new();
    let event = |text: &str| format!("{}\n", json!({"type": "test.event", "data": {"text": text}}));
    let input = [event("a"), event(&"x".repeat(1_000)), event("b")].concat();
    let output = record(&place, &["--json"], &[LIMIT], input.as_bytes());
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let report = result(&output);
    assert_eq!(report["writtenEvents"], 2);
    assert_eq!(report["invalid"], json!([{"line": 2, "reason": "longer than 400 bytes"}]));
}

#[test]
fn redaction_leaves_out_lines_above_the_limit() {
    let place = Place::new();
    let mut command = traj_command(place.path());
    command.args(["redact", "--jsonl", "--ephemeral-key"]).envs([LIMIT]);
    let input = format!("[1]\n{:?}\r\n[2]", "x".repeat(1_000));
    let output = run(&mut command, input.as_bytes());
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text, "[1]\n\"<omitted: line too long>\"\n[2]\n");
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn a_scan_looks_at_lines_up_to_the_limit() {
    let place = Place::new();
    let secret = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let line = json!({"pad": "x".repeat(1_000), "token": secret});
    fs::write(place.path().join("f.jsonl"), format!("{line}\n")).unwrap();
    let code = |is_limited| traj(place.path(), &["scan", "f.jsonl"], is_limited).status.code();
    assert_eq!((code(false), code(true)), (Some(3), Some(0)));
}

#[test]
fn a_repair_refuses_a_file_with_a_line_above_the_limit() {
    let place = Place::new();
    fs::write(place.path().join("s.jsonl"), rollout()).unwrap();
    let repair = |is_limited| traj(place.path(), &["repair", "s.jsonl"], is_limited);
    assert_eq!(repair(false).status.code(), Some(0));
    let output = repair(true);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let message = String::from_utf8_lossy(&output.stderr);
    let bytes = rollout().lines().nth(2).unwrap().len();
    let reason = format!("line 3 has {bytes} bytes; at most 400 are read");
    assert!(message.contains(&reason), "{message}");
}

#[test]
fn sessions_pass_over_rows_above_the_limit() {
    let place = Place::new();
    fs::write(place.path().join("s.jsonl"), rollout()).unwrap();
    let turns = |is_limited| {
        let output = traj(place.path(), &["sessions", "--json", "."], is_limited);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        document["result"]["sessions"][0]["turns"].clone()
    };
    assert_eq!((turns(false), turns(true)), (json!(3), json!(2)));
}
