//! Bound turns on a server in memory.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio_util::sync::CancellationToken;
use traj_core::binding::{RefusalKind, TurnInput};
use traj_core::json::Json;
use traj_core::memory::{
    FixedClock, MemoryBindingStore, MemoryCodexHome, MemoryEventSink, MemoryFailure,
};
use traj_core::port::BindingKey;
use traj_core::redaction::{MarkerKey, RedactionPolicy, Redactor};

use super::*;
use crate::client::{Client, ClientOptions};
use crate::lifecycle::ThreadPlan;
use crate::transport::memory;

fn lifecycle() -> ThreadLifecycle {
    ThreadLifecycle::new(Arc::new(MemoryBindingStore::new()), Arc::new(FixedClock::default()))
}

fn plan() -> ThreadPlan {
    ThreadPlan::new(BindingKey::parse("s").unwrap(), "/w")
}

fn hello(plan: ThreadPlan) -> BoundTurnRequest {
    BoundTurnRequest::new(plan, TurnInput::text("hello"))
}

/// The data of the first event of this kind.
fn data(events: &MemoryEventSink, kind: &str) -> Json<'static> {
    let event = events.events().into_iter().find(|event| event.kind.as_str() == kind);
    Json::Object(event.unwrap().into_data().unwrap())
}

/// "Not found" from a turn means not loaded: resume the thread, then try the turn again.
#[tokio::test]
async fn a_thread_that_the_server_dropped_is_loaded_again() {
    let home = MemoryCodexHome::new();
    let server = home.start_server();
    let lifecycle = lifecycle();
    let loaded = LoadedThreads::new();
    let mut threads = Vec::new();
    for round in 0..2 {
        if round == 1 {
            server.fail_call(2, MemoryFailure::Refuse(RefusalKind::ThreadNotLoaded));
        }
        let turn = run_bound_turn(&lifecycle, &server, &loaded, &hello(plan())).await.unwrap();
        threads.push(turn.ready.thread().clone());
    }
    assert_eq!(threads[0], threads[1]);
    let calls = server.calls();
    assert_eq!(
        calls[2..],
        [
            "thread/unsubscribe",
            "thread/resume",
            "turn/start",
            "thread/resume",
            "turn/start",
            "thread/unsubscribe",
        ],
        "scenario 48: one release per turn"
    );
    assert_eq!(home.prompts(&threads[0]).unwrap(), ["hello", "hello"]);
}

/// The host states tools, prompt, instructions and profile once; the recording has them all.
#[tokio::test]
async fn what_the_plan_states_is_recorded() {
    let server = MemoryCodexHome::new().start_server();
    let tool = r#"{"name":"message","description":"Sends","inputSchema":{}}"#;
    let mut plan = plan().with_tools(vec![Json::parse(tool).unwrap()]);
    plan.settings.developer_instructions = Some("You speak for the host.".to_owned());
    plan.settings.model = Some("m".to_owned());
    plan.auth_profile = Some("work".to_owned());
    let events = MemoryEventSink::new();
    let request = hello(plan)
        .instructions("Be brief.")
        .session_file("s.jsonl")
        .recorded_in(Arc::new(events.clone()));
    run_bound_turn(&lifecycle(), &server, &LoadedThreads::new(), &request).await.unwrap();
    let started = data(&events, "session.started");
    let text = |name: &str| started.get(name).and_then(Json::as_str);
    assert_eq!(text("trigger"), Some("user"));
    assert_eq!(text("authProfileId"), Some("work"));
    assert_eq!(started.get("clientToolCount").and_then(Json::as_u64), Some(1));
    let compiled = data(&events, "context.compiled");
    let text = |name: &str| compiled.get(name).and_then(Json::as_str);
    assert_eq!(text("prompt"), Some("hello"));
    assert_eq!(text("systemPrompt"), Some("You speak for the host.\n\nBe brief."));
    let tools = compiled.get("tools").and_then(Json::as_array).unwrap();
    assert_eq!(tools.len(), 1);
}

/// A server that answers these methods with these results, and is silent otherwise.
#[derive(Debug)]
struct ScriptedServers {
    answers: &'static [(&'static str, &'static str)],
    asked: tokio::sync::watch::Sender<Vec<String>>,
}

