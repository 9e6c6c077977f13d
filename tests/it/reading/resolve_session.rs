//! How a user names a session: every command takes a path, a key, an id, or a
//! prefix of a key or id. Only commands that read choose a session themselves.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;
use traj_tests::rows;
use traj_tests::traj_binary::{printed, traj_command};

const SESSIONS: &str = ".openclaw/agents/main/sessions";

/// A home with the stores of agents, and a workspace to run commands in.
struct Home(TempDir);

impl Home {
    /// Three sessions, each with a sidecar. Two of them are in the store.
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        fs::create_dir(home.path("ws")).unwrap();
        home.session(SESSIONS, "aaa-one", "/elsewhere", 100);
        home.session(SESSIONS, "aab-two", "/elsewhere", 300);
        home.session(".openclaw/agents/other/sessions", "ccc-three", "/elsewhere", 200);
        home.put(
            &format!("{SESSIONS}/sessions.json"),
            r#"{"agent:main:main":{"sessionId":"aaa-one"},"agent:main:side":{"sessionId":"aab-two"}}"#,
        );
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// A session that changed this many seconds after a fixed time in 2030.
    fn session(&self, folder: &str, id: &str, workspace: &str, changed: u64) {
        let header = rows::header(id).text("cwd", workspace);
        let event = rows::event("session.started", &rows::at(2), 1).of(id);
        let event = event.with("sourceSeq", 1).with("data", "{}");
        for (name, row) in
            [(format!("{id}.jsonl"), header), (format!("{id}.trajectory.jsonl"), event)]
        {
            let name = format!("{folder}/{name}");
            self.put(&name, &row.line());
            let stamp = format!("@{}", 1_900_000_000 + changed);
            let touched = Command::new("touch").args(["-d", &stamp]).arg(self.path(&name)).status();
            assert!(touched.unwrap().success());
        }
    }

    /// Runs a command in the workspace.
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = traj_command(self.0.path());
        command.args(arguments).current_dir(self.path("ws")).output().unwrap()
    }

    /// The session whose events `tail` prints, and its messages on standard error.
    fn tailed(&self, arguments: &[&str]) -> (String, String) {
        let output = self.run(&[&["tail", "--json"], arguments].concat());
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        let event: Value = serde_json::from_str(printed(&output).lines().next().unwrap()).unwrap();
        (event["session"].as_str().unwrap().to_owned(), errors(&output))
    }

    fn error(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run(arguments);
        let place = self.0.path().to_str().unwrap();
        (output.status.code().unwrap(), errors(&output).replace(place, "[home]"))
    }
}

fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_session_is_named_by_path_key_id_or_the_beginning_of_one() {
    let home = Home::new();
    let file = home.path(&format!("{SESSIONS}/aaa-one.jsonl"));
    let sidecar = home.path(&format!("{SESSIONS}/aaa-one.trajectory.jsonl"));
    let relative = format!("../{SESSIONS}/aaa-one.jsonl");
    for word in [
        file.to_str().unwrap(),
        sidecar.to_str().unwrap(),
        &relative,
        "~/.openclaw/agents/main/sessions/aaa-one.jsonl",
        "agent:main:main",
        "agent:main:m",
        "aaa-one",
        "aaa",
    ] {
        assert_eq!(home.tailed(&[word]), ("aaa-one".to_owned(), String::new()), "{word}");
    }
    assert_eq!(home.tailed(&["ccc"]).0, "ccc-three");
    assert_eq!(home.tailed(&["--session-key", "agent:main:side"]).0, "aab-two");
    assert_eq!(home.tailed(&["--session", &relative]).0, "aaa-one");
    // A directory that is not a bundle does not hide a session.
    fs::create_dir(home.path("ws/aaa")).unwrap();
    assert_eq!(home.tailed(&["aaa"]).0, "aaa-one");
}

