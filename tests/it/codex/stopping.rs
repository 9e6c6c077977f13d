//! `traj codex turn` that has to stop or to wait: signals, the user's time, another turn.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use traj_tests::codex_rig::{CodexRig, PATIENCE, newest};
use traj_tests::model_server::Reply;
use traj_tests::traj_binary::names_in;

use super::command::{codex, json, read, run, text};
use super::server::{command, script, verb};

fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("traj starts")
}

/// A pipe that a script writes to, and the code that does so.
fn named_pipe(rig: &CodexRig) -> (PathBuf, String) {
    let pipe = rig.root().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts");
    assert!(made.success());
    let write = format!("echo here > '{}'", pipe.display());
    (pipe, write)
}

/// Waits until the script has written to its pipe.
#[expect(clippy::disallowed_methods, reason = "a pipe in the test's own directory")]
fn wait_for(pipe: &PathBuf) {
    let mut line = String::new();
    let mut pipe = std::fs::File::open(pipe).expect("the pipe can be opened");
    pipe.read_to_string(&mut line).expect("the script writes");
    assert_eq!(line, "here\n");
}

#[test]
fn signals_interrupt_the_turn_record_its_end_and_set_the_exit_code() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    for (number, signal, code) in
        [(0, Signal::INT, 130), (1, Signal::TERM, 143), (2, Signal::HUP, 129)]
    {
        let prompt = format!("please wait {number}");
        rig.model.script(&prompt, [Reply::held("so far")]);
        let child = start(&mut codex(&rig, "turn", &["--prompt", &prompt]));
        assert!(rig.model.handle().wait_for_request(&prompt, PATIENCE), "the turn runs");
        kill_process(Pid::from_child(&child), signal).expect("it runs");
        let output = child.wait_with_output().expect("its output");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains("the turn was interrupted by signal"), "{said}");
        assert_eq!(text(&output.stdout), "", "there is no reply");
        let ends = ends(&rig);
        assert_eq!(ends.len(), number + 1, "{ends:?}");
        assert!(ends[number].contains(r#""status":"interrupted""#), "{}", ends[number]);
    }
    let next = json(&rig, "turn", &["--prompt", "go on"]);
    assert_eq!(next["result"]["thread"], "resumed", "{next}");
}

const HELLO: &str = r#"{"id":1,"result":{"userAgent":"traj/0.169.0 (x)"}}"#;

/// Codex that never introduces itself, and Codex that never opens a thread.
fn silent_servers(before: &str) -> [String; 2] {
    let wait = "while read line; do :; done; exec sleep 600";
    [
        format!("{before}; {wait}"),
        format!("read line; echo '{HELLO}'; read line; read line; {before}; {wait}"),
    ]
}

