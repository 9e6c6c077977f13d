//! `traj codex turn` when Codex asks for approval: on a terminal, and without one.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use serde_json::Value;
use traj_tests::codex_rig::{CodexRig, newest};
use traj_tests::model_server::Reply;

use super::command::{codex, json, read, run, text};

/// Runs a turn on a terminal and answers each question; returns what the terminal showed.
fn turn_on_terminal(rig: &CodexRig, prompt: &str, answers: &[&str]) -> (String, Option<i32>) {
    command_on_terminal(rig, &["--prompt", prompt], answers)
}

fn command_on_terminal(rig: &CodexRig, more: &[&str], answers: &[&str]) -> (String, Option<i32>) {
    // The child does not inherit the other end, so that it ends if the test does.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let terminal = || Stdio::from(ioctl_tiocgptpeer(&master, flags).unwrap());
    let mut command = codex(rig, "turn", more);
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    command.stdin(terminal()).stdout(terminal()).stderr(terminal());
    let mut child = command.spawn().expect("traj starts");
    // Closes our handles, so that only the child has the terminal open.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let (mut shown, mut chunk) = (Vec::new(), [0; 4096]);
    let (mut master, mut answers) = (File::from(master), answers.iter());
    let mut questions = 0;
    // Reading fails once no process has the terminal open for writing.
    while let Ok(count @ 1..) = master.read(&mut chunk) {
        shown.extend_from_slice(&chunk[..count]);
        let asked = text(&shown).matches("in this turn: ").count();
        while questions < asked {
            questions += 1;
            let answer = answers.next().expect("no more questions than answers");
            master.write_all(format!("{answer}\n").as_bytes()).expect("an answer");
        }
    }
    assert_eq!(answers.next(), None, "every answer was asked for: {}", text(&shown));
    (text(&shown).replace("\r\n", "\n"), child.wait().expect("it ends").code())
}

/// Lets the model run commands that each create a file, and then end the turn.
fn script_commands(rig: &CodexRig, prompt: &str, names: &[&str]) {
    let call = |name: &&str| {
        Reply::escalated_shell(&format!("touch {}", rig.workspace().join(name).display()))
    };
    let replies: Vec<Reply> = names.iter().map(call).chain([Reply::text("that is all")]).collect();
    rig.model.script(prompt, replies);
}

fn exists(rig: &CodexRig, name: &str) -> bool {
    rig.workspace().join(name).exists()
}

#[test]
fn a_person_on_the_terminal_decides_and_silence_is_a_no() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    script_commands(&rig, "make two", &["yes", "no"]);
    let (shown, code) = turn_on_terminal(&rig, "make two", &["y", ""]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(exists(&rig, "yes") && !exists(&rig, "no"), "{shown}");
    assert!(shown.contains("Codex asks for a command:"), "{shown}");
    assert!(shown.contains("declined: Codex asked for a command: "), "{shown}");
    assert!(shown.contains("that is all"), "{shown}");
    // The progress is shown while the turn runs.
    assert!(shown.contains("waiting for the model") || shown.contains("running "), "{shown}");
    let sidecar = read(&rig.root().join("session.trajectory.jsonl"));
    let decided: Vec<&str> =
        sidecar.lines().filter(|line| line.contains(r#""type":"approval.decided""#)).collect();
    assert_eq!(decided.len(), 2, "{sidecar}");
    assert_eq!(sidecar.matches(r#""type":"approval.asked""#).count(), 2, "{sidecar}");
    assert!(decided.iter().all(|line| line.contains(r#""decidedBy":"user""#)), "{decided:?}");
}

#[test]
fn always_holds_for_this_turn_only() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    script_commands(&rig, "make three", &["a", "b", "c"]);
    let (shown, code) = turn_on_terminal(&rig, "make three", &["a"]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(["a", "b", "c"].iter().all(|name| exists(&rig, name)), "{shown}");
    let sidecar = read(&rig.root().join("session.trajectory.jsonl"));
    assert_eq!(sidecar.matches(r#""decidedBy":"user","scope":"turn""#).count(), 3, "{sidecar}");
    script_commands(&rig, "one more", &["d"]);
    let (shown, _) = turn_on_terminal(&rig, "one more", &["n"]);
    assert!(!exists(&rig, "d"), "{shown}");
}

/// With `--quiet`, nothing is asked, and what was declined is still reported.
#[test]
fn a_quiet_turn_on_a_terminal_declines_and_says_so() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    script_commands(&rig, "make one", &["one"]);
    let (shown, code) = command_on_terminal(&rig, &["--prompt", "make one", "--quiet"], &[]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("declined: Codex asked for a command: "), "{shown}");
    assert!(!shown.contains("Allow it?") && !exists(&rig, "one"), "{shown}");
    let sidecar = read(&rig.root().join("session.trajectory.jsonl"));
    assert!(sidecar.contains("nobody was asked, because of --quiet"), "{sidecar}");
}

#[test]
fn without_a_terminal_every_decline_is_reported() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    script_commands(&rig, "make one", &["one"]);
    let output = run(&rig, "turn", &["--prompt", "make one"]);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("declined: Codex asked for a command: "), "{said}");
    assert!(!exists(&rig, "one"));
    // It is reported even with `--quiet`.
    let output = run(&rig, "turn", &["--prompt", "make one", "--quiet"]);
    let said = text(&output.stderr);
    assert_eq!(said.matches("declined: Codex asked for a command: ").count(), 1, "{said}");
    assert_eq!(said.lines().count(), 1, "nothing else is said: {said}");
    assert!(!exists(&rig, "one"));
    script_commands(&rig, "make another", &["another"]);
    let turn = json(&rig, "turn", &["--prompt", "make another"]);
    let declined = turn["result"]["declined"].as_array().expect("a list").clone();
    assert_eq!(declined.len(), 1, "{turn}");
    assert_eq!(declined[0]["topic"], "command");
    assert_eq!(declined[0]["by"], "policy");
    assert!(declined[0]["subject"].as_str().is_some_and(|text| text.contains("another")));
    let plain = json(&rig, "turn", &["--prompt", "just talk"]);
    assert_eq!(plain["result"]["declined"], Value::Array(Vec::new()));
}
