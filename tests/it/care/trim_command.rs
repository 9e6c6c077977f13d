//! `traj trim` end to end: by call, by queue, by rule, undo, and files that must
//! be refused.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;
use traj_tests::rows;
use traj_tests::traj_binary::{masked, printed, traj_command};

const HEADER: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-06-01T10:00:00.000Z","cwd":"/ws"}"#;
const RESULT: &str = r#"{"type":"message","id":"b","parentId":"a","timestamp":"2026-06-01T10:00:02.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"a long listing of files"},{"type":"image","data":"x"}],"isError":false}}"#;
const CALL: &str = r#"{"type":"message","id":"c","parentId":"b","timestamp":"2026-06-01T10:00:03.000Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"d1","name":"dynamic-trim","input":{"tool_call_id":"c1","replacement":"nothing"}}]}}"#;
const EVENT: &str = r#"{"traceSchema":"openclaw-trajectory","schemaVersion":1,"traceId":"s1","source":"runtime","type":"tool.result","ts":"2026-06-01T10:00:02.000Z","seq":1,"sourceSeq":1,"sessionId":"s1","data":{"toolCallId":"c1","name":"read","success":true,"contentItems":[{"type":"inputText","text":"a long listing of files"}]}}"#;

fn session() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("s1.jsonl"), format!("{HEADER}\n{RESULT}\n{CALL}\n")).unwrap();
    fs::write(home.path().join("s1.trajectory.jsonl"), format!("{EVENT}\n")).unwrap();
    for name in ["s1.jsonl", "s1.trajectory.jsonl"] {
        fs::set_permissions(home.path().join(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    home
}

fn trim(home: &Path, arguments: &[&str]) -> Output {
    traj_command(home).args(["trim", "--session", "s1.jsonl"]).args(arguments).output().unwrap()
}

fn read(home: &Path, name: &str) -> String {
    fs::read_to_string(home.join(name)).unwrap()
}

#[test]
fn a_call_is_trimmed_everywhere_and_taken_back() {
    let home = session();
    let before = (read(home.path(), "s1.jsonl"), read(home.path(), "s1.trajectory.jsonl"));
    let call = ["--tool-call", "c1", "--replacement", "short", "--self-call", "d1"];
    let dry = trim(home.path(), &[&call[..], &["--dry-run"]].concat());
    assert!(dry.status.success());
    assert_eq!((read(home.path(), "s1.jsonl"), read(home.path(), "s1.trajectory.jsonl")), before);

    let output = trim(home.path(), &[&call[..], &["--json"]].concat());
    assert!(output.status.success(), "{output:?}");
    let document: Value = serde_json::from_str(&printed(&output)).unwrap();
    insta::assert_json_snapshot!(masked(
        document,
        &["/result/undoUntil", "/result/report/session_file"]
    ));
    let session = read(home.path(), "s1.jsonl");
    let lines: Vec<&str> = session.lines().collect();
    assert_eq!(lines[0], HEADER);
    assert_eq!(lines[1], RESULT.replace("a long listing of files", "[trimmed by self] short"));
    assert!(lines[2].contains(r#""input":{"tool_call_id":"c1","_self_compacted":true}"#));
    let sidecar = read(home.path(), "s1.trajectory.jsonl");
    assert_eq!(sidecar, EVENT.replace("a long listing of files", "[trimmed by self] short") + "\n");
    let journal = home.path().join("s1.trim-undo.jsonl");
    assert_eq!(fs::metadata(&journal).unwrap().permissions().mode() & 0o777, 0o600);

    let undone = trim(home.path(), &["--undo"]);
    assert!(undone.status.success(), "{undone:?}");
    assert_eq!((read(home.path(), "s1.jsonl"), read(home.path(), "s1.trajectory.jsonl")), before);
    assert!(!journal.exists());
    assert_eq!(trim(home.path(), &["--undo"]).status.code(), Some(1));
}

#[test]
fn the_trim_to_take_back_can_be_chosen() {
    let home = session();
    let second = RESULT.replace("\"c1\"", "\"c2\"").replace("a long listing", "another listing");
    let before = format!("{HEADER}\n{RESULT}\n{second}\n");
    fs::write(home.path().join("s1.jsonl"), &before).unwrap();
    assert!(trim(home.path(), &["--tool-call", "c1"]).status.success());
    assert!(trim(home.path(), &["--tool-call", "c2"]).status.success());
    let trimmed = read(home.path(), "s1.jsonl");

    let list = trim(home.path(), &["--undo", "--dry-run", "--json"]);
    let mut list: Value = serde_json::from_str(&printed(&list)).unwrap();
    let trims = list["result"]["report"]["trims"].as_array_mut().unwrap();
    let first = trims[0]["made_at"].as_str().unwrap().to_owned();
    for trim in trims {
        trim["made_at"] = "[time]".into();
        trim["until"] = "[time]".into();
    }
    insta::assert_json_snapshot!(masked(list, &[]));
    let shown = printed(&trim(home.path(), &["--undo", "--dry-run"]));
    insta::with_settings!({filters => vec![(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "[time]")]}, {
        insta::assert_snapshot!(shown, @r"
        [time]: 1 line, 1 event, 0 blobs, 562 B, until [time]
        [time]: 1 line, 0 events, 0 blobs, 255 B, until [time]
        would restore 1 line of the session, 0 events of the sidecar, 0 blobs
        ");
    });
    assert_eq!(read(home.path(), "s1.jsonl"), trimmed);

    // Undoes the older trim; the newer one stays.
    assert!(trim(home.path(), &["--undo", &first]).status.success());
    let restored = read(home.path(), "s1.jsonl");
    assert!(restored.contains(RESULT) && !restored.contains("another listing"));
    let gone = trim(home.path(), &["--undo", &first]);
    assert_eq!(gone.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8(gone.stderr).unwrap(), @r"
    error: no trim made at that time can be undone
      hint: list the trims that can be undone with --undo --dry-run
    ");
    assert_eq!(trim(home.path(), &["--undo", "yesterday"]).status.code(), Some(2));
    assert_eq!(trim(home.path(), &["--undo", &first, "--all"]).status.code(), Some(2));
    assert!(trim(home.path(), &["--undo"]).status.success());
    assert_eq!(read(home.path(), "s1.jsonl"), before);
}

#[test]
fn an_irreversible_trim_keeps_nothing() {
    let home = session();
    assert!(trim(home.path(), &["--tool-call", "c1"]).status.success());
    assert!(read(home.path(), "s1.trim-undo.jsonl").contains("a long listing"));
    let again = trim(home.path(), &["--tool-call", "c1", "--replacement", "x", "--irreversible"]);
    assert!(again.status.success());
    assert!(!home.path().join("s1.trim-undo.jsonl").exists());
    assert_eq!(trim(home.path(), &["--undo"]).status.code(), Some(1));
}

#[test]
fn a_queue_outlives_the_host_and_is_drained_once() {
    let home = session();
    let queue = ["--tool-call", "c1", "--self-call", "d1", "--replacement", "later", "--enqueue"];
    let output = trim(home.path(), &[&queue[..], &["--json"]].concat());
    let document: Value = serde_json::from_str(&printed(&output)).unwrap();
    assert_eq!(document["result"]["report"]["status"], "queued");
    assert_eq!(document["result"]["report"]["applies_at"], "agent_end");
    assert!(read(home.path(), "s1.jsonl").contains("a long listing"));
    // Another process, at the end of the turn.
    assert!(trim(home.path(), &["--queue", "-"]).status.success());
    assert!(read(home.path(), "s1.jsonl").contains("[trimmed by self] later"));
    assert!(!home.path().join("s1.trim-queue.jsonl").exists());
    assert_eq!(printed(&trim(home.path(), &["--queue", "-"])), "nothing is queued\n");
    let unknown = ["--tool-call", "42", "--self-call", "d1", "--enqueue"];
    assert_eq!(trim(home.path(), &unknown).status.code(), Some(1));
}

#[test]
fn rules_trim_what_is_old_and_large() {
    let home = session();
    for name in ["s1.jsonl", "s1.trajectory.jsonl"] {
        let longer =
            read(home.path(), name).replace("a long listing", &"a long listing".repeat(20));
        fs::write(home.path().join(name), longer).unwrap();
    }
    let output = trim(home.path(), &["--auto", "--older-than", "0", "--larger-than", "10"]);
    insta::with_settings!({filters => vec![(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "[time]")]}, {
        insta::assert_snapshot!(printed(&output), @r"
        trimmed 1 result, 0 trim calls: 844 B → 614 B
        sidecar: 1 event, 0 blobs
        can be undone with --undo until [time]
          read: 1 result, 289 B of text
        ");
    });
    let young = trim(home.path(), &["--auto", "--older-than", "30000d", "--larger-than", "10"]);
    assert!(printed(&young).starts_with("trimmed 0 results"));
}

#[test]
fn every_action_has_its_json() {
    let home = session();
    let run = |arguments: &[&str], places: &[&str]| {
        let output = trim(home.path(), &[arguments, &["--json"]].concat());
        masked(serde_json::from_str(&printed(&output)).unwrap(), places)
    };
    const FILE: &str = "/result/report/session_file";
    let call = ["--tool-call", "c1", "--self-call", "d1"];
    let enqueued = run(&[&call[..], &["--enqueue"]].concat(), &[]);
    let drained = run(&["--queue", "-"], &["/result/undoUntil", FILE]);
    let nothing = run(&["--queue", "-"], &[]);
    let undone = run(&["--undo"], &[]);
    let auto = ["--auto", "--older-than", "0", "--larger-than", "10", "--dry-run"];
    let by_rule = run(&auto, &[FILE]);
    let failed = run(&["--undo"], &[]);
    let all = serde_json::json!({
        "enqueue": enqueued, "drain": drained, "nothing queued": nothing, "undo": undone,
        "auto": by_rule, "nothing to undo": failed,
    });
    insta::assert_json_snapshot!(all);
}

#[test]
fn a_session_that_is_not_there_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    for action in [&["--tool-call", "c1"][..], &["--auto", "--json"]] {
        let output = trim(home.path(), action);
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(said.contains("there is no session") && said.contains("traj sessions"), "{said}");
        assert!(!said.contains("\"ok\": true"), "{said}");
    }
}

#[test]
fn links_and_special_files_are_refused_with_a_hint() {
    let home = session();
    fs::rename(home.path().join("s1.jsonl"), home.path().join("real")).unwrap();
    symlink("real", home.path().join("s1.jsonl")).unwrap();
    let output = trim(home.path(), &["--tool-call", "c1"]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @r"
    error: cannot trim the session
      because: s1.jsonl is not a plain file: it is a symbolic link
      hint: name the session file itself, not a link to it
    ");
    assert!(read(home.path(), "real").contains("a long listing"));
    // A hostile pointer does not cause a rewrite of another session's file.
    fs::remove_file(home.path().join("s1.jsonl")).unwrap();
    fs::rename(home.path().join("real"), home.path().join("s1.jsonl")).unwrap();
    fs::remove_file(home.path().join("s1.trajectory.jsonl")).unwrap();
    let victim = home.path().join("victim.jsonl");
    fs::write(&victim, format!("{EVENT}\n")).unwrap();
    let pointer = rows::pointer("s1", victim.display()).json();
    fs::write(home.path().join("s1.trajectory-path.json"), pointer).unwrap();
    assert!(trim(home.path(), &["--tool-call", "c1"]).status.success());
    assert_eq!(fs::read_to_string(&victim).unwrap(), format!("{EVENT}\n"));
}
