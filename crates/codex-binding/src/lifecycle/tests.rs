//! Tests of the lifecycle with an in-memory server, and with mocks where only the order counts.

use async_trait::async_trait;
use mockall::{Sequence, mock};
use traj_core::binding::{
    ApprovalPolicy, BindingOrigin, Fingerprint, PastMessage, RefusalKind, SandboxMode, ServerText,
    ServiceTier, ToolSurface,
};
use traj_core::json::Json;
use traj_core::memory::{FixedClock, MemoryBindingStore, MemoryCodexHome, MemoryFailure};
use traj_core::port::{
    AppServerError, OpenedThread, StartThread, StartTurn, ThreadSummary, TurnService as _,
};

use super::*;

mod choices;
mod config;
mod homes;
mod refused;
mod rotation;

mock! {
    #[derive(Debug)]
    Server {}
    #[async_trait]
    impl ThreadService for Server {
        async fn start_thread(&self, start: StartThread) -> Result<OpenedThread, AppServerError>;
        async fn resume_thread(&self, resume: ResumeThread) -> Result<OpenedThread, AppServerError>;
        async fn read_thread(&self, thread: &ThreadId) -> Result<ThreadSummary, AppServerError>;
        async fn read_history(&self, thread: &ThreadId) -> Result<Vec<PastMessage>, AppServerError>;
        async fn add_history(&self, thread: &ThreadId, messages: Vec<PastMessage>) -> Result<(), AppServerError>;
        async fn release_thread(&self, thread: &ThreadId) -> Result<(), AppServerError>;
        fn home(&self) -> Option<String>;
    }
}

/// A server that says nothing about its home.
fn mock_server() -> MockServer {
    let mut server = MockServer::new();
    server.expect_home().returning(|| None);
    server
}

fn gone() -> AppServerError {
    AppServerError::Refused {
        method: "thread/resume",
        code: -32600,
        kind: RefusalKind::ThreadGone,
        text: ServerText::new(String::new()),
    }
}

