//! Turns on a server in memory: ends, interruptions, losses, and what is recorded of them.

use traj_core::json::Json;
use traj_core::memory::{MemoryAppServer, MemoryCodexHome, MemoryEventSink};
use traj_core::port::{DenyAll, StartThread, ThreadService as _, ThreadSettings};

use super::*;

fn options() -> TurnOptions {
    TurnOptions::standard(Arc::new(DenyAll::new()))
}

async fn opened() -> (MemoryAppServer, ThreadId) {
    let server = MemoryCodexHome::new().start_server();
    let start = StartThread::new("/w".to_owned(), ThreadSettings::default());
    let thread = server.start_thread(start).await.unwrap().thread;
    (server, thread)
}

fn start(thread: &ThreadId) -> StartTurn {
    StartTurn::new(thread.clone(), traj_core::binding::TurnInput::text("hello").items())
}

async fn run(
    server: &MemoryAppServer,
    thread: &ThreadId,
    options: &TurnOptions,
) -> (Result<TurnReport, TurnError>, Vec<String>) {
    let kept = MemoryEventSink::new();
    let sink: Arc<dyn EventSink> = Arc::new(kept.clone());
    let facts = TurnFacts::new("hello");
    let report = run_turn(server, start(thread), options, &facts, &sink).await;
    (report, kept.kinds())
}

const WHOLE: [&str; 5] =
    ["session.started", "context.compiled", "prompt.submitted", "model.completed", "session.ended"];

#[tokio::test]
async fn a_turn_is_heard_to_its_end_and_recorded() {
    let (server, thread) = opened().await;
    let (report, kinds) = run(&server, &thread, &options()).await;
    let report = report.unwrap();
    assert_eq!((report.outcome, report.text.as_str()), (TurnOutcome::Completed, "echo: hello"));
    assert_eq!(kinds, WHOLE);
}

/// Scenario 62: the end of the server ends the turn at once.
#[tokio::test(start_paused = true)]
async fn a_dead_server_ends_the_turn() {
    let (server, thread) = opened().await;
    server.hold_turns();
    let killing = async {
        tokio::task::yield_now().await;
        server.kill();
    };
    let options = options();
    let ((report, kinds), ()) = tokio::join!(run(&server, &thread, &options), killing);
    assert!(matches!(report, Err(TurnError::Lost { .. })), "{report:?}");
    assert_eq!(kinds, WHOLE);
}

/// Scenario 63: a turn that takes too long is interrupted, and confirms before anything follows.
#[tokio::test(start_paused = true)]
async fn a_turn_that_takes_too_long_is_interrupted() {
    let (server, thread) = opened().await;
    server.hold_turns();
    let (report, _) = run(&server, &thread, &options()).await;
    assert_eq!(report.unwrap().outcome, TurnOutcome::TimedOut { confirmed: true });
    assert_eq!(server.calls(), ["thread/start", "turn/start", "turn/interrupt"]);
}

/// A server that does not confirm is given up in time, and that is told.
#[tokio::test(start_paused = true)]
async fn an_interrupt_without_an_answer_is_told() {
    let (server, thread) = opened().await;
    server.hold_turns();
    server.fail_call(2, traj_core::memory::MemoryFailure::TimeOut);
    let (report, kinds) = run(&server, &thread, &options()).await;
    assert_eq!(report.unwrap().outcome, TurnOutcome::TimedOut { confirmed: false });
    assert_eq!(kinds.last().map(String::as_str), Some("session.ended"));
}

#[tokio::test]
async fn a_person_interrupts() {
    let (server, thread) = opened().await;
    server.hold_turns();
    let options = options();
    options.cancel.cancel();
    let (report, _) = run(&server, &thread, &options).await;
    assert_eq!(report.unwrap().outcome, TurnOutcome::Interrupted);
}

#[tokio::test]
async fn a_turn_that_does_not_start_is_recorded_as_ended() {
    let (server, _) = opened().await;
    let unknown = ThreadId::parse("unknown").unwrap();
    let (report, kinds) = run(&server, &unknown, &options()).await;
    assert!(report.unwrap_err().is_not_loaded());
    assert_eq!(kinds, ["session.started", "context.compiled", "session.ended"]);
}

/// What the server asked leave for, and what it was told, is on the timeline.
#[tokio::test]
async fn an_approval_is_recorded_with_its_decision() {
    let (server, thread) = opened().await;
    server.hold_turns();
    let asking = async {
        tokio::task::yield_now().await;
        let params = Json::parse(r#"{"itemId":"c1","command":"make test"}"#).unwrap();
        let mut request =
            crate::protocol::read_request("item/commandExecution/requestApproval", params);
        request.thread = Some(thread.clone());
        let answer = server.ask(request).await;
        server.finish_turn(&thread);
        answer
    };
    let options = options();
    let kept = MemoryEventSink::new();
    let sink: Arc<dyn EventSink> = Arc::new(kept.clone());
    let facts = TurnFacts::new("hello");
    let turn = run_turn(&server, start(&thread), &options, &facts, &sink);
    let (report, answer) = tokio::join!(turn, asking);
    assert_eq!((report.unwrap().outcome, answer), (TurnOutcome::Completed, None));
    let approvals: Vec<String> = kept
        .events()
        .into_iter()
        .filter(|event| event.kind.as_str().starts_with("approval."))
        .map(|event| {
            let kind = event.kind.clone();
            let data = Json::Object(event.into_data().unwrap()).to_line();
            format!("{} {}", kind.as_str(), data.replace(thread.as_str(), "THREAD"))
        })
        .collect();
    insta::assert_snapshot!(approvals.join("\n"), @r#"
    approval.asked {"threadId":"THREAD","approvalId":"c1","toolCallId":"c1","subject":"make test"}
    approval.decided {"threadId":"THREAD","approvalId":"c1","toolCallId":"c1","subject":"make test","decision":"denied"}
    "#);
}
