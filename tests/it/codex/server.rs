//! The server that `traj codex` starts: its version, its last words, its environment.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use traj_tests::codex_rig::{CodexRig, VERSIONS, newest};
use traj_tests::traj_binary::{names_in, traj_command};

use super::command::{codex, write};

/// A script in the sandbox that is started instead of Codex.
#[expect(clippy::disallowed_methods, reason = "a file in the test's own directory")]
pub(super) fn script(rig: &CodexRig, text: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let path = rig.root().join("codex-script");
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a script for the test");
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(&path, mode).expect("the script can run");
    path
}

/// `traj codex VERB` with this program instead of Codex.
pub(super) fn verb(rig: &CodexRig, verb: &str, program: &Path) -> Command {
    let mut command = traj_command(rig.root());
    command.envs(rig.environment()).env("HOME", rig.root());
    command.args(["codex", verb, "--session"]).arg(rig.root().join("session.jsonl"));
    command.arg("--codex").arg(program);
    command
}

/// `traj codex turn` with this program instead of Codex.
pub(super) fn command(rig: &CodexRig, program: &Path) -> Command {
    let mut command = verb(rig, "turn", program);
    command.args(["--prompt", "hello"]);
    command
}

fn turn(rig: &CodexRig, program: &Path) -> Output {
    command(rig, program).output().expect("traj starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_tested_version_is_pinned() {
    let pins = names_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("codex"));
    assert_eq!(pins, VERSIONS);
}

#[test]
fn a_version_newer_than_the_tested_ones_warns_once_and_goes_on() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    let real = rig.program().display();
    let newer = script(&rig, &format!("'{real}' \"$@\" | sed -u 's#/{} #/9.0.1 #'", newest()));
    let output = turn(&rig, &newer);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("warning: Codex 9.0.1 is newer than").count(), 1, "{said}");
    // A server that has to be started again does not warn again.
    let hello = r#"{"id":1,"result":{"userAgent":"traj/9.0.1 (x)"}}"#;
    let output = turn(
        &rig,
        &script(&rig, &format!("read line; echo '{hello}'; read line; read line; exit 1")),
    );
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.matches("warning: Codex 9.0.1 is newer than").count(), 1, "{said}");
    let tested = turn(&rig, rig.program());
    assert!(!text(&tested.stderr).contains("warning"), "{}", text(&tested.stderr));
}

#[test]
fn the_last_lines_of_a_codex_that_exits_at_start_are_shown_without_secrets() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    let secret = concat!("ghp", "_x7Kq2mVw9TzR4bNc8LpY1sJd6FhG3aQe5UoX");
    let lines = "for n in 1 2 3 4 5 6 7 8 9; do echo \"line $n\" >&2; done";
    let colour = r"printf '\033[31mred\033[0m and plain\n' >&2";
    let broken = script(&rig, &format!("{lines}; {colour}; echo 'token {secret}' >&2; exit 7"));
    let output = turn(&rig, &broken);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("Codex exited before it was ready"), "{said}");
    assert!(said.contains("Codex wrote: line 9") && !said.contains("line 5"), "{said}");
    assert!(said.contains("Codex wrote: red and plain\n"), "{said}");
    assert!(said.contains("traj doctor") && !said.contains(secret), "{said}");
}

/// The same after the handshake, when the thread was to be opened.
#[test]
fn the_last_lines_of_a_codex_that_exits_later_are_shown_too() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    let secret = concat!("ghp", "_x7Kq2mVw9TzR4bNc8LpY1sJd6FhG3aQe5UoX");
    let hello = r#"{"id":1,"result":{"userAgent":"traj/0.169.0 (x)"}}"#;
    let last = format!("echo 'fatal: the disk is full, {secret}' >&2; exit 1");
    let broken = format!("read line; echo '{hello}'; read line; read line; {last}");
    let output = turn(&rig, &script(&rig, &broken));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("codex: fatal: the disk is full"), "{said}");
    assert!(!said.contains(secret), "{said}");
}

