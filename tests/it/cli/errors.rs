//! What every command prints about a file or directory that it cannot use: a
//! cause, a hint, one document, and the same exit code with and without `--json`.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;
use traj_tests::traj_binary::traj_command;

/// A directory with one of each kind of file that a user may name by mistake.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    fs::create_dir(at("folder")).unwrap();
    fs::write(at("empty"), "").unwrap();
    fs::write(at("garbage"), "garbage\n").unwrap();
    fs::write(at("s.jsonl"), "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n").unwrap();
    symlink("s.jsonl", at("link")).unwrap();
    home
}

/// The document that a command printed. `redact` writes data to standard output,
/// and its document to standard error, after notes on single lines.
fn document_of(output: &Output) -> Option<Value> {
    [&output.stdout, &output.stderr].into_iter().find_map(|said| {
        let said = String::from_utf8_lossy(said);
        let document: Value = serde_json::from_str(said.get(said.find("{\n")?..)?).ok()?;
        (document["schema"] == "traj-cli/2").then_some(document)
    })
}

/// Runs a command with and without `--json`; returns its error, or an empty string.
fn said(home: &Path, arguments: &[&str]) -> String {
    let text = traj_command(home).args(arguments).output().unwrap();
    let json = traj_command(home).args(arguments).arg("--json").output().unwrap();
    assert_eq!(text.status, json.status, "{arguments:?}");
    let code = text.status.code().unwrap();
    let stderr = String::from_utf8(text.stderr).unwrap();
    let document = document_of(&json);
    if let Some(document) = &document {
        assert_eq!(document["ok"], code == 0, "{arguments:?}");
    }
    if code == 0 || stderr.is_empty() {
        return String::new();
    }
    let document = document.expect("a document reports every failure");
    let error = &document["error"];
    assert!(
        !error["hints"].as_array().unwrap().is_empty(),
        "{arguments:?} gives no hint: {stderr}"
    );
    let reported = |name: &str| error[name].as_array().unwrap().clone();
    for line in reported("causes").iter().chain(&reported("hints")).chain([&error["message"]]) {
        assert!(stderr.contains(line.as_str().unwrap()), "{arguments:?}: {stderr}");
    }
    let place = home.to_string_lossy();
    format!("{} -> {code}\n{}", arguments.join(" "), stderr.replace(&*place, "[home]"))
}

fn all_said(commands: &[&[&str]], named: &[&str]) -> String {
    let mut all = Vec::new();
    for command in commands {
        for name in named {
            let home = home();
            let arguments: Vec<&str> =
                command.iter().map(|word| if *word == "FILE" { *name } else { *word }).collect();
            all.push(said(home.path(), &arguments));
        }
    }
    all.retain(|said| !said.is_empty());
    all.join("\n")
}

const NAMED: [&str; 7] =
    ["missing", "folder", "empty", "garbage", "link", "s.jsonl/inside", "missing/inside"];

#[test]
fn care_commands_give_cause_and_hint() {
    insta::assert_snapshot!(all_said(
        &[
            &["prune", "--sessions", "FILE"],
            &["prune", "--sessions", ".", "--store", "FILE"],
            &["repair", "FILE"],
            &["sessions", "--sessions", "FILE"],
            &["sessions", "--store", "FILE"],
        ],
        &NAMED,
    ));
}

#[test]
fn every_other_command_gives_cause_and_hint() {
    let sound: &[&[&str]] = &[
        &["tail", "--session", "FILE"],
        &["tail", "--session-key", "k", "--store", "FILE"],
        &["trim", "--session", "FILE", "--auto"],
        &["trim", "--session", "FILE", "--undo"],
        &["trim", "--session", "s.jsonl", "--queue", "FILE"],
        &["export", "--session", "FILE", "--output-root", "out"],
        &["export", "--session", "s.jsonl", "--output-root", "FILE"],
        &["export", "--session-key", "k", "--store", "FILE"],
        &["record", "--session", "FILE", "--session-id", "s"],
        &["inspect", "FILE"],
        &["verify", "FILE"],
        &["scan", "FILE"],
        &["scan", "s.jsonl", "--rules", "FILE"],
        &["redact", "--rules", "FILE"],
        &["redact", "--key-file", "FILE"],
        &["rules", "check", "--rules", "FILE"],
        &["codex", "list", "--folder", "FILE"],
        &["codex", "bind", "--session", "FILE", "--codex", "/nowhere"],
        &["codex", "turn", "--session", "FILE", "--prompt", "x", "--codex", "/nowhere"],
        &["codex", "explain", "--session", "s.jsonl", "--tools", "FILE"],
        &["codex", "status", "--offline", "--session", "FILE"],
    ];
    let said = all_said(sound, &NAMED);
    assert!(said.len() > 1_000, "{said}");
}

