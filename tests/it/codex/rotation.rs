//! Threads that are replaced, or that another Codex home hides.

use codex_binding::transport::{ServerCommand, spawn};
use codex_binding::{Client, HowOpened, LifecycleError, LoadedThreads};
use tokio_util::sync::CancellationToken;
use traj_core::binding::{BOUND_THREAD_INSTRUCTIONS, CarryOver};
use traj_core::json::Json;
use traj_tests::codex_rig::{CodexRig, VERSIONS, client_options};
use traj_tests::model_server::Reply;

/// A server that uses another, empty home.
async fn connect_elsewhere(rig: &CodexRig) -> Client {
    let home = rig.root().join("other-home");
    copy_configuration(&rig.codex_home(), &home);
    let mut environment = rig.environment();
    for (name, value) in &mut environment {
        if name == "CODEX_HOME" {
            *value = home.to_string_lossy().into_owned();
        }
    }
    let command = ServerCommand::codex(rig.program(), environment, rig.workspace());
    let transport = spawn(&command).expect("codex starts");
    Client::connect(transport, client_options()).await.expect("codex introduces itself")
}

/// A turn with another `CODEX_HOME` is refused, and the next one with the right home
/// continues the thread.
#[tokio::test]
async fn a_turn_with_another_codex_home_keeps_the_binding() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let plan = rig.plan();
        let client = rig.connect().await;
        let ready = rig.ready(&client, &plan).await;
        rig.turn(&client, &ready, "hello").await;
        client.stop().await;
        let before = rig.store.bytes(&plan.key);

        let elsewhere = connect_elsewhere(&rig).await;
        let (loaded, cancel) = (LoadedThreads::new(), CancellationToken::new());
        let error = rig.keeper.ready(&elsewhere, &loaded, &plan, &cancel).await.unwrap_err();
        elsewhere.stop().await;
        let LifecycleError::OtherHome { stored, current, .. } = &error else {
            panic!("{version}: {error}");
        };
        assert!(stored.ends_with("/home") && current.ends_with("/other-home"), "{error:?}");
        assert_eq!(rig.store.bytes(&plan.key), before, "{version}");

        let client = rig.connect().await;
        let again = rig.ready(&client, &plan).await;
        assert_eq!((again.thread(), &again.how), (ready.thread(), &HowOpened::Resumed));
        client.stop().await;
    }
}

/// After a change of tools, the model of the new thread reads what was said on the old one.
#[tokio::test]
async fn a_rotation_carries_the_history_to_the_model() {
    for version in VERSIONS {
        for carry in [CarryOver::history(), CarryOver::summary()] {
            let Some(rig) = CodexRig::new(version) else { continue };
            rig.model.script("remember", [Reply::text("the word is heliotrope")]);
            let plan = rig.plan();
            let client = rig.connect().await;
            let ready = rig.ready(&client, &plan).await;
            rig.turn(&client, &ready, "remember this").await;
            client.stop().await;

            let tool = r#"{"type":"function","name":"look","description":"Looks.","inputSchema":{"type":"object","properties":{}}}"#;
            let mut plan = plan.with_tools(vec![Json::parse(tool).unwrap()]);
            plan.carry_over = carry;
            let client = rig.connect().await;
            let rotated = rig.ready(&client, &plan).await;
            let HowOpened::Rotated { lost, .. } = &rotated.how else {
                panic!("{version}: {:?}", rotated.how);
            };
            assert_eq!((&lost.thread, lost.carried), (ready.thread(), carry), "{version}");
            rig.turn(&client, &rotated, "which word?").await;
            let asked = rig.model.requests().last().expect("a request").to_string();
            assert!(asked.contains("heliotrope"), "{version}: {carry:?}");
            client.stop().await;

            // What was carried over is part of the thread from now on.
            let client = rig.connect().await;
            let resumed = rig.ready(&client, &plan).await;
            assert_eq!(resumed.how, HowOpened::Resumed, "{version}");
            rig.turn(&client, &resumed, "still?").await;
            let asked = rig.model.requests().last().expect("a request").to_string();
            assert!(asked.contains("heliotrope"), "{version}: {carry:?} after a restart");
            client.stop().await;
        }
    }
}

/// The model of a conversation is told where its replies go.
#[tokio::test]
async fn the_default_instructions_reach_the_model() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let plan = rig.plan().in_conversation();
        let client = rig.connect().await;
        let ready = rig.ready(&client, &plan).await;
        rig.turn(&client, &ready, "hello").await;
        let asked = rig.model.requests().last().expect("a request").to_string();
        assert!(asked.contains(BOUND_THREAD_INSTRUCTIONS), "{version}");
        client.stop().await;
    }
}

#[expect(clippy::disallowed_methods, reason = "files in the test's own directory")]
fn copy_configuration(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).expect("a directory for the test");
    std::fs::copy(from.join("config.toml"), to.join("config.toml")).expect("a copy");
}