/// The configuration of the sandbox names `SCRIPTED_KEY` as the key of its provider.
#[test]
fn the_variables_that_the_provider_names_are_passed_on_or_named_in_a_hint() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    let with_key = turn(&rig, rig.program());
    assert!(with_key.status.success(), "{}", text(&with_key.stderr));
    let explain = |has_key: bool| {
        let mut command = traj_command(rig.root());
        command.env("CODEX_HOME", rig.codex_home());
        command.envs(has_key.then_some(("SCRIPTED_KEY", "scripted")));
        let session = rig.root().join("session.jsonl");
        command.args(["codex", "explain", "--session"]).arg(session);
        text(&command.output().expect("traj starts").stdout)
    };
    let line = "provider  loopback, which needs SCRIPTED_KEY";
    assert!(explain(true).contains(&format!("{line} (passed on)")), "{}", explain(true));
    assert!(explain(false).contains(&format!("{line} (NOT SET)")), "{}", explain(false));
    let mut doctor = traj_command(rig.root());
    let doctor = doctor.env("CODEX_HOME", rig.codex_home()).args(["doctor", "--codex"]);
    let doctor = doctor.arg(rig.program()).output().expect("traj starts");
    let shown = text(&doctor.stdout);
    assert!(shown.contains("loopback, which needs SCRIPTED_KEY (NOT SET)"), "{shown}");
    assert!(shown.contains(&format!("tested with      {}", VERSIONS.join(", "))), "{shown}");

    let mut without_key = command(&rig, rig.program());
    let output = without_key.env_remove("SCRIPTED_KEY").output().expect("traj starts");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let hint = "hint: SCRIPTED_KEY is not set; the provider loopback needs it";
    assert!(said.contains(hint) && said.contains("--env NAME"), "{said}");
}

/// Secrets in the provider's key, in the environment of an MCP server and in the prompt.
#[test]
fn no_secret_is_in_a_file_that_traj_writes() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    let secrets = ["x7Kq2mVw9TzR4bNc8LpY1sJd6FhG3aQe5UoX", "b7Rt4nWz1YqK9mVx3LcP8sDf5GhJ2aTe6UoN"]
        .map(|tail| format!("{}_{tail}", "ghp"));
    let [key, token] = &secrets;
    let servers = rig.root().join("servers.json");
    write(&servers, &format!(r#"{{"files":{{"command":"true","env":{{"TOKEN":"{token}"}}}}}}"#));
    let mut turn = command(&rig, rig.program());
    turn.env("SCRIPTED_KEY", key).args(["--instructions", &format!("use {token}")]);
    turn.arg("--mcp-servers").arg(&servers);
    let prompt = format!("the password is {token}, the key is {key}");
    let first = turn.output().expect("traj starts");
    assert!(first.status.success(), "{}", text(&first.stderr));
    let mut second = codex(&rig, "turn", &["--prompt", &prompt]);
    let second = second.env("SCRIPTED_KEY", key).output().expect("traj starts");
    assert!(second.status.success(), "{}", text(&second.stderr));
    assert!(rig.model.requests().iter().any(|sent| sent.to_string().contains(key)), "it was used");
    let mut files = 0;
    for name in names_in(rig.root()) {
        // The input, and what belongs to Codex.
        if !["servers.json", "home", "work", "tmp"].contains(&name.as_str()) {
            files += search(&rig.root().join(name), &secrets);
        }
    }
    assert!(files >= 3, "the sidecar, its pointer and the binding are there: {files}");
}

/// Looks for secrets in every file below a path. Returns the number of files.
#[expect(clippy::disallowed_methods, reason = "files in the test's own directory")]
fn search(path: &Path, secrets: &[String]) -> usize {
    if path.is_dir() {
        return names_in(path).iter().map(|name| search(&path.join(name), secrets)).sum();
    }
    let content = text(&std::fs::read(path).expect("a file that can be read"));
    for secret in secrets {
        assert!(!content.contains(secret.as_str()), "{} holds {secret}", path.display());
    }
    1
}
