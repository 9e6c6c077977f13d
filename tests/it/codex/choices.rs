//! What was chosen for a binding reaches the real Codex CLI, and stays.

use std::path::Path;
use std::process::Output;

use serde_json::Value;
use traj_core::binding::{
    ApprovalPolicy, BindingRecord, GranularApproval, SandboxMode, StoredBinding, decode_record,
};
use traj_core::port::ThreadService as _;
use traj_tests::codex_rig::{CodexRig, VERSIONS, newest};
use traj_tests::model_server::Reply;
use traj_tests::traj_binary::traj_command;

use super::command::write;

fn traj(rig: &CodexRig, verb: &str, more: &[&str]) -> Output {
    let mut command = traj_command(rig.root());
    command.envs(rig.environment()).env("HOME", rig.root());
    command.args(["codex", verb, "--session"]).arg(rig.root().join("session.jsonl"));
    command.arg("--codex").arg(rig.program()).args(["--env", "SCRIPTED_KEY"]).args(more);
    command.output().expect("traj starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn record(rig: &CodexRig) -> BindingRecord {
    let bytes = read(&rig.root().join("session.jsonl.codex-binding.json"));
    let stored = decode_record(&bytes).expect("a record");
    let StoredBinding::Active(record) = stored else { unreachable!("the session is bound") };
    *record
}

/// A model and permissions that were chosen once hold for every turn, also after the loss of the
/// thread.
#[test]
fn the_choices_of_a_bind_hold_for_later_turns() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let choices = ["--model", "chosen-model", "--sandbox", "read-only", "--approval", "never"];
        let bound = traj(&rig, "bind", &choices);
        assert!(bound.status.success(), "{version}: {}", stderr(&bound));
        for round in 0..3 {
            let turn = traj(&rig, "turn", &["--prompt", "hello"]);
            assert!(turn.status.success(), "{version}: {}", stderr(&turn));
            let request = rig.model.requests().last().cloned().expect("a request");
            assert_eq!(request["model"], "chosen-model", "{version}");
            let record = record(&rig);
            assert_eq!(record.model.as_deref(), Some("chosen-model"), "{version}");
            assert_eq!(record.model_provider.as_deref(), Some("loopback"), "{version}");
            assert_eq!(record.sandbox, Some(SandboxMode::ReadOnly), "{version}");
            assert_eq!(record.approval_policy, Some(ApprovalPolicy::Never), "{version}");
            if round == 1 {
                let rollout = record.rollout_path.clone().expect("codex names its file");
                remove(Path::new(&rollout));
            }
        }
        let former = record(&rig).former_threads;
        assert!(former.iter().any(|former| former.turns == 2), "{version}: {former:?}");
    }
}

/// A record from before later members existed resumes its thread, gets those members, and loses
/// nothing, not even what this version does not know.
#[test]
fn the_record_of_an_older_version_is_completed_without_loss() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        rig.model.script("remember", [Reply::text("the word is heliotrope")]);
        let first = traj(&rig, "turn", &["--prompt", "remember it"]);
        assert!(first.status.success(), "{version}: {}", stderr(&first));
        let path = rig.root().join("session.jsonl.codex-binding.json");
        let full: Value = serde_json::from_slice(&read(&path)).expect("a record");
        let mut older = full.clone();
        let members = older.as_object_mut().expect("an object");
        assert!(members.remove("codexHome").is_some(), "{version}: it is a later member");
        members.remove("formerThreads");
        members.insert("futureMember".to_owned(), serde_json::json!({"kept": true}));
        write(&path, &older.to_string());
        let second = traj(&rig, "turn", &["--prompt", "which word?"]);
        assert!(second.status.success(), "{version}: {}", stderr(&second));
        let asked = rig.model.requests().last().cloned().expect("a request").to_string();
        assert!(asked.contains("heliotrope"), "{version}: the thread was resumed");
        let mut upgraded: Value = serde_json::from_slice(&read(&path)).expect("a record");
        assert_eq!(upgraded["turns"], 2, "{version}");
        assert_eq!(upgraded["futureMember"], serde_json::json!({"kept": true}), "{version}");
        upgraded.as_object_mut().expect("an object").remove("futureMember");
        for changed in ["turns", "updatedAt", "historyCoveredThrough"] {
            upgraded[changed] = full[changed].clone();
        }
        assert_eq!(upgraded, full, "{version}: the rest is as a new record has it");
    }
}

/// The binding of another program, with a thread of this Codex, keeps its history.
#[test]
fn the_binding_of_another_program_is_taken_over_with_its_thread() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        rig.model.script("remember", [Reply::text("the word is heliotrope")]);
        assert!(traj(&rig, "turn", &["--prompt", "remember it"]).status.success(), "{version}");
        let thread = record(&rig).thread;
        remove(&rig.root().join("session.jsonl.codex-binding.json"));
        let foreign = format!(
            r#"{{"schemaVersion":1,"sessionFile":"s","threadId":"{thread}","cwd":"{}","sandbox":"read-only"}}"#,
            rig.workspace().display()
        );
        write(&rig.root().join("session.jsonl.codex-app-server.json"), &foreign);
        let turn = traj(&rig, "turn", &["--prompt", "which word?"]);
        assert!(turn.status.success(), "{version}: {}", stderr(&turn));
        let taken = record(&rig);
        assert_eq!((&taken.thread, taken.sandbox), (&thread, Some(SandboxMode::ReadOnly)));
        let asked = rig.model.requests().last().cloned().expect("a request").to_string();
        assert!(asked.contains("heliotrope"), "{version}: the thread was resumed");
    }
}

/// A bind that cannot start a thread leaves the session bound to the old one.
#[test]
fn a_replacement_that_fails_keeps_the_binding() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    let turn = traj(&rig, "turn", &["--prompt", "hello"]);
    assert!(turn.status.success(), "{}", stderr(&turn));
    let before = record(&rig);
    let replaced = traj(&rig, "bind", &["--replace", "--model-provider", "no-such-provider"]);
    assert!(!replaced.status.success(), "the provider does not exist");
    let said = stderr(&replaced);
    assert!(said.contains("hint: Codex says: ") && said.contains("no-such-provider"), "{said}");
    assert_eq!(record(&rig), before);
    let again = traj(&rig, "bind", &["--replace"]);
    assert!(again.status.success(), "{}", stderr(&again));
    assert_eq!(record(&rig).former_threads[0].thread, before.thread);
}

/// Codex takes the switches of a granular approval policy as we spell them.
#[tokio::test]
async fn a_granular_approval_policy_is_accepted() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let mut granular = GranularApproval::default();
        granular.sandbox = true;
        let mut plan = rig.plan();
        plan.settings.approval_policy = Some(ApprovalPolicy::Granular(granular));
        let client = rig.connect().await;
        let ready = rig.ready(&client, &plan).await;
        assert_eq!(rig.turn(&client, &ready, "hello").await.text, "echo: hello", "{version}");
        client.release_thread(ready.thread()).await.expect("the thread is released");
        client.stop().await;
    }
}

#[expect(clippy::disallowed_methods, reason = "a file in the test's own directory")]
fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("a file of the test")
}

#[expect(clippy::disallowed_methods, reason = "a file in the test's own directory")]
fn remove(path: &Path) {
    std::fs::remove_file(path).expect("the file was there");
}
