//! Tests of conversations on in-memory servers.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use traj_core::binding::{
    ApprovalPolicy, BOUND_THREAD_INSTRUCTIONS, ExecLayer, ExecPolicy, InboundMessage,
    MessageSender, RefusalKind, SandboxMode, ServiceTier as Tier,
};
use traj_core::id::ThreadId;
use traj_core::memory::{FixedClock, MemoryBindingStore, MemoryEventSink, MemoryFailure};
use traj_core::port::{BindingStore as _, DenyAll, NodeTurnError};
use traj_core::redaction::{MarkerKey, RedactionPolicy};

mod bind;
mod leases;
mod notices;

use super::*;
use crate::lifecycle::ThreadPlan;
use crate::pool::tests::MemoryConnector;
use crate::pool::{Connector, PoolKey};
use crate::transport::ServerCommand;

pub(super) struct World {
    pub(super) store: MemoryBindingStore,
    pub(super) connector: Arc<MemoryConnector>,
    conversations: Conversations,
    events: MemoryEventSink,
}

pub(super) fn world() -> World {
    world_with(|_| {})
}

fn world_with(change: impl FnOnce(&mut ConversationOptions)) -> World {
    let store = MemoryBindingStore::new();
    let lifecycle = ThreadLifecycle::new(Arc::new(store.clone()), Arc::new(FixedClock::default()));
    let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
    let mut options = ConversationOptions::standard(Arc::new(DenyAll::new()), redactor);
    change(&mut options);
    let conversations = Conversations::new(lifecycle, ClientPool::new(), options);
    World { store, connector: Arc::default(), conversations, events: MemoryEventSink::new() }
}

fn data() -> ConversationData {
    let session_file = "s.jsonl".to_owned();
    ConversationData::AppServer { session_file, workspace: None, agent_dir: None }
}

fn key() -> BindingKey {
    BindingKey::parse("s.jsonl").unwrap()
}

impl World {
    fn message(&self, text: &str) -> Inbound {
        let message = InboundMessage::new(MessageSender::Authorized, Some(text.to_owned()), None);
        let command = ServerCommand::codex("codex", vec![], "/w");
        let server = PoolKey::of(&command, None, &MarkerKey::new([1; 32]));
        let connector: Arc<dyn Connector> = self.connector.clone();
        let runtime = Permissions::new(ApprovalPolicy::Never, SandboxMode::WorkspaceWrite);
        let server = ServerChoice { key: server, connector };
        let policy = ExecPolicy::resolve(&[], None);
        let permissions = HostPermissions { policy, runtime };
        Inbound::new(message, ThreadPlan::new(key(), "/w"), server, permissions)
            .in_conversation(data())
            .recorded_in(Arc::new(self.events.clone()))
    }

    pub(super) async fn say(&self, text: &str) -> String {
        match self.conversations.inbound(self.message(text), &CancellationToken::new()).await {
            Handled::Reply(reply) => reply,
            other => panic!("no reply: {other:?}"),
        }
    }

    fn calls(&self, server: usize) -> Vec<&'static str> {
        self.connector.started.lock().unwrap()[server].calls()
    }

    pub(super) fn record(&self) -> BindingRecord {
        self.store.load(&key()).unwrap().unwrap().record
    }
}

#[tokio::test]
async fn messages_run_on_one_thread_and_are_recorded() {
    let world = world();
    assert_eq!(world.say("one").await, "echo: one");
    assert_eq!(world.say("two").await, "echo: two");
    let calls = world.calls(0);
    let expected = ["thread/start", "turn/start", "thread/unsubscribe", "thread/resume"];
    assert_eq!(calls[..4], expected);
    assert_eq!(world.events.kinds().iter().filter(|kind| *kind == "session.ended").count(), 2);
}

