//! Tests of turns on an in-memory server: ends, interruptions, losses, and their recording.

use traj_core::json::Json;
use traj_core::memory::{MemoryAppServer, MemoryCodexHome, MemoryEventSink};
use traj_core::port::{ApprovalDecision, DenyAll, StartThread, ThreadService as _, ThreadSettings};

use super::*;
use crate::handler::{AllowList, ApprovalAnswer, AskHandler};

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
    let began = tokio::time::Instant::now();
    let ((report, kinds), ()) = tokio::join!(run(&server, &thread, &options), killing);
    assert!(matches!(report, Err(TurnError::Lost { .. })), "{report:?}");
    assert_eq!(began.elapsed(), Duration::ZERO, "the paused clock shows that nobody waited");
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

/// If the server does not confirm the interruption in time, the report says so.
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

/// The approvals that a turn records while the server asks, or while the request is dropped.
async fn approvals(handler: Arc<dyn RequestHandler>, is_dropped: bool) -> String {
    let (server, thread) = opened().await;
    server.hold_turns();
    let asking = async {
        tokio::task::yield_now().await;
        let params = r#"{"itemId":"c1","command":"make test","reason":"outside"}"#;
        let params = Json::parse(params).unwrap();
        let mut request =
            crate::protocol::read_request("item/commandExecution/requestApproval", params);
        request.thread = Some(thread.clone());
        let asking = server.ask(request);
        if is_dropped {
            let timeout = tokio::time::timeout(Duration::from_secs(1), asking).await;
            assert!(timeout.is_err(), "the handler hangs");
        } else {
            asking.await.unwrap();
        }
        server.finish_turn(&thread);
    };
    let options = TurnOptions::standard(handler);
    let kept = MemoryEventSink::new();
    let sink: Arc<dyn EventSink> = Arc::new(kept.clone());
    let facts = TurnFacts::new("hello");
    let turn = run_turn(&server, start(&thread), &options, &facts, &sink);
    let (report, ()) = tokio::join!(turn, asking);
    assert_eq!(report.unwrap().outcome, TurnOutcome::Completed);
    let events = kept.events().into_iter();
    let approvals = events.filter(|event| event.kind.as_str().starts_with("approval."));
    let lines: Vec<String> = approvals
        .map(|event| {
            let kind = event.kind.clone();
            let data = Json::Object(event.into_data().unwrap()).to_line();
            format!("{} {}", kind.as_str(), data.replace(thread.as_str(), "THREAD"))
        })
        .collect();
    lines.join("\n")
}

#[tokio::test]
async fn an_approval_is_recorded_with_who_decided() {
    insta::assert_snapshot!(approvals(Arc::new(DenyAll::new()), false).await, @r#"
    approval.asked {"threadId":"THREAD","approvalId":"c1","toolCallId":"c1","subject":"make test","reason":"outside"}
    approval.decided {"threadId":"THREAD","approvalId":"c1","toolCallId":"c1","subject":"make test","reason":"everything is declined","decision":"denied","decidedBy":"policy"}
    "#);
    let alice = AskHandler::new(|_| async {
        ApprovalAnswer::from(ApprovalDecision::AcceptForSession).named("alice")
    });
    insta::assert_snapshot!(approvals(Arc::new(alice), false).await, @r#"
    approval.asked {"threadId":"THREAD","approvalId":"c1","toolCallId":"c1","subject":"make test","reason":"outside"}
    approval.decided {"threadId":"THREAD","approvalId":"c1","toolCallId":"c1","subject":"make test","decision":"approvedForSession","decidedBy":"user","deciderName":"alice","scope":"session"}
    "#);
    let list = AllowList::new("build rules").command("make test");
    insta::assert_snapshot!(approvals(Arc::new(list), false).await, @r#"
    approval.asked {"threadId":"THREAD","approvalId":"c1","toolCallId":"c1","subject":"make test","reason":"outside"}
    approval.decided {"threadId":"THREAD","approvalId":"c1","toolCallId":"c1","subject":"make test","decision":"approved","decidedBy":"policy","deciderName":"build rules","scope":"once"}
    "#);
}

/// A request that nobody answers in time is declined, and the record says so.
#[tokio::test(start_paused = true)]
async fn an_approval_that_is_not_answered_is_recorded_as_declined() {
    let hanging = AskHandler::new(|_| std::future::pending());
    insta::assert_snapshot!(approvals(Arc::new(hanging), true).await, @r#"
    approval.asked {"threadId":"THREAD","approvalId":"c1","toolCallId":"c1","subject":"make test","reason":"outside"}
    approval.decided {"threadId":"THREAD","approvalId":"c1","toolCallId":"c1","subject":"make test","reason":"no answer in time","decision":"denied","decidedBy":"nobody"}
    "#);
}

/// A person who gives up at the question decides nothing, and the run ends after that.
#[tokio::test]
async fn an_approval_that_waits_when_the_turn_ends_is_decided_before_the_end() {
    let (server, thread) = opened().await;
    server.hold_turns();
    let options = TurnOptions::standard(Arc::new(AskHandler::new(|_| std::future::pending())));
    let asking = async {
        tokio::task::yield_now().await;
        let params = Json::parse(r#"{"itemId":"c1","command":"make test"}"#).unwrap();
        let mut request =
            crate::protocol::read_request("item/commandExecution/requestApproval", params);
        request.thread = Some(thread.clone());
        let mut waiting = Box::pin(server.ask(request));
        assert!(is_pending(&mut waiting).await);
        options.cancel.cancel();
        // The question outlives the turn.
        (waiting,)
    };
    let ((report, kinds), _waiting) = tokio::join!(run(&server, &thread, &options), asking);
    assert_eq!(report.unwrap().outcome, TurnOutcome::Interrupted);
    let end = [
        "prompt.submitted",
        "approval.asked",
        "approval.decided",
        "model.completed",
        "session.ended",
    ];
    assert_eq!(kinds[2..], end);
}

/// Whether a future waits after it was polled once.
async fn is_pending<F: Future + Unpin>(future: &mut F) -> bool {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(context).is_pending())
    })
    .await
}
