//! `traj codex explain` says what the next turn does, and the turn does it; what `bind`, `status`
//! and the policies of changes do.

use std::path::Path;

use serde_json::Value;
use traj_tests::codex_rig::{CodexRig, VERSIONS, newest};
use traj_tests::model_server::Reply;

use super::command::{codex, json, read, run, text, write};
use super::records::developer_messages;
use super::server::script;

fn explained(rig: &CodexRig, more: &[&str]) -> (String, Vec<String>) {
    let result = json(rig, "explain", more)["result"].clone();
    let reasons = result["reasons"].as_array().expect("reasons").iter();
    let reasons = reasons.map(|reason| reason.as_str().expect("a name").to_owned()).collect();
    (result["decision"].as_str().expect("a decision").to_owned(), reasons)
}

fn record(rig: &CodexRig) -> String {
    read(&rig.root().join("session.jsonl.codex-binding.json"))
}

fn status(rig: &CodexRig) -> Value {
    json(rig, "status", &["--offline"])["result"]["record"].clone()
}

/// Another Codex home hides the thread. It is not gone: nothing is given up.
#[test]
fn another_codex_home_is_predicted_and_refused() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    assert_eq!(explained(&rig, &[]).0, "start");
    assert!(run(&rig, "turn", &["--prompt", "hello"]).status.success());
    assert_eq!(explained(&rig, &[]).0, "resume");
    let before = record(&rig);

    let other = rig.root().join("other-home");
    create(&other);
    write(&other.join("config.toml"), &read(&rig.codex_home().join("config.toml")));
    let elsewhere = |verb, more: &[&str]| {
        let mut command = codex(&rig, verb, more);
        command.env("CODEX_HOME", &other).output().expect("traj starts")
    };
    let explained = elsewhere("explain", &[]);
    assert!(text(&explained.stdout).contains("next turn refuse: "), "{explained:?}");
    let status = elsewhere("status", &["--json"]);
    let status: Value = serde_json::from_slice(&status.stdout).expect("a document");
    assert_eq!(status["result"]["health"]["thread"], "elsewhere", "{status}");
    let refused = elsewhere("turn", &["--prompt", "again"]);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("CODEX_HOME="), "{said}");
    assert_eq!(record(&rig), before);
    let next = json(&rig, "turn", &["--prompt", "again"]);
    assert_eq!(next["result"]["thread"], "resumed", "{next}");
}

#[test]
fn a_lost_rollout_and_a_lost_workspace_are_predicted() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    let workspace = rig.root().join("project");
    create(&workspace);
    let path = workspace.to_str().expect("a plain path");
    assert!(run(&rig, "turn", &["--prompt", "hello", "--workspace", path]).status.success());
    let rollout = status(&rig)["rolloutPath"].as_str().expect("a path").to_owned();
    remove(Path::new(&rollout));
    assert_eq!(explained(&rig, &[]), ("replace".to_owned(), vec!["rollout".to_owned()]));
    let turn = json(&rig, "turn", &["--prompt", "again"]);
    assert_eq!(turn["result"]["thread"], "replaced", "{turn}");
    assert_eq!(turn["result"]["lost"]["turns"], 1, "{turn}");
    let former = status(&rig)["formerThreads"].clone();
    assert_eq!(former[0]["threadId"], turn["result"]["lost"]["threadId"], "{former}");
    assert_eq!(former[0]["reason"], "gone", "{former}");
    remove_directory(&workspace);
    assert_eq!(explained(&rig, &[]), ("refuse".to_owned(), vec!["workspace".to_owned()]));
}

#[test]
fn bind_stores_what_was_chosen_and_replaces_only_with_a_successor() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    let chosen = ["--sandbox", "read-only", "--approval", "never", "--service-tier", "flex"];
    json(&rig, "bind", &chosen);
    let stored = status(&rig);
    let choices = ["sandbox", "approvalPolicy", "serviceTier"].map(|name| stored[name].clone());
    assert_eq!(choices, ["read-only", "never", "flex"], "{stored}");

    json(&rig, "bind", &["--replace"]);
    let first = status(&rig);
    assert_eq!(first["formerThreads"][0]["reason"], "rebound", "{first}");
    let kept = ["sandbox", "approvalPolicy", "serviceTier"].map(|name| first[name].clone());
    assert_eq!(kept, ["read-only", "never", "flex"], "{first}");

    let before = record(&rig);
    let hello = r#"{"id":1,"result":{"userAgent":"traj/0.169.0 (x)"}}"#;
    let broken = format!("read line; echo '{hello}'; read line; read line; exit 1");
    let broken = script(&rig, &broken);
    let broken = broken.to_str().expect("a plain path");
    let mut failing = traj_tests::traj_binary::traj_command(rig.root());
    failing.envs(rig.environment()).args(["codex", "bind", "--replace", "--codex", broken]);
    let failed = failing
        .arg("--session")
        .arg(rig.root().join("session.jsonl"))
        .output()
        .expect("traj starts");
    assert_eq!(failed.status.code(), Some(1), "{}", text(&failed.stderr));
    assert_eq!(record(&rig), before);
}