/// Scenario 49: a message from an unauthorised sender starts nothing.
#[tokio::test]
async fn unauthorised_and_empty_messages_are_silent() {
    let world = world();
    for (sender, text) in [(MessageSender::Other, "hi"), (MessageSender::Authorized, "  ")] {
        let mut inbound = world.message(text);
        inbound.message.sender = sender;
        let handled = world.conversations.inbound(inbound, &CancellationToken::new()).await;
        assert_eq!(handled, Handled::Silent);
    }
    assert!(world.connector.started.lock().unwrap().is_empty(), "no server was started");
}

/// Scenario 51.
#[tokio::test]
async fn a_sandboxed_session_is_told_why_and_starts_nothing() {
    let world = world();
    let mut inbound = world.message("hi");
    inbound.facts.host_sandbox_active = true;
    let handled = world.conversations.inbound(inbound, &CancellationToken::new()).await;
    assert!(matches!(handled, Handled::Reply(reply) if reply.contains("sandboxing is active")));
    assert!(world.connector.started.lock().unwrap().is_empty());
}

/// Scenarios 53 and 54: a policy that Codex cannot enforce rejects the message before any request.
#[tokio::test]
async fn a_touched_policy_refuses_before_anything_is_sent() {
    let world = world();
    for (mode, words) in [("deny", "tools.exec.mode=deny"), ("ask", "interactive approvals")] {
        let mut inbound = world.message("hi");
        inbound.permissions.policy = ExecPolicy::resolve(&[ExecLayer::mode(mode)], None);
        let handled = world.conversations.inbound(inbound, &CancellationToken::new()).await;
        assert!(matches!(&handled, Handled::Reply(reply) if reply.contains(words)), "{handled:?}");
    }
    assert!(world.connector.started.lock().unwrap().is_empty());
    // Also if the thread has to be replaced.
    world.say("one").await;
    world.connector.home.delete(&world.record().thread);
    world.connector.started.lock().unwrap()[0].kill();
    let bound = world.store.bytes(&key());
    let mut inbound = world.message("hi");
    inbound.permissions.policy = ExecPolicy::resolve(&[ExecLayer::mode("auto")], None);
    let handled = world.conversations.inbound(inbound, &CancellationToken::new()).await;
    assert!(matches!(&handled, Handled::Reply(reply) if reply.contains("interactive approvals")));
    assert_eq!(world.connector.started.lock().unwrap().len(), 1, "no server was started");
    assert_eq!(world.store.bytes(&key()), bound);
}

/// Scenario 52: a session on a node runs through the host's port.
#[tokio::test]
async fn node_sessions_run_through_the_host() {
    #[derive(Debug, Default)]
    struct Nodes(Mutex<Vec<NodeTurn>>);
    #[async_trait]
    impl NodeSessions for Nodes {
        async fn resume(&self, turn: NodeTurn) -> Result<String, NodeTurnError> {
            self.0.lock().unwrap().push(turn);
            Ok(" done \n".to_owned())
        }
    }
    let nodes = Arc::new(Nodes::default());
    let world = world_with(|options| options.nodes = Some(nodes.clone()));
    let mut inbound = world.message("hi").within(Duration::from_secs(77));
    let (node, session) = ("n".to_owned(), "s".to_owned());
    inbound.data = Some(ConversationData::CliNode { node, session, cwd: Some("/w".to_owned()) });
    let handled = world.conversations.inbound(inbound.clone(), &CancellationToken::new()).await;
    assert_eq!(handled, Handled::Reply("done".to_owned()));
    let turns = std::mem::take(&mut *nodes.0.lock().unwrap());
    assert_eq!((turns[0].node.as_str(), turns[0].session.as_str()), ("n", "s"));
    assert_eq!((turns[0].prompt.as_str(), turns[0].cwd.as_deref()), ("hi", Some("/w")));
    assert_eq!(turns[0].timeout, Duration::from_secs(77));
    // Whether there is a node runtime is known from the options alone.
    let without = self::world();
    let handled = without.conversations.inbound(inbound, &CancellationToken::new()).await;
    let is_told =
        matches!(&handled, Handled::Reply(reply) if reply.contains("no node runtime is attached"));
    assert!(is_told, "{handled:?}");
}

