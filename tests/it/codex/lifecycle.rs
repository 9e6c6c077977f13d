//! The lifecycle of bindings with the real Codex CLI, on every pinned version.

use codex_binding::{HowOpened, LifecycleError, LoadedThreads};
use tokio_util::sync::CancellationToken;
use traj_core::id::ThreadId;
use traj_core::port::{BindingStore as _, ThreadService as _};
use traj_tests::codex_rig::{CodexRig, VERSIONS, newest};
use traj_tests::model_server::Reply;

/// All requests to the model, as one string.
fn sent(rig: &CodexRig) -> String {
    rig.model.requests().last().expect("a request").to_string()
}

/// After a start, a turn, a kill and a resume, the model sees the first turn again (scenario 59).
#[tokio::test]
async fn history_survives_the_death_of_the_server() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        rig.model.script("remember", [Reply::text("the word is heliotrope")]);
        let plan = rig.plan();
        let client = rig.connect().await;
        assert_eq!(client.server_version(), Some(version));
        let ready = rig.ready(&client, &plan).await;
        assert_eq!(ready.how, HowOpened::Started);
        let report = rig.turn(&client, &ready, "remember this").await;
        assert_eq!(report.text, "the word is heliotrope", "{version}");
        kill(client.process_id());
        client.wait_closed().await;

        let client = rig.connect().await;
        let resumed = rig.ready(&client, &plan).await;
        assert_eq!((resumed.thread(), &resumed.how), (ready.thread(), &HowOpened::Resumed));
        assert_eq!(rig.turn(&client, &resumed, "which word?").await.text, "echo: which word?");
        assert!(sent(&rig).contains("heliotrope"), "{version}: the history reached the model");
        assert_eq!(rig.store.load(&plan.key).unwrap().unwrap().record.turns, 2);
        client.stop().await;
    }
}

/// Unknown and deleted threads are replaced, and the loss is reported (scenario 60).
#[tokio::test]
async fn deleted_threads_are_replaced_and_reported() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let plan = rig.plan();
        let client = rig.connect().await;
        let ready = rig.ready(&client, &plan).await;
        rig.turn(&client, &ready, "hello").await;
        client.stop().await;
        let rollout = ready.record.rollout_path.clone().expect("codex names its file");
        remove_file(&rollout);

        let client = rig.connect().await;
        let replaced = rig.ready(&client, &plan).await;
        let HowOpened::Replaced { lost } = &replaced.how else {
            panic!("{version}: {:?}", replaced.how);
        };
        assert_eq!((&lost.thread, lost.turns), (ready.thread(), 1), "{version}");
        assert_ne!(replaced.thread(), ready.thread());
        assert_eq!(rig.turn(&client, &replaced, "again").await.text, "echo: again");

        let unknown = "0199a213-0000-7000-8000-000000000000";
        let unknown = ThreadId::parse(unknown).unwrap();
        rig.keeper.change(&plan.key, |record| record.thread = unknown.clone()).await.unwrap();
        let ready = rig.ready(&client, &plan).await;
        assert!(matches!(ready.how, HowOpened::Replaced { .. }), "{version}: {:?}", ready.how);
        client.stop().await;
    }
}

/// A thread without a turn works on its own server; another server replaces it without a loss.
#[tokio::test]
async fn a_thread_without_a_turn_loses_nothing() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let plan = rig.plan();
        let client = rig.connect().await;
        let loaded = LoadedThreads::new();
        let cancel = CancellationToken::new();
        let first = rig.keeper.ready(&client, &loaded, &plan, &cancel).await.unwrap();
        let again = rig.keeper.ready(&client, &loaded, &plan, &cancel).await.unwrap();
        assert_eq!((again.thread(), &again.how), (first.thread(), &HowOpened::Resumed));
        client.stop().await;
        let client = rig.connect().await;
        let replaced = rig.ready(&client, &plan).await;
        let HowOpened::Replaced { lost } = &replaced.how else {
            panic!("{version}: {:?}", replaced.how);
        };
        assert_eq!(lost.turns, 0, "{version}");
        client.stop().await;
    }
}

/// A thread that is open elsewhere, archived or damaged has a distinct outcome; the record stays.
#[tokio::test]
async fn threads_that_cannot_be_opened_keep_their_record() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    let plan = rig.plan();
    let client = rig.connect().await;
    let ready = rig.ready(&client, &plan).await;
    rig.turn(&client, &ready, "hello").await;
    let bound = rig.store.bytes(&plan.key);
    let loaded = LoadedThreads::new();
    let cancel = CancellationToken::new();

    let other = rig.connect().await;
    let error = rig.keeper.ready(&other, &loaded, &plan, &cancel).await.unwrap_err();
    assert!(matches!(error, LifecycleError::OpenElsewhere { .. }), "{error}");
    client.stop().await;
    other.stop().await;

    let rollout = ready.record.rollout_path.clone().expect("codex names its file");
    let whole = read_file(&rollout);
    write_file(&rollout, "garbage\n");
    let client = rig.connect().await;
    let error = rig.keeper.ready(&client, &loaded, &plan, &cancel).await.unwrap_err();
    assert!(matches!(error, LifecycleError::DamagedThread { .. }), "{error}");
    client.stop().await;
    write_file(&rollout, &whole);
    assert_eq!(rig.store.bytes(&plan.key), bound);

    let client = rig.connect().await;
    let ready = rig.ready(&client, &plan).await;
    assert_eq!(ready.how, HowOpened::Resumed, "the history is whole again");
    let summary = client.read_thread(ready.thread()).await.unwrap();
    assert_eq!(summary.turns, Some(1));
    client.stop().await;

    let archived = std::process::Command::new(rig.program())
        .args(["archive", ready.thread().as_str()])
        .env_clear()
        .envs(rig.environment())
        .current_dir(rig.workspace())
        .output()
        .expect("codex starts");
    assert!(archived.status.success(), "{}", String::from_utf8_lossy(&archived.stderr));
    let client = rig.connect().await;
    let error = rig.keeper.ready(&client, &loaded, &plan, &cancel).await.unwrap_err();
    assert!(matches!(error, LifecycleError::Archived { .. }), "{error}");
    client.stop().await;
}

#[expect(clippy::disallowed_methods, reason = "a file in the test's own directory")]
fn remove_file(path: &str) {
    std::fs::remove_file(path).expect("codex wrote it");
}

#[expect(clippy::disallowed_methods, reason = "a file in the test's own directory")]
fn read_file(path: &str) -> String {
    std::fs::read_to_string(path).expect("codex wrote it")
}

#[expect(clippy::disallowed_methods, reason = "a file in the test's own directory")]
fn write_file(path: &str, text: &str) {
    std::fs::write(path, text).expect("it can be written");
}

fn kill(process: Option<u32>) {
    use rustix::process::{Pid, Signal, kill_process};
    let process = i32::try_from(process.expect("a child")).expect("a process number");
    kill_process(Pid::from_raw(process).expect("a process number"), Signal::KILL)
        .expect("it lives");
}
