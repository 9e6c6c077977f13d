//! `traj sessions`: where it searches, what it lists, and in which order.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;
use tempfile::TempDir;
use traj_tests::export_home::result;
use traj_tests::rows;
use traj_tests::traj_binary::{printed, traj_command};

/// A transcript with one prompt, this many minutes after 10:00.
fn transcript(id: &str, minute: u32) -> String {
    let header = rows::header(id).without("cwd").text("timestamp", "2026-06-01T09:00:00Z");
    let prompt = rows::entry("message", "a", None, 0).text("timestamp", &at(minute));
    header.line() + &prompt.with("message", rows::USER).line()
}

fn at(minute: u32) -> String {
    format!("2026-06-01T10:{minute:02}:00Z")
}

fn event(id: &str, kind: &str, minute: u32, data: &str) -> String {
    rows::event(kind, &at(minute), minute).of(id).with("data", data).line()
}

fn rollout(id: &str, minute: u32) -> String {
    let header = format!(r#"{{"id":"{id}","cli_version":"0.169.0"}}"#);
    let prompt = r#"{"type":"user_message","message":"hi"}"#;
    rows::rollout_row("session_meta", &at(0), header).line()
        + &rows::rollout_row("event_msg", &at(minute), prompt).line()
}

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn put(&self, path: &str, content: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn list(&self, arguments: &[&str]) -> Value {
        let mut command = traj_command(self.0.path());
        let output = command.args(["sessions", "--json"]).args(arguments).output().unwrap();
        result(&output)["result"].clone()
    }

    /// The ids that are listed, in order.
    fn ids(&self, arguments: &[&str]) -> Vec<String> {
        let report = self.list(arguments);
        assert_eq!(report["problems"], serde_json::json!([]));
        let sessions = report["sessions"].as_array().unwrap().clone();
        sessions.iter().map(|one| one["sessionId"].as_str().unwrap().to_owned()).collect()
    }
}

/// Sessions of several kinds in two trees.
fn two_trees() -> Home {
    let home = Home::new();
    home.put("one/a.jsonl", &transcript("a", 1));
    home.put("one/deep/er/b.jsonl", &transcript("b", 5));
    home.put("one/b.trajectory.jsonl", &event("gone", "session.started", 3, "{}"));
    home.put("two/rollout-c.jsonl", &rollout("c", 4));
    home.put("two/d.jsonl", &transcript("d", 2));
    let ended = event("d", "session.started", 2, "{}")
        + &event("d", "session.ended", 9, r#"{"status":"error"}"#);
    home.put("two/d.trajectory.jsonl", &ended);
    home
}

#[test]
fn directories_are_searched_with_everything_below_newest_first() {
    let home = two_trees();
    assert_eq!(home.ids(&["one"]), ["b", "gone", "a"]);
    assert_eq!(home.ids(&["one", "two"]), ["d", "b", "c", "gone", "a"]);
    // A directory that is given twice, or is inside another one, counts once.
    assert_eq!(home.ids(&["one/deep", "one", "one/deep/er/b.jsonl"]), ["b", "gone", "a"]);
    assert_eq!(home.ids(&["--sessions", "two"]), ["d", "c"]);
}

#[test]
fn the_kind_of_a_session_is_reported() {
    let home = two_trees();
    let report = home.list(&["one", "two"]);
    let of = |id: &str| {
        let sessions = report["sessions"].as_array().unwrap();
        sessions.iter().find(|session| session["sessionId"] == id).unwrap().clone()
    };
    let (alone, rollout) = (of("gone"), of("c"));
    assert_eq!((&alone["exists"], &alone["status"]), (&false.into(), &"open".into()));
    assert!(alone["trajectory"].as_str().unwrap().ends_with("one/b.trajectory.jsonl"));
    assert_eq!((&alone["events"], &alone["dialect"]), (&1.into(), &Value::Null));
    assert_eq!(
        (&rollout["agent"], &rollout["dialect"]),
        (&"codex".into(), &"codex-rollout".into())
    );
    assert_eq!((&of("a")["agent"], &of("a")["status"]), (&"openclaw".into(), &Value::Null));
    assert_eq!((&of("d")["status"], &of("d")["events"]), (&"error".into(), &2.into()));
    assert_eq!(of("d")["updatedAt"], "2026-06-01T10:09:00.000Z");
}

#[test]
fn a_listing_can_be_narrowed() {
    let home = two_trees();
    let ids = |arguments: &[&str]| home.ids(&[&["one", "two"], arguments].concat());
    assert_eq!(ids(&["--limit", "2"]), ["d", "b"]);
    assert_eq!(ids(&["--limit", "0"]), [""; 0]);
    assert_eq!(ids(&["--since", "2026-06-01T10:04:00Z"]), ["d", "b", "c"]);
    assert_eq!(ids(&["--since", "1s"]), [""; 0]);
    assert_eq!(ids(&["--status", "failed"]), ["d"]);
    assert_eq!(ids(&["--status", "open,unknown", "--limit", "3"]), ["b", "c", "gone"]);
    for wrong in [["--since", "soon"], ["--status", "fine"], ["--limit", "-1"]] {
        let mut command = traj_command(home.0.path());
        assert_eq!(command.arg("sessions").args(wrong).output().unwrap().status.code(), Some(2));
    }
}

#[test]
fn a_limit_looks_at_no_more_files_than_it_needs() {
    let home = Home::new();
    let put = |path: &str, content: &str, minute: u32| {
        home.put(path, content);
        let file = fs::File::options().write(true).open(home.0.path().join(path)).unwrap();
        let seconds = Duration::from_secs(1_780_308_000 + u64::from(minute) * 60);
        file.set_modified(UNIX_EPOCH + seconds).unwrap();
    };
    for minute in 1..20 {
        put(&format!("t/s{minute}.jsonl"), &transcript(&format!("s{minute}"), minute), minute);
    }
    put("oldest.jsonl", "not a session\n", 0);
    assert_eq!(home.ids(&["t", "oldest.jsonl", "--limit", "2"]), ["s19", "s18"]);
    assert_eq!(home.ids(&["t", "oldest.jsonl", "--since", "2026-06-01T10:18:00Z"]), ["s19", "s18"]);
    let all = home.list(&["t", "oldest.jsonl"]);
    assert_eq!(all["problems"].as_array().unwrap().len(), 1);
    assert_eq!(all["sessions"].as_array().unwrap().len(), 19);
}

#[test]
fn a_file_that_cannot_be_read_does_not_end_the_listing() {
    let home = Home::new();
    home.put("t/a.jsonl", &transcript("a", 1));
    home.put("t/log.jsonl", "{\"level\":\"info\"}\n");
    home.put("t/sessions.json", "{not a store");
    let report = traj_command(home.0.path()).args(["sessions", "t", "--json"]).output().unwrap();
    let report = result(&report);
    assert_eq!(report["result"]["sessions"][0]["sessionId"], "a");
    assert_eq!(report["result"]["unrecognised"], 1);
    let problem = &report["result"]["problems"][0];
    assert!(problem["file"].as_str().unwrap().ends_with("t/sessions.json"), "{problem}");
    assert!(!problem["problem"].as_str().unwrap().contains("not a store"), "{problem}");
    let text = traj_command(home.0.path()).args(["sessions", "t"]).output().unwrap();
    assert_eq!(text.status.code(), Some(1));
    assert!(printed(&text).contains("openclaw"), "{}", printed(&text));
    let said = String::from_utf8(text.stderr).unwrap();
    assert!(said.contains("cannot list 1 file") && said.contains("sessions.json"), "{said}");
    assert!(said.contains("1 file skipped"), "{said}");
}

#[test]
fn a_directory_that_may_not_be_read_is_reported() {
    let home = Home::new();
    home.put("t/a.jsonl", &transcript("a", 1));
    home.put("t/closed/b.jsonl", &transcript("b", 2));
    let closed = home.0.path().join("t/closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let is_readable = fs::read_dir(&closed).is_ok();
    let output = traj_command(home.0.path()).args(["sessions", "t", "--json"]).output().unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    let report = result(&output)["result"].clone();
    // Root can read everything, so it lists everything.
    let (listed, problems) = if is_readable { (2, 0) } else { (1, 1) };
    assert_eq!(report["sessions"].as_array().unwrap().len(), listed);
    assert_eq!(report["problems"].as_array().unwrap().len(), problems);
}

#[test]
fn without_roots_the_store_the_files_beside_it_and_rollouts_are_listed() {
    let home = Home::new();
    let sessions = ".openclaw/agents/main/sessions";
    home.put(&format!("{sessions}/sessions.json"), r#"{"agent:main:a":{"sessionId":"a"}}"#);
    home.put(&format!("{sessions}/a.jsonl"), &transcript("a", 1));
    home.put(&format!("{sessions}/b.jsonl"), &transcript("b", 2));
    home.put(&format!("{sessions}/c.trajectory.jsonl"), &event("c", "session.started", 3, "{}"));
    home.put(".codex/sessions/2026/06/01/rollout-d.jsonl", &rollout("d", 4));
    assert_eq!(home.ids(&[]), ["d", "c", "b", "a"]);
    assert_eq!(home.ids(&["--agent", "main"]), ["c", "b", "a"]);
    let report = home.list(&[sessions]);
    let keys: Vec<_> =
        report["sessions"].as_array().unwrap().iter().map(|one| &one["key"]).collect();
    assert_eq!(keys, [&Value::Null, &Value::Null, &"agent:main:a".into()]);
    // Rollouts are also listed without a store.
    fs::remove_dir_all(home.0.path().join(".openclaw")).unwrap();
    assert_eq!(home.ids(&[]), ["d"]);
}

#[test]
fn a_directory_of_sidecars_is_not_a_directory_of_transcripts() {
    let home = Home::new();
    home.put("s/a.jsonl", &transcript("a", 1));
    home.put("side/a.jsonl", &event("a", "session.started", 1, "{}"));
    home.put("side/b.jsonl", &event("b", "session.started", 2, "{}"));
    let list = |roots: &[&str]| {
        let mut command = traj_command(home.0.path());
        command.env("TRAJ_TRAJECTORY_DIR", home.0.path().join("side"));
        let report = result(&command.args(["sessions", "--json"]).args(roots).output().unwrap());
        let sessions = report["result"]["sessions"].as_array().unwrap().clone();
        let reported = sessions.iter().map(|one| format!("{} {}", one["sessionId"], one["exists"]));
        reported.collect::<Vec<_>>()
    };
    assert_eq!(list(&["s", "side"]), ["\"b\" false", "\"a\" true"]);
}

#[test]
fn a_sidecar_of_another_session_is_listed_on_its_own() {
    let home = Home::new();
    home.put("t/a.jsonl", &transcript("a", 1));
    home.put("t/a.trajectory.jsonl", &event("other", "session.started", 5, "{}"));
    let report = home.list(&["t"]);
    let reported = report["sessions"].as_array().unwrap().iter().map(|one| {
        format!("{} {} {} {}", one["sessionId"], one["exists"], one["turns"], one["events"])
    });
    assert_eq!(reported.collect::<Vec<_>>(), [r#""other" false 0 1"#, r#""a" true 1 null"#]);
    let file = report["sessions"][0]["sessionFile"].as_str().unwrap().to_owned();
    assert!(file.ends_with("t/a.trajectory.jsonl"), "{file}");
}

#[test]
fn the_table_has_a_header_and_no_tabs() {
    let home = two_trees();
    home.put("one/e.jsonl", &transcript("e\u{1b}[31m日本", 7));
    let arguments = ["sessions", "one", "two"];
    let output = traj_command(home.0.path()).args(arguments).output().unwrap();
    insta::with_settings!({filters => vec![(r"\d+ B|\d+\.\d KiB", "[size]"), (" +", " ")]}, {
        insta::assert_snapshot!(printed(&output), @r"
        UPDATED AGENT STATUS SIZE EVENTS CALLS FAILED TOKENS IN OUT COST MODEL TITLE SESSION
        2026-06-01T10:09:00Z openclaw error [size] 2 0 0 - - - - hi d
        2026-06-01T10:07:00Z openclaw - [size] - 0 0 - - - - hi e\u{1b}[31m日本
        2026-06-01T10:05:00Z openclaw - [size] - 0 0 - - - - hi b
        2026-06-01T10:04:00Z codex - [size] - 0 0 - - - - hi c
        2026-06-01T10:03:00Z - open [size] 1 0 0 - - - - - gone (no transcript)
        2026-06-01T10:01:00Z openclaw - [size] - 0 0 - - - - hi a
        ");
    });
    assert!(!printed(&output).contains('\t'));
    // Nothing is cut if the output is not a terminal.
    let narrow = traj_command(home.0.path()).env("COLUMNS", "40").args(arguments).output().unwrap();
    assert_eq!(printed(&narrow), printed(&output));
}

#[test]
fn a_root_may_be_a_link_and_bundles_are_left_out() {
    let home = two_trees();
    std::os::unix::fs::symlink("two", home.0.path().join("link")).unwrap();
    assert_eq!(home.ids(&["link"]), ["d", "c"]);
    let export = ["export", "--session", "one/a.jsonl", "--output-root", "two/bundle"];
    let exported = traj_command(home.0.path()).args(export).output().unwrap();
    assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
    assert!(Path::new(&home.0.path().join("two/bundle")).is_dir());
    assert_eq!(home.ids(&["two"]), ["d", "c"]);
}