#[test]
fn rollouts_of_codex_are_named_by_their_id() {
    let home = Home::new();
    let id = "0197f2c4-5d1e-7a3b-9c68-2f4e8d0b1a57";
    let payload = serde_json::json!({"id": id, "cwd": home.path("ws")});
    let row = rows::rollout_row("session_meta", &rows::at(0), payload).json();
    let name = format!("sessions/2026/06/01/rollout-2026-06-01T10-00-00-{id}.jsonl");
    home.put(&format!(".codex/{name}"), &row);
    let repaired = |arguments: &[&str]| {
        let output = home.run(&[&["repair", "--json"], arguments].concat());
        assert!(output.status.success(), "{output:?}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["result"]["file"].as_str().unwrap().to_owned()
    };
    assert!(repaired(&["0197f2c4"]).ends_with(&name));
    assert!(repaired(&[]).ends_with(&name), "it is the one of this workspace");
    assert!(home.error(&["repair", "0197f2c4", "--agent", "main"]).1.contains("no session"));
}

#[test]
fn every_verb_takes_the_same_word() {
    let home = Home::new();
    for verb in [
        &["tail"][..],
        &["inspect"],
        &["export", "--output-root", "bundles"],
        &["trim", "--auto", "--dry-run"],
        &["repair"],
        &["codex", "status", "--offline"],
        &["codex", "explain"],
        &["codex", "detach"],
    ] {
        for word in ["agent:main:main", "aaa-one", "aaa"] {
            let output = home.run(&[verb, &[word]].concat());
            assert!(output.status.success(), "{verb:?} {word}: {output:?}");
            let error = home.error(&[verb, &["nobody"]].concat());
            assert!(error.0 == 1 && error.1.contains("there is no session nobody"), "{error:?}");
        }
    }
    // A recorder writes beside the session, with its id and key.
    let output = home.run(&["record", "aab", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sidecar = report["result"]["sidecar"].as_str().unwrap();
    assert!(Path::new(sidecar).ends_with("sessions/aab-two.trajectory.jsonl"), "{sidecar}");
}

#[test]
fn a_word_that_fits_several_sessions_lists_them() {
    let home = Home::new();
    let (code, said) = home.error(&["inspect", "aa"]);
    assert_eq!(code, 2);
    insta::assert_snapshot!(said, @r"
    error: aa matches 2 sessions
      hint: agent:main:main, [home]/.openclaw/agents/main/sessions/aaa-one.jsonl
      hint: agent:main:side, [home]/.openclaw/agents/main/sessions/aab-two.jsonl
    ");
    // A complete id wins over a longer id that it begins, also if a transcript states it.
    home.session(SESSIONS, "aaa-one-more", "/elsewhere", 400);
    assert_eq!(home.tailed(&["aaa-one"]).0, "aaa-one");
    for name in ["ccc-three.jsonl", "ccc-three.trajectory.jsonl"] {
        let folder = home.path(".openclaw/agents/other/sessions");
        let renamed = folder.join(name.replace("ccc-three", "renamed"));
        fs::rename(folder.join(name), renamed).unwrap();
    }
    home.session(SESSIONS, "ccc-three-more", "/elsewhere", 500);
    assert_eq!(home.tailed(&["ccc-three"]).0, "ccc-three");
    assert_eq!(home.error(&["tail", "ccc"]).0, 2);
    let (code, said) = home.error(&["trim", "agent:main:", "--auto"]);
    assert!(code == 2 && said.contains("matches 2 sessions"), "{said}");
}

#[test]
fn verbs_that_read_take_the_newest_and_say_which() {
    let home = Home::new();
    let here = home.path("ws");
    let (session, said) = home.tailed(&[]);
    assert_eq!(session, "aab-two");
    assert!(said.starts_with("the newest session of this machine: agent:main:side"), "{said}");
    assert_eq!(home.tailed(&["--agent", "other"]).0, "ccc-three");
    // A session of this workspace comes first, even if it is older.
    home.session(SESSIONS, "ddd-four", here.to_str().unwrap(), 10);
    home.session(SESSIONS, "eee-five", here.to_str().unwrap(), 20);
    let (session, said) = home.tailed(&[]);
    assert_eq!(session, "eee-five");
    assert!(said.starts_with("the newest session of this workspace: eee-five"), "{said}");
    for verb in [&["inspect"][..], &["export", "--output-root", "bundles"], &["repair"]] {
        let output = home.run(verb);
        assert!(output.status.success(), "{output:?}");
        assert!(errors(&output).contains("eee-five"), "{output:?}");
    }
}

#[test]
fn verbs_that_change_files_need_the_session_named() {
    let home = Home::new();
    let before = fs::read(home.path(&format!("{SESSIONS}/aab-two.jsonl"))).unwrap();
    for verb in [
        &["trim", "--auto"][..],
        &["trim", "--undo"],
        &["repair", "--write"],
        &["codex", "turn", "--prompt", "hello"],
        &["codex", "bind"],
        &["codex", "detach"],
        &["record"],
        &["prune"],
    ] {
        let (code, said) = home.error(verb);
        assert_eq!(code, 2, "{verb:?}: {said}");
    }
    let (_, said) = home.error(&["trim", "--auto"]);
    insta::assert_snapshot!(said, @r"
    error: name a session
      hint: give its file, key or id; `traj sessions` lists them
    ");
    assert_eq!(fs::read(home.path(&format!("{SESSIONS}/aab-two.jsonl"))).unwrap(), before);
}

#[test]
fn an_unknown_session_is_reported_with_a_hint() {
    let home = Home::new();
    insta::assert_snapshot!(home.error(&["tail", "nobody"]).1, @r"
    error: there is no session nobody
      hint: run `traj sessions` to list the sessions
      hint: give a path, a key, an id, or the beginning of a key or id
    ");
    assert_eq!(home.error(&["tail", "gone/nobody"]).0, 1);
    assert_eq!(home.error(&["tail", "-"]).0, 2);
    fs::create_dir(home.path("ws/plain")).unwrap();
    assert_eq!(home.error(&["trim", "plain", "--auto"]).0, 2);
    let nothing = tempfile::tempdir().unwrap();
    let output = traj_command(nothing.path()).arg("tail").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!(errors(&output), @r"
    error: no session was found; name one
      hint: give a path, a key or an id
    ");
    // A store that cannot be read is reported as damaged, not skipped.
    home.put(&format!("{SESSIONS}/sessions.json"), "not JSON");
    assert_eq!(home.error(&["tail", "agent:main:main"]).0, 4);
    assert_eq!(home.tailed(&["aaa-one"]).0, "aaa-one");
}