/// Scenarios 55 and 59: after a restart the thread is resumed with what was chosen for it.
#[tokio::test]
async fn a_restart_keeps_thread_and_choices() {
    let world = world();
    world.say("one").await;
    let thread = world.record().thread;
    world.conversations.choose_tier(&key(), "fast").await.unwrap();
    let chosen = Permissions::new(ApprovalPolicy::OnRequest, SandboxMode::ReadOnly);
    world.conversations.choose_permissions(&key(), chosen).await.unwrap();
    world.connector.started.lock().unwrap()[0].kill();
    assert_eq!(world.say("two").await, "echo: two");
    assert_eq!(world.calls(1), ["thread/resume", "turn/start", "thread/unsubscribe"]);
    let record = world.record();
    assert_eq!(record.thread, thread);
    assert_eq!(record.service_tier, Tier::parse("priority"));
    assert_eq!(record.sandbox, Some(SandboxMode::ReadOnly));
    assert_eq!(world.connector.home.prompts(&thread).unwrap(), ["one", "two"]);
}

/// Scenario 60: a lost thread is replaced, and the reply says so.
#[tokio::test]
async fn lost_history_is_told() {
    let world = world();
    world.say("one").await;
    world.connector.home.delete(&world.record().thread);
    world.connector.started.lock().unwrap()[0].kill();
    let reply = world.say("two").await;
    assert!(reply.starts_with("Codex no longer has thread"), "{reply}");
    assert!(reply.contains("its only turn is lost"), "{reply}");
    assert!(reply.ends_with("echo: two"), "{reply}");
}

/// Scenario 56: without a record, a new thread is started and the message is answered.
#[tokio::test]
async fn a_missing_record_starts_anew() {
    let world = world();
    world.say("one").await;
    assert!(world.conversations.bind_denied(&data(), &key()).await.unwrap(), "scenario 58");
    assert!(world.store.load(&key()).unwrap().is_none());
    assert_eq!(world.say("two").await, "echo: two");
}

/// A server that dies before the turn begins is replaced; a death during the turn is reported.
#[tokio::test]
async fn deaths_before_a_turn_are_survived_and_deaths_in_it_are_told() {
    let world = world();
    world.say("one").await;
    let server = world.connector.started.lock().unwrap()[0].clone();
    server.fail_call(1, MemoryFailure::Die);
    assert_eq!(world.say("two").await, "echo: two");
    let server = world.connector.started.lock().unwrap()[1].clone();
    server.fail_call(2, MemoryFailure::DieAfter);
    let reply = world.say("three").await;
    assert!(reply.starts_with("Codex app-server turn failed: "), "{reply}");
    assert_eq!(world.say("four").await, "echo: four", "the queue moves on");
}

/// Scenario 57: a rejection is shown without its markup.
#[tokio::test]
async fn refusals_are_shown_safely() {
    let world = world();
    world.say("one").await;
    let server = world.connector.started.lock().unwrap()[0].clone();
    server.fail_call(2, MemoryFailure::Refuse(RefusalKind::Other));
    let reply = world.say("two").await;
    assert!(reply.starts_with("Codex app-server turn failed: "), "{reply}");
    assert!(!reply.contains('(') && !reply.contains('`'), "{reply}");
}

#[tokio::test]
async fn a_running_turn_is_steered_and_stopped() {
    let world = world();
    world.say("one").await;
    assert!(matches!(world.conversations.stop(&data()).await, ControlOutcome::NothingRuns));
    let server = world.connector.started.lock().unwrap()[0].clone();
    server.hold_turns();
    let inbound = world.message("two");
    let never = CancellationToken::new();
    let running = world.conversations.inbound(inbound, &never);
    let controlling = async {
        while matches!(
            world.conversations.steer(&data(), "more").await,
            ControlOutcome::NothingRuns
        ) {
            tokio::task::yield_now().await;
        }
        let blank = world.conversations.steer(&data(), " ").await;
        assert!(matches!(blank, ControlOutcome::NothingToSay));
        assert!(matches!(world.conversations.stop(&data()).await, ControlOutcome::Sent));
    };
    let (handled, ()) = tokio::join!(running, controlling);
    assert_eq!(handled, Handled::Reply("Codex was interrupted.".to_owned()));
    let calls = server.calls();
    let ending = ["turn/steer", "turn/interrupt", "thread/unsubscribe"];
    assert_eq!(calls[calls.len() - 3..], ending);
}