#[test]
fn a_signal_works_before_the_turn_begins_and_the_end_is_recorded() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    let (pipe, write) = named_pipe(&rig);
    let mut ended = 0;
    for silent in silent_servers(&write) {
        for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
            let child = start(&mut command(&rig, &script(&rig, &silent)));
            wait_for(&pipe);
            kill_process(Pid::from_child(&child), signal).expect("it runs");
            let output = child.wait_with_output().expect("its output");
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{said}");
            assert!(said.contains("before the turn began"), "{said}");
            ended += 1;
            let ends = ends(&rig);
            assert_eq!(ends.len(), ended, "{said}");
            assert!(ends.iter().all(|end| end.contains(r#""status":"interrupted""#)), "{ends:?}");
        }
    }
}

/// How the turns of the session ended, as the sidecar says.
fn ends(rig: &CodexRig) -> Vec<String> {
    let sidecar = read(&rig.root().join("session.trajectory.jsonl"));
    let ends = sidecar.lines().filter(|line| line.contains(r#""type":"session.ended""#));
    ends.map(str::to_owned).collect()
}

/// The writer of the prompt may be slow, too.
#[test]
fn a_prompt_that_never_ends_is_waited_for_in_the_time_of_the_user_only() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    let mut command = codex(&rig, "turn", &["--prompt", "-", "--timeout", "1"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let prompt = child.stdin.take().expect("its input");
    let mut said = String::new();
    child.stderr.take().expect("its notes").read_to_string(&mut said).expect("notes");
    assert_eq!(child.wait().expect("it ends").code(), Some(1), "{said}");
    assert!(said.contains("timed out before the turn began"), "{said}");
    drop(prompt);
}

#[test]
fn the_time_of_the_user_includes_the_start_of_codex() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    for silent in silent_servers(":") {
        let mut command = command(&rig, &script(&rig, &silent));
        let output = command.args(["--timeout", "1"]).output().expect("traj starts");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("timed out before the turn began"), "{said}");
    }
    rig.model.script("slow", [Reply::held("never done")]);
    let slow = json(&rig, "turn", &["--prompt", "slow one", "--timeout", "3"]);
    assert_eq!(slow["result"]["outcome"], "timed-out", "{slow}");
}

/// Each verb that starts Codex stops on a signal and at the end of the user's time, while Codex
/// starts and while it works, and leaves the binding as it was.
#[test]
fn bind_and_status_stop_on_signals_and_in_the_time_of_the_user() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    assert!(run(&rig, "bind", &[]).status.success());
    let record = rig.root().join("session.jsonl.codex-binding.json");
    let before = read(&record);
    let (pipe, write) = named_pipe(&rig);
    let known = "0199a213-0000-7000-8000-000000000000";
    let verbs: [(&str, &[&str], &str); 3] = [
        ("bind", &["--replace"], "before the session was bound"),
        ("bind", &["--replace", "--thread", known], "before the session was bound"),
        ("status", &[], "before Codex answered"),
    ];
    for (name, more, goal) in verbs {
        for silent in silent_servers(&write) {
            for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
                let mut command = verb(&rig, name, &script(&rig, &silent));
                let child = start(command.args(more));
                wait_for(&pipe);
                kill_process(Pid::from_child(&child), signal).expect("it runs");
                let output = child.wait_with_output().expect("its output");
                let said = text(&output.stderr);
                assert_eq!(output.status.code(), Some(code), "{name} {more:?}: {said}");
                assert!(said.contains(goal), "{name} {more:?}: {said}");
            }
        }
        for silent in silent_servers(":") {
            let mut command = verb(&rig, name, &script(&rig, &silent));
            let output = command.args(more).args(["--timeout", "1"]).output().expect("traj starts");
            let told = text(&output.stderr) + &text(&output.stdout);
            assert!(told.contains(&format!("timed out {goal}")), "{name} {more:?}: {told}");
            // A server that does not answer is a finding of `status`, not its failure.
            let code = if name == "status" { 0 } else { 1 };
            assert_eq!(output.status.code(), Some(code), "{name} {more:?}: {told}");
        }
    }
    assert_eq!(read(&record), before);
    for name in ["turn", "bind", "status"] {
        let mut command = verb(&rig, name, rig.program());
        let refused = command.args(["--timeout", "0"]).output().expect("traj starts");
        assert_eq!(refused.status.code(), Some(2), "{name}");
    }
}

#[test]
fn two_first_turns_at_once_share_one_thread() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    rig.model.script("alpha", [Reply::held("one")]);
    let first = start(&mut codex(&rig, "turn", &["--prompt", "the turn alpha", "--json"]));
    assert!(rig.model.handle().wait_for_request("the turn alpha", PATIENCE), "the turn runs");
    let refused = run(&rig, "turn", &["--prompt", "not now", "--no-wait"]);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("a turn of this session is running"), "{said}");
    assert_eq!(run(&rig, "bind", &["--replace"]).status.code(), Some(1));
    let mut second = start(&mut codex(&rig, "turn", &["--prompt", "the turn omega", "--json"]));
    let mut said = vec![0; 30];
    let stderr = second.stderr.as_mut().expect("its notes");
    stderr.read_exact(&mut said).expect("it says that it waits");
    assert!(text(&said).starts_with("a turn of this session is runn"), "{}", text(&said));
    assert!(!rig.model.requests().iter().any(|sent| sent.to_string().contains("the turn omega")));
    rig.model.release("alpha");
    let thread = |child: Child| {
        let output = child.wait_with_output().expect("its output");
        assert!(output.status.success(), "{}", text(&output.stderr));
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        document["result"]["threadId"].as_str().expect("a thread").to_owned()
    };
    assert_eq!(thread(first), thread(second));
    let left = names_in(rig.root());
    assert!(!left.iter().any(|name| name.ends_with("codex-turn.lock")), "{left:?}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a directory in the test's own one")]
fn a_bound_workspace_that_is_gone_is_an_error_before_the_turn() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    let workspace = rig.root().join("project");
    std::fs::create_dir(&workspace).expect("a workspace");
    let path = workspace.to_str().expect("a plain path");
    assert!(run(&rig, "turn", &["--prompt", "hello", "--workspace", path]).status.success());
    std::fs::remove_dir(&workspace).expect("it is empty");
    let asked = rig.model.requests().len();
    let output = run(&rig, "turn", &["--prompt", "again"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("project does not exist") && said.contains("--workspace"), "{said}");
    assert_eq!(rig.model.requests().len(), asked, "nothing was started");
    let elsewhere = rig.workspace();
    let path = elsewhere.to_str().expect("a plain path");
    let moved = json(&rig, "turn", &["--prompt", "again", "--workspace", path]);
    assert_eq!(moved["result"]["thread"], "resumed", "{moved}");
}
