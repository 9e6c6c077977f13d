//! Server processes that misbehave: they exit, hang, close their output, or print garbage.

use std::sync::Arc;
use std::time::Duration;

use codex_binding::transport::{ServerCommand, spawn};
use codex_binding::{
    BoundTurnError, BoundTurnRequest, Client, CodexProcess, HowOpened, ThreadLifecycle, ThreadPlan,
    TurnStage, run_connected_turn,
};
use traj_core::binding::TurnInput;
use traj_core::memory::{FixedClock, MemoryBindingStore};
use traj_core::port::{AppServerError, BindingKey, CloseCause};
use traj_tests::codex_rig::{CodexRig, PATIENCE, VERSIONS, client_options};

/// A server that is a shell script.
fn script(text: &str) -> ServerCommand {
    let environment = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
    let mut command = ServerCommand::codex("/bin/sh", environment, "/");
    command.arguments = vec!["-c".to_owned(), text.to_owned()];
    command
}

/// Completes the handshake like a server, then runs the script `then`.
fn greeting(then: &str) -> ServerCommand {
    let hello = r#"{"id":1,"result":{"userAgent":"traj/0.166.0 (x)"}}"#;
    script(&format!("read line; echo '{hello}'; read line; {then}"))
}

async fn connect(command: &ServerCommand) -> Result<Client, AppServerError> {
    connect_within(command, PATIENCE).await
}

async fn connect_within(
    command: &ServerCommand,
    handshake_timeout: Duration,
) -> Result<Client, AppServerError> {
    let mut options = client_options();
    options.handshake_timeout = handshake_timeout;
    options.stop_patience = Duration::from_millis(200);
    Client::connect(spawn(command).expect("a shell starts"), options).await
}

/// Whether a process with this id exists.
fn runs(process: u32) -> bool {
    let process = rustix::process::Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    rustix::process::test_kill_process(process).is_ok()
}