/// Scenario 64: two messages of one conversation never run at once, and a failure does not stop the
/// queue.
#[tokio::test]
async fn messages_wait_for_each_other() {
    let world = world();
    world.say("zero").await;
    let server = world.connector.started.lock().unwrap()[0].clone();
    server.fail_call(2, MemoryFailure::Refuse(RefusalKind::Other));
    let (first, second) = tokio::join!(world.say("one"), world.say("two"));
    assert!(first.contains("failed"), "{first}");
    assert_eq!(second, "echo: two");
}

/// A thousand conversations with waiting messages on one server: all are answered, in order, and
/// nothing of them is left.
#[tokio::test]
async fn a_thousand_conversations_share_one_server() {
    const CONVERSATIONS: usize = 1_000;
    let world = world();
    let never = CancellationToken::new();
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..CONVERSATIONS {
        for message in 0..2 {
            let mut inbound = world.message(&format!("{number}-{message}"));
            let session_file = format!("s{number}.jsonl");
            inbound.plan.key = BindingKey::parse(&session_file).unwrap();
            inbound.data = Some(ConversationData::AppServer {
                session_file,
                workspace: None,
                agent_dir: None,
            });
            let (conversations, never) = (world.conversations.clone(), never.clone());
            tasks.spawn(async move { conversations.inbound(inbound, &never).await });
        }
    }
    let mut answered = 0;
    while let Some(handled) = tasks.join_next().await {
        let Ok(Handled::Reply(reply)) = handled else { panic!("no reply: {handled:?}") };
        assert!(reply.starts_with("echo: "), "{reply}");
        answered += 1;
    }
    assert_eq!(answered, 2 * CONVERSATIONS);
    assert_eq!(world.connector.started.lock().unwrap().len(), 1);
    assert!(world.conversations.queue.is_empty(), "no key is left");
    assert_eq!(world.connector.started.lock().unwrap()[0].listener_count(), 0);
}

/// A message may have its own timeout.
#[tokio::test(start_paused = true)]
async fn a_message_has_its_own_timeout() {
    let world = world();
    world.say("one").await;
    world.connector.started.lock().unwrap()[0].hold_turns();
    let began = Instant::now();
    let inbound = world.message("two").within(Duration::from_secs(7));
    let handled = world.conversations.inbound(inbound, &CancellationToken::new()).await;
    assert!(matches!(&handled, Handled::Reply(reply) if reply.contains("too long")), "{handled:?}");
    assert_eq!(began.elapsed().as_secs(), 7, "the paused clock shows whose timeout it was");
}

/// The record of a conversation has its instructions and its credential profile.
#[tokio::test]
async fn the_system_prompt_of_a_conversation_is_recorded() {
    for (own, expected) in
        [(Some("You are in a chat."), "You are in a chat."), (None, BOUND_THREAD_INSTRUCTIONS)]
    {
        let world = world();
        let mut inbound = world.message("hi");
        inbound.plan.settings.developer_instructions = own.map(str::to_owned);
        inbound.plan.auth_profile = Some("work".to_owned());
        world.conversations.inbound(inbound, &CancellationToken::new()).await;
        let recorded = |kind: &str, name: &str| {
            let mut events = world.events.events().into_iter();
            let event = events.find(|event| event.kind.as_str() == kind).unwrap();
            event.into_data().unwrap().get(name).and_then(|value| Some(value.as_str()?.to_owned()))
        };
        assert_eq!(recorded("context.compiled", "systemPrompt").as_deref(), Some(expected));
        assert_eq!(recorded("session.started", "authProfileId").as_deref(), Some("work"));
    }
}