#[test]
fn a_policy_decides_what_a_change_of_tools_does() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    let tools = |name: &str| {
        let file = rig.root().join(format!("{name}.json"));
        let schema = r#"{"type":"object","properties":{}}"#;
        let tool = format!(
            r#"[{{"type":"function","name":"{name}","description":"Looks.","inputSchema":{schema}}}]"#
        );
        write(&file, &tool);
        file.to_str().expect("a plain path").to_owned()
    };
    let (one, two) = (tools("one"), tools("two"));
    rig.model.script("remember", [Reply::text("the word is heliotrope")]);
    json(&rig, "turn", &["--prompt", "remember it", "--tools", &one]);

    let warn = ["--prompt", "go on", "--tools", &two, "--on-change", "dynamic-tools=warn"];
    let warned = json(&rig, "turn", &warn);
    assert_eq!(warned["result"]["thread"], "resumed", "{warned}");
    assert_eq!(warned["result"]["warnings"][0], "dynamic-tools", "{warned}");

    let carry = ["--tools", &two, "--carry-over", "history"];
    assert_eq!(explained(&rig, &carry).0, "rotate");
    let carry = ["--prompt", "which word?", "--tools", &two, "--carry-over", "history"];
    let rotated = json(&rig, "turn", &carry);
    assert_eq!(rotated["result"]["thread"], "rotated", "{rotated}");
    assert_eq!(rotated["result"]["lost"]["carriedOver"], "history", "{rotated}");
    let sent = rig.model.requests().last().expect("a request").to_string();
    assert!(sent.contains("heliotrope"), "{sent}");
    let bare = run(&rig, "turn", &["--prompt", "go on", "--tools", &one]);
    let said = text(&bare.stderr);
    let lost = rotated["result"]["threadId"].as_str().expect("a thread");
    assert!(said.contains("The model no longer sees") && said.contains(lost), "{said}");
    assert!(said.contains("hint: with --carry-over summary"), "{said}");
    let unknown = run(&rig, "turn", &["--prompt", "x", "--on-change", "tools=warn"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("dynamic-tools"), "{}", text(&unknown.stderr));
}

/// Unusable input is refused before Codex starts a turn, and the message says what is wrong.
#[test]
fn input_that_cannot_be_used_is_refused() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    let file = |name: &str| rig.root().join(name).to_str().expect("a plain path").to_owned();
    let (missing, directory) = (file("none.png"), file("work"));
    let unknown = "0199a213-0000-7000-8000-000000000000";
    let rows: [(&str, &[&str], i32, &str); 7] = [
        ("turn", &["--prompt", " "], 2, "the prompt is empty"),
        ("turn", &["--prompt", "x", "--effort", "most"], 2, "possible values: minimal, low"),
        ("turn", &["--prompt", "x", "--image", &missing], 1, "none.png is not a file"),
        ("turn", &["--prompt", "x", "--image", &directory], 1, "work is not a file"),
        ("turn", &["--prompt", "x", "--tools", &missing], 1, "hint: check the path"),
        ("bind", &["--thread", unknown], 1, "Codex has no thread 0199a213"),
        ("bind", &["--thread", "nonsense"], 1, "Codex has no thread nonsense"),
    ];
    for (verb, more, code, words) in rows {
        let refused = run(&rig, verb, more);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(code), "{verb} {more:?}: {said}");
        assert!(said.contains(words), "{verb} {more:?}: {said}");
        assert!(refused.stdout.is_empty(), "{verb} {more:?}");
    }
    assert!(rig.model.requests().is_empty(), "no turn began");
    assert_eq!(json(&rig, "status", &[])["result"]["bound"], false);
}

/// This works without a model on the command line or in a binding, too. The next turn ends them.
#[test]
fn instructions_for_one_turn_reach_the_model_and_are_recorded() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let wish = "Answer like a pirate of the year 1717.";
        let mut told = Vec::new();
        for more in [&["--instructions", wish][..], &[]] {
            let turn = run(&rig, "turn", &[&["--prompt", "hello"], more].concat());
            assert!(turn.status.success(), "{version}: {}", text(&turn.stderr));
            let sent = rig.model.requests().last().cloned().expect("a request");
            told.push(developer_messages(&sent).last().is_some_and(|last| last.contains(wish)));
        }
        assert_eq!(told, [true, false], "{version}: the last word of the host");
        let sidecar = read(&rig.root().join("session.trajectory.jsonl"));
        let compiled = sidecar.lines().filter(|line| line.contains(r#""type":"context.compiled""#));
        let recorded: Vec<bool> = compiled.map(|line| line.contains(wish)).collect();
        assert_eq!(recorded, [true, false], "{version}: {sidecar}");
    }
}

#[expect(clippy::disallowed_methods, reason = "a directory in the test's own one")]
fn create(path: &Path) {
    std::fs::create_dir(path).expect("a directory for the test");
}

#[expect(clippy::disallowed_methods, reason = "a directory in the test's own one")]
fn remove_directory(path: &Path) {
    std::fs::remove_dir_all(path).expect("it can be removed");
}

#[expect(clippy::disallowed_methods, reason = "a file in the test's own directory")]
fn remove(path: &Path) {
    std::fs::remove_file(path).expect("it can be removed");
}