fn tool(name: &str) -> Vec<Json<'static>> {
    vec![Json::parse(&format!(r#"{{"name":"{name}"}}"#)).unwrap().into_owned()]
}

struct World {
    store: MemoryBindingStore,
    home: MemoryCodexHome,
    lifecycle: ThreadLifecycle,
    plan: ThreadPlan,
}

fn world() -> World {
    world_in(MemoryCodexHome::new())
}

fn world_in(home: MemoryCodexHome) -> World {
    let store = MemoryBindingStore::new();
    let lifecycle = ThreadLifecycle::new(Arc::new(store.clone()), Arc::new(FixedClock::default()));
    let plan = ThreadPlan::new(BindingKey::parse("s.jsonl").unwrap(), "/w");
    World { store, home, lifecycle, plan }
}

impl World {
    async fn ready(&self, server: &dyn ThreadService) -> Result<ReadyThread, LifecycleError> {
        let loaded = LoadedThreads::new();
        self.lifecycle.ready(server, &loaded, &self.plan, &CancellationToken::new()).await
    }

    /// A session with a thread that has had a turn, after the server died.
    async fn with_history() -> (Self, ThreadId) {
        Self::with_history_in(MemoryCodexHome::new()).await
    }

    async fn with_history_in(home: MemoryCodexHome) -> (Self, ThreadId) {
        let world = world_in(home);
        let server = world.home.start_server();
        let thread = world.ready(&server).await.unwrap().thread().clone();
        server.start_turn(StartTurn::new(thread.clone(), vec![])).await.unwrap();
        world.lifecycle.turn_ended(&world.plan.key, &thread).await.unwrap();
        server.kill();
        (world, thread)
    }

    async fn attach(
        &self,
        server: &dyn ThreadService,
        thread: &ThreadId,
    ) -> Result<BindingRecord, LifecycleError> {
        let never = CancellationToken::new();
        self.lifecycle.attach(server, &self.plan, thread, &never).await
    }

    async fn bind_new(
        &self,
        server: &dyn ThreadService,
        replaces: Option<&ThreadId>,
    ) -> Result<BindingRecord, LifecycleError> {
        let (loaded, cancel) = (LoadedThreads::new(), CancellationToken::new());
        self.lifecycle.bind_new(server, &loaded, &self.plan, replaces, &cancel).await
    }

    fn stored(&self) -> Option<BindingRecord> {
        self.store.load(&self.plan.key).unwrap().map(|stored| stored.record)
    }
}

/// Scenario 59: after a restart the thread is resumed, with its history.
#[tokio::test]
async fn a_restart_keeps_the_thread() {
    let (world, thread) = World::with_history().await;
    let server = world.home.start_server();
    let ready = world.ready(&server).await.unwrap();
    assert_eq!((ready.thread(), &ready.how), (&thread, &HowOpened::Resumed));
    assert_eq!(server.calls(), ["thread/resume"]);
    assert_eq!(world.stored().unwrap().turns, 1);
}

/// Scenarios 33, 34 and 35: whatever goes wrong with the connection, the record stays.
#[tokio::test]
async fn a_failed_call_keeps_the_record() {
    let failures = [
        MemoryFailure::Die,
        MemoryFailure::DieAfter,
        MemoryFailure::TimeOut,
        MemoryFailure::Refuse(RefusalKind::Overloaded),
        MemoryFailure::Refuse(RefusalKind::Other),
        MemoryFailure::Refuse(RefusalKind::LoginExpired),
        MemoryFailure::Refuse(RefusalKind::Unsupported),
        MemoryFailure::Refuse(RefusalKind::ThreadNotLoaded),
    ];
    for failure in failures {
        let (world, thread) = World::with_history().await;
        let before = world.store.bytes(&world.plan.key);
        let server = world.home.start_server();
        server.fail_call(1, failure);
        let error = world.ready(&server).await.unwrap_err();
        assert!(matches!(error, LifecycleError::Server(_)), "{failure:?}: {error}");
        assert_eq!(server.calls(), ["thread/resume"], "{failure:?}: no thread is started");
        assert_eq!(world.store.bytes(&world.plan.key), before, "{failure:?}");
        server.kill();
        let again = world.ready(&world.home.start_server()).await.unwrap();
        assert_eq!(again.thread(), &thread);
    }
}

/// Scenario 35: a person who gives up during a resume loses nothing.
#[tokio::test]
async fn a_cancelled_resume_keeps_the_record() {
    let (world, thread) = World::with_history().await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let server = world.home.start_server();
    let loaded = LoadedThreads::new();
    let error = world.lifecycle.ready(&server, &loaded, &world.plan, &cancel).await.unwrap_err();
    assert!(matches!(error, LifecycleError::Cancelled), "{error}");
    assert_eq!(world.stored().unwrap().thread, thread);
    let other = ThreadId::parse("other").unwrap();
    let attaching = world.lifecycle.attach(&server, &world.plan, &other, &cancel).await;
    assert!(matches!(attaching, Err(LifecycleError::Cancelled)), "{attaching:?}");
    assert_eq!(world.stored().unwrap().thread, thread);
}

/// Scenario 37: a start that completes after it was cancelled leaves nothing behind.
#[tokio::test]
async fn a_start_after_the_end_writes_nothing() {
    let world = world();
    let cancel = CancellationToken::new();
    let cancelling = cancel.clone();
    let mut server = mock_server();
    server.expect_start_thread().times(1).returning(move |_| {
        cancelling.cancel();
        Ok(OpenedThread::new(ThreadId::parse("late").unwrap()))
    });
    let loaded = LoadedThreads::new();
    let error = world.lifecycle.ready(&server, &loaded, &world.plan, &cancel).await.unwrap_err();
    assert!(matches!(error, LifecycleError::Cancelled), "{error}");
    assert_eq!(world.stored(), None);
}

/// Scenarios 36 and 60: a rejection that proves the loss leads to exactly one start and is reported.
#[tokio::test]
async fn a_thread_that_is_gone_is_replaced_once_and_told() {
    let (world, thread) = World::with_history().await;
    let mut order = Sequence::new();
    let mut server = mock_server();
    server.expect_resume_thread().times(1).in_sequence(&mut order).returning(|_| Err(gone()));
    server
        .expect_start_thread()
        .times(1)
        .in_sequence(&mut order)
        .returning(|_| Ok(OpenedThread::new(ThreadId::parse("new").unwrap())));
    let ready = world.ready(&server).await.unwrap();
    let HowOpened::Replaced { lost } = ready.how else { panic!("not replaced: {:?}", ready.how) };
    assert_eq!((lost.thread, lost.turns), (thread, 1));
    assert!(lost.covered_through.is_some());
    assert_eq!(world.stored().unwrap().thread.as_str(), "new");
}

/// Scenario 39: an answer for another thread fails closed.
#[tokio::test]
async fn an_answer_for_another_thread_is_refused() {
    let (world, thread) = World::with_history().await;
    let mut server = mock_server();
    let other = || OpenedThread::new(ThreadId::parse("other").unwrap());
    server.expect_resume_thread().times(1).returning(move |_| Ok(other()));
    let error = world.ready(&server).await.unwrap_err();
    assert!(matches!(error, LifecycleError::ThreadMismatch { .. }), "{error}");
    assert_eq!(world.stored().unwrap().thread, thread);
}

/// A thread that never had a turn: still there on its server, nothing lost on another.
#[tokio::test]
async fn a_thread_that_was_never_used_loses_nothing() {
    let world = world();
    let server = world.home.start_server();
    let loaded = LoadedThreads::new();
    let cancel = CancellationToken::new();
    let first = world.lifecycle.ready(&server, &loaded, &world.plan, &cancel).await.unwrap();
    let again = world.lifecycle.ready(&server, &loaded, &world.plan, &cancel).await.unwrap();
    assert_eq!((again.thread(), &again.how), (first.thread(), &HowOpened::Resumed));
    let restarted = world.ready(&world.home.start_server()).await.unwrap();
    let HowOpened::Replaced { lost } = restarted.how else { panic!("{:?}", restarted.how) };
    assert_eq!(lost.turns, 0);
}

/// Scenario 38: when the replacement cannot be started, the old record is still there.
#[tokio::test]
async fn a_rotation_that_fails_keeps_the_old_record() {
    let (mut world, thread) = World::with_history().await;
    world.plan = world.plan.clone().with_tools(tool("t"));
    let server = world.home.start_server();
    server.fail_call(1, MemoryFailure::Die);
    world.ready(&server).await.unwrap_err();
    assert_eq!(world.stored().unwrap().thread, thread);
    let ready = world.ready(&world.home.start_server()).await.unwrap();
    let HowOpened::Rotated { lost, .. } = &ready.how else { panic!("{:?}", ready.how) };
    assert_eq!((&lost.thread, lost.turns), (&thread, 1));
    assert_eq!(world.stored().unwrap().thread, *ready.thread());
}

/// A store that fails after the new thread exists keeps the old record and releases the thread.
#[tokio::test]
async fn a_record_that_cannot_be_written_is_no_new_binding() {
    let (mut world, thread) = World::with_history().await;
    world.plan = world.plan.clone().with_tools(tool("t"));
    world.store.fail_call(2);
    let server = world.home.start_server();
    let error = world.ready(&server).await.unwrap_err();
    assert!(matches!(error, LifecycleError::Store(_)), "{error}");
    assert_eq!(server.calls(), ["thread/start", "thread/unsubscribe"]);
    assert_eq!(world.stored().unwrap().thread, thread);
}

/// Scenarios 16 and 26: a turn without tools gets a separate thread; the stored one is kept.
#[tokio::test]
async fn a_transient_turn_leaves_the_record_alone() {
    let mut world = world();
    let plain = world.plan.clone();
    let tools = plain.clone().with_tools(tool("t"));
    world.plan = tools.clone();
    let server = world.home.start_server();
    let bound = world.ready(&server).await.unwrap().thread().clone();
    server.start_turn(StartTurn::new(bound.clone(), vec![])).await.unwrap();
    let before = world.store.bytes(&world.plan.key);
    let mut disabled = tools.clone();
    disabled.wanted.tool_surface = ToolSurface::Disabled;
    for plan in [plain, disabled] {
        world.plan = plan;
        let ready = world.ready(&server).await.unwrap();
        assert!(matches!(ready.how, HowOpened::Transient { .. }), "{:?}", ready.how);
        assert_ne!(*ready.thread(), bound);
        assert_eq!(world.store.bytes(&world.plan.key), before);
    }
    world.plan = tools;
    let ready = world.ready(&server).await.unwrap();
    assert_eq!((ready.thread(), &ready.how), (&bound, &HowOpened::Resumed));
}

/// Scenario 30: an attached thread is taken as it is, once, and its fingerprints are recorded.
#[tokio::test]
async fn an_attached_thread_is_fingerprinted_at_its_first_resume() {
    let (mut world, thread) = World::with_history().await;
    world
        .lifecycle
        .change(&world.plan.key, |record| record.origin = BindingOrigin::Attached)
        .await
        .unwrap();
    world.plan.wanted.user_mcp = Some(Fingerprint::of(&Json::from("servers")));
    let ready = world.ready(&world.home.start_server()).await.unwrap();
    assert_eq!((ready.thread(), &ready.how), (&thread, &HowOpened::Resumed));
    let stored = world.stored().unwrap();
    assert_eq!(stored.origin, BindingOrigin::Started);
    assert_eq!(stored.fingerprints.user_mcp, world.plan.wanted.user_mcp);
}

/// Scenarios 40, 41 and 10 of the deviations: what was chosen for a binding is kept and sent.
#[tokio::test]
async fn choices_of_a_binding_survive_resume_and_rotation() {
    let (mut world, thread) = World::with_history().await;
    let change = |record: &mut BindingRecord| {
        record.auth_profile = Some("work".to_owned());
        record.approval_policy = Some(ApprovalPolicy::OnRequest);
        record.sandbox = Some(SandboxMode::ReadOnly);
        record.service_tier = ServiceTier::parse("fast");
        record.unknown.push("later", "kept");
    };
    world.lifecycle.change(&world.plan.key, change).await.unwrap();
    world.plan.settings.model = Some("other-model".to_owned());
    let mut server = mock_server();
    let answered = thread.clone();
    server.expect_resume_thread().times(1).returning(move |resume| {
        assert_eq!(resume.settings.approval_policy, Some(ApprovalPolicy::OnRequest));
        assert_eq!(resume.settings.sandbox, Some(SandboxMode::ReadOnly));
        assert_eq!(resume.settings.model.as_deref(), Some("other-model"));
        Ok(OpenedThread::new(answered.clone()))
    });
    let resumed = world.ready(&server).await.unwrap().record;
    assert_eq!(resumed.auth_profile.as_deref(), Some("work"));
    assert_eq!(resumed.model.as_deref(), Some("other-model"));
    world.plan = world.plan.clone().with_tools(tool("t"));
    let rotated = world.ready(&world.home.start_server()).await.unwrap().record;
    assert_ne!(rotated.thread, thread);
    assert_eq!(rotated.sandbox, Some(SandboxMode::ReadOnly));
    assert_eq!(rotated.service_tier, ServiceTier::parse("priority"));
    assert!(rotated.unknown.contains("later"));
}

/// Scenario 24: equal servers resume, and their configuration is sent again.
#[tokio::test]
async fn equal_servers_resume_and_are_sent_again() {
    let mut world = world();
    let servers = Json::parse(r#"{"s":{"command":"x"}}"#).unwrap();
    world.plan.wanted.user_mcp = Some(Fingerprint::of_mcp_servers(&servers));
    world.plan.settings.config.push("mcp_servers", servers);
    let server = world.home.start_server();
    let thread = world.ready(&server).await.unwrap().thread().clone();
    let mut server = mock_server();
    server.expect_resume_thread().times(1).returning(move |resume| {
        assert!(resume.settings.config.contains("mcp_servers"));
        Ok(OpenedThread::new(thread.clone()))
    });
    assert_eq!(world.ready(&server).await.unwrap().how, HowOpened::Resumed);
}

/// Two processes bind one session at once, without a lease: the binding is intact, and one of
/// the two has its thread.
#[tokio::test]
async fn of_two_who_bind_at_once_one_is_bound() {
    let world = world();
    let server = world.home.start_server();
    let other = world.home.start_server();
    let (first, second) = tokio::join!(world.ready(&server), world.ready(&other));
    let bound = world.stored().unwrap().thread;
    let threads: Vec<ThreadId> =
        [first, second].into_iter().flatten().map(|ready| ready.thread().clone()).collect();
    assert!(threads.contains(&bound), "{threads:?}");
}