const HELLO: (&str, &str) = ("initialize", r#"{"userAgent":"traj/0.166.0 (x)"}"#);
const THREAD: (&str, &str) = ("thread/start", r#"{"thread":{"id":"t"},"model":"m"}"#);
const TURN: (&str, &str) = ("turn/start", r#"{"turn":{"id":"u"}}"#);

impl ScriptedServers {
    fn new(answers: &'static [(&'static str, &'static str)]) -> Self {
        Self { answers, asked: tokio::sync::watch::Sender::default() }
    }

    /// Waits until the server was asked for this.
    async fn asked(&self, method: &str) {
        let mut asked = self.asked.subscribe();
        asked.wait_for(|asked| asked.iter().any(|known| known == method)).await.unwrap();
    }
}

#[async_trait]
impl Connector for ScriptedServers {
    async fn connect(&self) -> Result<Arc<dyn Connection>, AppServerError> {
        let (transport, mut peer) = memory();
        let (answers, asked) = (self.answers, self.asked.clone());
        drop(tokio::spawn(async move {
            let mut lines = BufReader::new(peer.reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let call = Json::parse(&line).unwrap();
                let method = call.get("method").and_then(Json::as_str).unwrap();
                asked.send_modify(|asked| asked.push(method.to_owned()));
                if let Some((_, result)) = answers.iter().find(|(known, _)| *known == method) {
                    let id = call.get("id").unwrap().to_line();
                    let line = format!("{{\"id\":{id},\"result\":{result}}}\n");
                    peer.writer.write_all(line.as_bytes()).await.unwrap();
                }
            }
        }));
        let policy = RedactionPolicy::standard(MarkerKey::new([7; 32]));
        let mut options = ClientOptions::standard(Redactor::new(policy));
        // Longer than any timeout of a test.
        options.handshake_timeout = Duration::from_secs(3_600);
        options.request_timeout = Duration::from_secs(3_600);
        Ok(Arc::new(Client::connect(transport, options).await?))
    }
}

/// How a turn ends on servers that answer only these methods: on its timeout, and on cancellation
/// after the server was asked for the first method that it does not answer.
async fn ends(
    answers: &'static [(&'static str, &'static str)],
    silent: &str,
) -> [(Result<BoundTurn, BoundTurnError>, Vec<String>); 2] {
    let timed_out = {
        let servers = ScriptedServers::new(answers);
        let events = MemoryEventSink::new();
        let request =
            hello(plan()).timeout(Duration::from_secs(5)).recorded_in(Arc::new(events.clone()));
        let began = tokio::time::Instant::now();
        let turn = run_connected_turn(&lifecycle(), &servers, &request).await;
        let limit = request.options.timeout + request.options.interrupt_timeout;
        assert!(began.elapsed() <= limit, "the paused clock shows the limit of the user");
        (turn, events.kinds())
    };
    let cancelled = {
        let servers = ScriptedServers::new(answers);
        let events = MemoryEventSink::new();
        let cancel = CancellationToken::new();
        let request =
            hello(plan()).cancelled_by(cancel.clone()).recorded_in(Arc::new(events.clone()));
        let cancelling = async {
            servers.asked(silent).await;
            cancel.cancel();
        };
        let lifecycle = lifecycle();
        let began = tokio::time::Instant::now();
        let (turn, ()) =
            tokio::join!(run_connected_turn(&lifecycle, &servers, &request), cancelling);
        let limit = request.options.interrupt_timeout;
        assert!(began.elapsed() <= limit, "nobody waits for a server that hangs");
        (turn, events.kinds())
    };
    [timed_out, cancelled]
}

/// The user's timeout starts before the first byte, and cancellation works at every stage.
#[tokio::test(start_paused = true)]
async fn a_turn_is_bounded_while_the_server_introduces_itself() {
    let [timed_out, cancelled] = ends(&[], "initialize").await;
    let stage = TurnStage::StartingServer;
    assert!(matches!(timed_out.0, Err(BoundTurnError::TimedOut { stage: at }) if at == stage));
    assert!(matches!(cancelled.0, Err(BoundTurnError::Cancelled { stage: at }) if at == stage));
    for (_, kinds) in [timed_out, cancelled] {
        assert_eq!(kinds, ["session.started", "session.ended"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_bounded_while_its_thread_opens() {
    let [timed_out, cancelled] = ends(&[HELLO], "thread/start").await;
    let stage = TurnStage::OpeningThread;
    assert!(matches!(timed_out.0, Err(BoundTurnError::TimedOut { stage: at }) if at == stage));
    assert!(matches!(cancelled.0, Err(BoundTurnError::Cancelled { stage: at }) if at == stage));
    for (_, kinds) in [timed_out, cancelled] {
        assert_eq!(kinds, ["session.started", "session.ended"]);
    }
}

/// A server that hangs is not stopped step by step while the user waits, but others may share it.
#[test]
fn a_server_whose_turn_was_given_up_is_busy() {
    let stage = TurnStage::OpeningThread;
    let after = |error| ServerState::after(&Err(error));
    assert_eq!(after(BoundTurnError::Cancelled { stage }), ServerState::Busy);
    assert_eq!(after(BoundTurnError::TimedOut { stage }), ServerState::Unusable);
    assert_eq!(after(BoundTurnError::ModelUnknown), ServerState::Idle);
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_bounded_while_it_starts() {
    for (turn, kinds) in ends(&[HELLO, THREAD], "turn/start").await {
        let Err(BoundTurnError::Turn(error)) = turn else { panic!("{turn:?}") };
        assert!(error.may_still_run(), "{error:?}");
        assert_eq!(kinds, ["session.started", "context.compiled", "session.ended"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_bounded_while_it_runs() {
    for (turn, kinds) in ends(&[HELLO, THREAD, TURN], "turn/start").await {
        let outcome = turn.unwrap().report.outcome;
        assert_eq!(outcome, TurnOutcome::TimedOut { confirmed: false });
        assert_eq!(kinds.last().map(String::as_str), Some("session.ended"));
    }
}