#[test]
fn ok_is_false_for_findings_and_damage() {
    let home = home();
    let put = |name: &str, text: &str| fs::write(home.path().join(name), text).unwrap();
    let secret = ["ghp", "_q7Xw2ZkP9sLmD4vTr8Yb1NcJ5fGh6Ae3Ru0K"].concat();
    put("secret.txt", &format!("token {secret}\n"));
    put("torn.jsonl", "{\"type\":\"session\",\"version\":3,\"id\":\"torn\"}\n{torn\n");
    fs::create_dir(home.path().join("b")).unwrap();
    put("b/manifest.json", "{}");
    let mut codes = Vec::new();
    for (arguments, input) in [
        (&["verify", "b"][..], ""),
        (&["scan", "secret.txt"], ""),
        (&["repair", "torn.jsonl"], ""),
        (&["redact", "--jsonl"], "garbage\n"),
    ] {
        let mut command = traj_command(home.path());
        command.args(arguments).arg("--json");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(document_of(&output).unwrap()["ok"], false, "{arguments:?}");
        codes.push(output.status.code().unwrap());
    }
    assert_eq!(codes, [4, 3, 4, 4]);
}

#[test]
fn the_store_of_an_agent_that_is_missing_is_named() {
    let home = home();
    insta::assert_snapshot!(said(home.path(), &["sessions", "--agent", "main"]), @r"
    sessions --agent main -> 1
    error: there is no session store [home]/.openclaw/agents/main/sessions/sessions.json
      hint: check the path, or pass another store with --store
    ");
}

#[test]
fn keys_are_one_document_too() {
    let home = home();
    fs::write(home.path().join("store"), r#"{"a:b":{"sessionId":"one"}}"#).unwrap();
    let mut command = traj_command(home.path());
    let output =
        command.args(["sessions", "--keys", "--store", "store", "--json"]).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["result"]["keys"], serde_json::json!(["a:b"]));
}

#[test]
fn arguments_with_control_characters_are_escaped_in_errors() {
    let home = home();
    for typed in ["--\u{9b}31m", "\u{202e}txe", "verify\u{1b}[2J"] {
        for more in [&[][..], &["--json"]] {
            let output = traj_command(home.path()).arg(typed).args(more).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{typed:?}");
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8(said).unwrap();
            let steers = |character: char| character.is_control() && character != '\n';
            assert!(!said.contains(steers) && !said.contains('\u{202e}'), "{said:?}");
        }
    }
}

#[test]
fn exit_codes_are_right_if_nobody_reads_the_output() {
    let home = home();
    let secret = ["token: ghp", "_0123456789abcdefghijklmnopqrstuvwxyz\n"].concat();
    fs::write(home.path().join("leak.txt"), secret).unwrap();
    fs::write(home.path().join("folder/manifest.json"), "{}\n").unwrap();
    let code_of = |arguments: &[&str]| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        traj_command(home.path()).args(arguments).stdout(writer).status().unwrap().code()
    };
    for more in [&[][..], &["--json"]] {
        assert_eq!(code_of(&[&["scan", "leak.txt"], more].concat()), Some(3));
        assert_eq!(code_of(&[&["verify", "folder"], more].concat()), Some(4));
        assert_eq!(code_of(&[&["scan", "s.jsonl"], more].concat()), Some(0));
    }
}