/// The last lines of standard error explain the exit. Secrets in them are hidden, and the message of
/// the error does not contain them.
#[tokio::test]
async fn a_server_that_exits_at_once_is_reported_with_its_last_words() {
    let secret = ["sk", "proj", "8fJ2kLm0Qw7ErTy4UiOp1AsDfGh"].join("-");
    let text = format!("echo first >&2; echo 'broken: OPENAI_API_KEY={secret}' >&2; exit 3");
    let error = connect(&script(&text)).await.unwrap_err();
    let cause = error.close_cause().expect("it closed");
    assert!(matches!(cause, CloseCause::Exited { code: Some(3), .. }), "{error}");
    let words = cause.last_words().expect("it said something");
    assert!(words.starts_with("first\nbroken: OPENAI_API_KEY="), "{words}");
    assert!(!words.contains(&secret), "{words}");
    assert!(cause.hint().is_some());
    assert!(!format!("{error} {error:?}").contains("broken"), "{error:?}");
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_reported_with_the_reason() {
    let command = ServerCommand::codex("/nonexistent/codex", vec![], "/");
    let error = CodexProcess::new(command, client_options()).start().await.unwrap_err();
    assert!(error.to_string().contains("No such file"), "{error}");
    assert!(error.close_cause().and_then(CloseCause::hint).is_some());
}

/// A turn on a server that hangs ends at the user's timeout.
#[tokio::test]
async fn a_turn_on_a_server_that_hangs_ends_in_time() {
    let rest = "trap '' TERM; while :; do read line || sleep 1; done";
    for (command, expected) in
        [(script(rest), TurnStage::StartingServer), (greeting(rest), TurnStage::OpeningThread)]
    {
        let mut options = client_options();
        options.stop_patience = Duration::from_millis(200);
        let store = Arc::new(MemoryBindingStore::new());
        let lifecycle = ThreadLifecycle::new(store, Arc::new(FixedClock::default()));
        let plan = ThreadPlan::new(BindingKey::parse("s.jsonl").unwrap(), "/");
        let request = BoundTurnRequest::new(plan, TurnInput::text("hello"))
            .timeout(Duration::from_millis(500));
        let process = CodexProcess::new(command, options);
        let turn = run_connected_turn(&lifecycle, &process, &request).await;
        let stage = match turn {
            Err(BoundTurnError::TimedOut { stage }) => stage,
            other => panic!("{other:?}"),
        };
        assert_eq!(stage, expected);
    }
}

#[tokio::test]
async fn a_server_that_does_not_greet_is_killed() {
    let silent = script("trap '' TERM; while :; do sleep 1; done");
    let error = connect_within(&silent, Duration::from_millis(300)).await.unwrap_err();
    assert!(matches!(error, AppServerError::TimedOut { .. }), "{error}");
}

#[tokio::test]
async fn a_server_that_closes_its_output_is_gone() {
    let client = connect(&greeting("exec 1>&-; sleep 60")).await.unwrap();
    assert!(matches!(client.wait_closed().await, CloseCause::Exited { .. }));
    let process = client.process_id().unwrap();
    client.stop().await;
    assert!(!runs(process), "no process is left");
}

/// Scenario 77: a server that ignores the end of its input and SIGTERM is killed with its children.
#[tokio::test]
async fn a_stubborn_server_is_killed_with_what_it_started() {
    assert_nothing_is_left("trap '' TERM; sleep 61 & echo $! >&2; while :; do sleep 1; done").await;
}

/// Scenario 77: what a server leaves behind when it exits by itself is ended, too.
#[tokio::test]
async fn what_a_server_leaves_behind_is_ended() {
    assert_nothing_is_left("sleep 61 & echo $! >&2; read line; exit 0").await;
}

/// Stops a server that writes the process id of a helper to its standard error.
async fn assert_nothing_is_left(server: &str) {
    let client = connect(&greeting(server)).await.unwrap();
    let process = client.process_id().unwrap();
    let helper = loop {
        let tail = client.stderr_tail().unwrap_or_default();
        if let Ok(number) = tail.trim().parse::<u32>() {
            break number;
        }
        tokio::task::yield_now().await;
    };
    client.stop().await;
    assert!(!runs(process), "the server has gone");
    // The helper is an orphan now; the process that adopted it reaps it.
    let reaping = async {
        while runs(helper) && !is_shadow(helper) {
            tokio::task::yield_now().await;
        }
    };
    let has_gone = tokio::time::timeout(PATIENCE, reaping).await;
    assert!(has_gone.is_ok(), "what it started has gone");
}

/// Whether a process is a zombie: dead, but not yet reaped.
#[expect(clippy::disallowed_methods, reason = "how to identify processes on Linux")]
fn is_shadow(process: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    state.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

/// A flood on standard error does not block the server.
#[tokio::test]
async fn a_flood_on_standard_error_is_drained() {
    let flood = "head -c 3000000 /dev/zero | tr '\\0' 'e' >&2; exit 0";
    let client = connect(&greeting(flood)).await.unwrap();
    let cause = client.wait_closed().await;
    assert_eq!(cause, CloseCause::exited(Some(0), None));
}

/// The real server works in a wrapper that prints garbage first.
#[tokio::test]
async fn garbage_before_the_protocol_is_survived() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let noise = r#"echo 'npm warn something'; echo '[1,2]'; echo '{"id":77,"result":{}}'; printf '\377\376\n'"#;
        let mut command = script(&format!("{noise}; exec {} app-server", rig.program().display()));
        command.environment = rig.environment();
        command.directory = rig.workspace();
        let client = Client::connect(spawn(&command).unwrap(), client_options()).await.unwrap();
        let ready = rig.ready(&client, &rig.plan()).await;
        assert_eq!(ready.how, HowOpened::Started, "{version}");
        assert_eq!(rig.turn(&client, &ready, "hello").await.text, "echo: hello", "{version}");
        let counters = client.counters();
        assert_eq!((counters.garbage_lines, counters.stray_answers), (3, 1), "{version}");
        client.stop().await;
    }
}
