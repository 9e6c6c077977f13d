//! `traj codex …` with the real binary and the real Codex CLI.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use traj_tests::codex_rig::{CodexRig, VERSIONS, newest};
use traj_tests::json_schema::violations;
use traj_tests::model_server::Reply;
use traj_tests::rows;
use traj_tests::traj_binary::traj_command;

/// `traj codex VERB` with the Codex CLI and the sandbox of the rig.
pub(super) fn codex(rig: &CodexRig, verb: &str, more: &[&str]) -> Command {
    let home = rig.codex_home();
    let mut command = traj_command(rig.root());
    command.envs(rig.environment());
    command.args(["codex", verb, "--session"]).arg(rig.root().join("session.jsonl"));
    let starts_codex = !matches!(verb, "explain" | "detach" | "list");
    if starts_codex {
        command.arg("--codex").arg(rig.program());
    }
    command.env("CODEX_HOME", home).env("HOME", rig.root()).args(more);
    command
}

pub(super) fn run(rig: &CodexRig, verb: &str, more: &[&str]) -> Output {
    codex(rig, verb, more).output().expect("traj starts")
}

pub(super) fn json(rig: &CodexRig, verb: &str, more: &[&str]) -> Value {
    let more: Vec<&str> = more.iter().copied().chain(["--json"]).collect();
    let output = run(rig, verb, &more);
    let document = serde_json::from_slice(&output.stdout);
    assert!(document.is_ok(), "no document: {}", text(&output.stderr));
    let document = document.unwrap_or_default();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("../docs/schema/cli/codex-{verb}.schema.json"));
    let schema = serde_json::from_str(&read(&schema)).expect("a schema");
    assert_eq!(violations(&schema, &document), Vec::<String>::new(), "{document}");
    document
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Two turns in two processes use one thread and are recorded beside the session.
#[test]
fn turns_of_two_processes_share_one_thread() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        rig.model.script("remember", [Reply::text("the word is heliotrope")]);
        let workspace = rig.workspace();
        let workspace = workspace.to_str().expect("a plain path");
        let first = run(&rig, "turn", &["--workspace", workspace, "--prompt", "remember it"]);
        assert!(first.status.success(), "{version}: {}", text(&first.stderr));
        assert_eq!(text(&first.stdout), "the word is heliotrope\n", "{version}");

        let second = json(&rig, "turn", &["--prompt", "which word?"]);
        assert_eq!(second["result"]["thread"], "resumed", "{version}: {second}");
        assert_eq!(second["result"]["text"], "echo: which word?", "{version}");
        let events = second["result"]["events"].as_array().expect("events");
        assert!(events.iter().any(|event| event["type"] == "turn.completed"), "{version}");
        let asked = rig.model.requests().last().expect("a request").to_string();
        assert!(asked.contains("heliotrope"), "{version}: the history reached the model");

        let third = json(
            &rig,
            "turn",
            &["--prompt", "think", "--effort", "low", "--instructions", "speak of lichen"],
        );
        assert_eq!(third["result"]["outcome"], "completed", "{version}: {third}");
        let asked = rig.model.requests().last().expect("a request").clone();
        assert!(asked.to_string().contains("lichen"), "{version}: the instructions reached it");
        // The older version does not send the effort of a model that it does not know.
        let effort = &asked["reasoning"]["effort"];
        assert!(version == "0.135.0" || effort == "low", "{version}: {effort}");

        let status = json(&rig, "status", &[]);
        assert_eq!(status["result"]["record"]["turns"], 3, "{version}: {status}");
        assert_eq!(status["result"]["health"]["thread"], "present", "{version}: {status}");
        let sidecar = read(&rig.root().join("session.trajectory.jsonl"));
        let kinds = [
            "session.started",
            "context.compiled",
            "prompt.submitted",
            "model.completed",
            "session.ended",
        ];
        for kind in kinds {
            assert_eq!(sidecar.matches(&format!("\"{kind}\"")).count(), 3, "{version}: {kind}");
        }
        assert!(sidecar.contains("heliotrope"), "{version}");
    }
}

/// An export explains a Codex run from beginning to end, tools included.
#[test]
fn an_export_explains_the_run() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    rig.model.script("work", [Reply::escalated_shell("touch forbidden"), Reply::text("all done")]);
    let session = rig.root().join("session.jsonl");
    write(&session, &rows::header("s-1").line());
    let turn = run(&rig, "turn", &["--prompt", "work, please"]);
    assert!(turn.status.success(), "{}", text(&turn.stderr));

    let mut export = traj_command(rig.root());
    export.args(["export", "--output", "run", "--session"]).arg(&session);
    export.arg("--workspace").arg(rig.workspace());
    let exported = export.output().expect("traj starts");
    assert!(exported.status.success(), "{}", text(&exported.stderr));
    let bundle = rig.workspace().join(".openclaw/trajectory-exports/run");
    let events = read(&bundle.join("events.jsonl"));
    let kinds = [
        "session.started",
        "context.compiled",
        "prompt.submitted",
        "tool.call",
        "tool.result",
        "model.completed",
        "session.ended",
    ];
    let places: Vec<Option<usize>> =
        kinds.iter().map(|kind| events.find(&format!("\"{kind}\""))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
    assert!(events.contains("all done") && events.contains("work, please"));
}

#[test]
fn explain_names_what_changed_and_detach_gives_up() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    let servers = rig.root().join("mcp.json");
    write(&servers, r#"{"files":{"command":"true","env":{"TOKEN":"hunter2-secret"}}}"#);
    let servers = servers.to_str().expect("a plain path");
    let first = run(&rig, "turn", &["--prompt", "hello"]);
    assert!(first.status.success(), "{}", text(&first.stderr));

    let same = json(&rig, "explain", &[]);
    assert_eq!(same["result"]["decision"], "resume", "{same}");
    let changed = json(&rig, "explain", &["--mcp-servers", servers]);
    assert_eq!(changed["result"]["decision"], "rotate", "{changed}");
    assert_eq!(changed["result"]["reasons"][0], "user-mcp-servers", "{changed}");
    assert!(!changed.to_string().contains("hunter2-secret"));

    let list = json(&rig, "list", &[]);
    assert_eq!(list["result"]["bindings"][0]["session"], "session.jsonl", "{list}");
    let detached = json(&rig, "detach", &[]);
    assert_eq!(detached["result"]["detached"], true, "{detached}");
    let thread = detached["result"]["threadId"].as_str().expect("the thread").to_owned();
    assert_eq!(json(&rig, "explain", &[])["result"]["decision"], "start");

    let bound = json(&rig, "bind", &["--thread", &thread]);
    assert_eq!(bound["result"]["how"], "attached", "{bound}");
    let turn = json(&rig, "turn", &["--prompt", "again", "--mcp-servers", servers]);
    assert_eq!(turn["result"]["thread"], "resumed", "an attached thread is taken as it is: {turn}");
    assert_eq!(turn["result"]["threadId"], thread.as_str(), "{turn}");
    let record = read(&rig.root().join("session.jsonl.codex-binding.json"));
    assert!(!record.contains("hunter2-secret") && record.contains("userMcpServersFingerprint"));
}

#[test]
fn a_damaged_record_is_reported_and_kept() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    let record = rig.root().join("session.jsonl.codex-binding.json");
    write(&record, "{\"format\": \"traj-co");
    let output = run(&rig, "turn", &["--prompt", "hello"]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("--set-aside"), "{}", text(&output.stderr));
    assert!(rig.model.requests().is_empty(), "nothing was started");
    let aside = json(&rig, "detach", &["--set-aside"]);
    let name = aside["result"]["keptAs"].as_str().expect("a name").to_owned();
    assert_eq!(read(&rig.root().join(name)), "{\"format\": \"traj-co");
    let output = run(&rig, "turn", &["--prompt", "hello"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// A failing model is reported as a failure, and the thread stays usable.
#[test]
fn a_failing_model_fails_the_command() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    rig.model.script("fail", [Reply::failure(400, "the scripted model refuses")]);
    let output = run(&rig, "turn", &["--prompt", "please fail"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("the turn failed"), "{}", text(&output.stderr));
    let next = json(&rig, "turn", &["--prompt", "go on"]);
    assert_eq!(next["result"]["thread"], "resumed", "{next}");
}

#[expect(clippy::disallowed_methods, reason = "a file in the test's own directory")]
pub(super) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("the file is there")
}

#[expect(clippy::disallowed_methods, reason = "a file in the test's own directory")]
pub(super) fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("it can be written");
}
