//! What was chosen for a binding is sent and stored on every path.

use traj_core::binding::CredentialKind;

use super::*;

/// Stores every choice that a binding can hold.
async fn choose_everything(world: &World) {
    let change = |record: &mut BindingRecord| {
        record.auth_profile = Some("work".to_owned());
        record.model = Some("chosen-model".to_owned());
        record.model_provider = Some("mock".to_owned());
        record.approval_policy = Some(ApprovalPolicy::OnRequest);
        record.sandbox = Some(SandboxMode::ReadOnly);
        record.service_tier = ServiceTier::parse("flex");
        record.cwd = "/chosen".to_owned();
    };
    world.lifecycle.change(&world.plan.key, change).await.unwrap();
}

fn assert_sent(settings: &traj_core::port::ThreadSettings) {
    assert_eq!(settings.model.as_deref(), Some("chosen-model"));
    assert_eq!(settings.model_provider.as_deref(), Some("mock"));
    assert_eq!(settings.approval_policy, Some(ApprovalPolicy::OnRequest));
    assert_eq!(settings.sandbox, Some(SandboxMode::ReadOnly));
    assert_eq!(settings.service_tier, ServiceTier::parse("flex"));
}

fn assert_kept(record: &BindingRecord) {
    assert_eq!(record.auth_profile.as_deref(), Some("work"));
    assert_eq!(record.model.as_deref(), Some("chosen-model"));
    assert_eq!(record.model_provider.as_deref(), Some("mock"));
    assert_eq!(record.approval_policy, Some(ApprovalPolicy::OnRequest));
    assert_eq!(record.sandbox, Some(SandboxMode::ReadOnly));
    assert_eq!(record.service_tier, ServiceTier::parse("flex"));
    assert_eq!(record.cwd, "/chosen");
}

/// A server that starts the thread `new` and reports a model of its own.
fn starting_server() -> MockServer {
    let mut server = mock_server();
    server.expect_start_thread().times(1).returning(|start| {
        assert_sent(&start.settings);
        assert_eq!(start.cwd, "/chosen");
        let mut opened = OpenedThread::new(ThreadId::parse("new").unwrap());
        opened.model = Some("the-servers-model".to_owned());
        Ok(opened)
    });
    server
}

#[tokio::test]
async fn choices_survive_a_resume_although_the_server_reports_others() {
    let (world, thread) = World::with_history().await;
    choose_everything(&world).await;
    let mut server = mock_server();
    server.expect_resume_thread().times(1).returning(move |resume| {
        assert_sent(&resume.settings);
        let mut opened = OpenedThread::new(thread.clone());
        opened.model = Some("the-servers-model".to_owned());
        opened.cwd = Some("/elsewhere".to_owned());
        Ok(opened)
    });
    let ready = world.ready(&server).await.unwrap();
    assert_sent(&ready.settings);
    assert_kept(&world.stored().unwrap());
}

#[tokio::test]
async fn choices_survive_the_loss_of_the_thread() {
    let (world, thread) = World::with_history().await;
    choose_everything(&world).await;
    let mut server = starting_server();
    server.expect_resume_thread().times(1).returning(|_| Err(gone()));
    let ready = world.ready(&server).await.unwrap();
    assert_sent(&ready.settings);
    let stored = world.stored().unwrap();
    assert_kept(&stored);
    assert_ne!(stored.thread, thread);
}

#[tokio::test]
async fn choices_survive_a_rotation() {
    let (mut world, _) = World::with_history().await;
    choose_everything(&world).await;
    world.plan = world.plan.clone().with_tools(tool("t"));
    world.ready(&starting_server()).await.unwrap();
    assert_kept(&world.stored().unwrap());
}

#[tokio::test]
async fn choices_survive_a_new_bind() {
    let (world, thread) = World::with_history().await;
    choose_everything(&world).await;
    world.bind_new(&starting_server(), Some(&thread)).await.unwrap();
    assert_kept(&world.stored().unwrap());
}

#[tokio::test]
async fn choices_survive_attaching_the_thread_again() {
    let (world, thread) = World::with_history().await;
    choose_everything(&world).await;
    let mut server = mock_server();
    let answered = thread.clone();
    server.expect_resume_thread().times(1).returning(move |resume| {
        assert_sent(&resume.settings);
        let mut opened = OpenedThread::new(answered.clone());
        opened.cwd = Some("/elsewhere".to_owned());
        Ok(opened)
    });
    world.attach(&server, &thread).await.unwrap();
    let stored = world.stored().unwrap();
    assert_kept(&stored);
    assert_eq!((stored.turns, stored.former_threads.len()), (1, 0), "it is the same thread");
}

/// An attached thread works where it always has, not where the host happens to be.
#[tokio::test]
async fn an_attached_thread_keeps_its_own_directory() {
    let world = world();
    let thread = ThreadId::parse("theirs").unwrap();
    let mut server = mock_server();
    server.expect_resume_thread().times(2).returning(|resume| {
        let mut opened = OpenedThread::new(resume.thread);
        opened.cwd = Some("/theirs".to_owned());
        Ok(opened)
    });
    world.attach(&server, &thread).await.unwrap();
    let ready = world.ready(&server).await.unwrap();
    assert_eq!(ready.record.cwd, "/theirs");
}

#[tokio::test]
async fn the_directory_that_the_server_reports_for_a_new_thread_is_stored() {
    let world = world();
    let mut server = mock_server();
    server.expect_start_thread().times(1).returning(|_| {
        let mut opened = OpenedThread::new(ThreadId::parse("new").unwrap());
        opened.cwd = Some("/real/w".to_owned());
        Ok(opened)
    });
    world.ready(&server).await.unwrap();
    assert_eq!(world.stored().unwrap().cwd, "/real/w");
}

#[tokio::test]
async fn a_bind_stores_the_permissions_that_it_was_given() {
    let mut world = world();
    world.plan.settings.approval_policy = Some(ApprovalPolicy::Never);
    world.plan.settings.sandbox = Some(SandboxMode::ReadOnly);
    world.plan.settings.service_tier = ServiceTier::parse("fast");
    let server = world.home.start_server();
    let bound = world.bind_new(&server, None).await.unwrap();
    assert_eq!(Some(bound.clone()), world.stored());
    assert_eq!(bound.approval_policy, Some(ApprovalPolicy::Never));
    assert_eq!(bound.sandbox, Some(SandboxMode::ReadOnly));
    assert_eq!(bound.service_tier, ServiceTier::parse("priority"));
}

/// A turn may run with more rights than the session has; the next one does not inherit them.
#[tokio::test]
async fn a_turn_does_not_store_the_permissions_that_it_was_given() {
    let mut world = world();
    world.plan.settings.sandbox = Some(SandboxMode::DangerFullAccess);
    let ready = world.ready(&world.home.start_server()).await.unwrap();
    assert_eq!(ready.settings.sandbox, Some(SandboxMode::DangerFullAccess));
    assert_eq!(world.stored().unwrap().sandbox, None);
}

/// A new thread is started even if the stored one fits, or would make the turn transient.
#[tokio::test]
async fn a_start_that_is_asked_for_never_resumes() {
    let (mut world, thread) = World::with_history().await;
    let server = world.home.start_server();
    let bound = world.bind_new(&server, Some(&thread)).await.unwrap();
    assert_ne!(bound.thread, thread);
    assert_eq!(server.calls(), ["thread/start"]);
    assert_eq!(bound.former_threads[0].thread, thread);
    let tools = world.plan.clone().with_tools(tool("t"));
    let plain = std::mem::replace(&mut world.plan, tools);
    let with_tools = world.bind_new(&server, Some(&bound.thread)).await.unwrap();
    world.plan = plain;
    let without = world.bind_new(&server, Some(&with_tools.thread)).await.unwrap();
    assert_eq!(world.stored(), Some(without), "what is returned is what is bound");
}

#[tokio::test]
async fn a_bind_that_fails_keeps_the_binding() {
    let (world, thread) = World::with_history().await;
    let before = world.store.bytes(&world.plan.key);
    let server = world.home.start_server();
    server.fail_call(1, MemoryFailure::Refuse(RefusalKind::Other));
    world.bind_new(&server, Some(&thread)).await.unwrap_err();
    assert_eq!(world.store.bytes(&world.plan.key), before);
}

#[tokio::test]
async fn a_bind_does_not_replace_a_thread_that_the_caller_has_not_seen() {
    let (world, _) = World::with_history().await;
    let before = world.store.bytes(&world.plan.key);
    let server = world.home.start_server();
    let error = world.bind_new(&server, None).await.unwrap_err();
    let is_conflict = matches!(error, LifecycleError::Store(BindingStoreError::Conflict { .. }));
    assert!(is_conflict, "{error}");
    assert_eq!((server.calls(), world.store.bytes(&world.plan.key)), (vec![], before));
}

/// Scenario 40: the stored account is used and kept; a requested one replaces it.
#[tokio::test]
async fn an_account_that_is_asked_for_beats_the_stored_one() {
    let (mut world, _) = World::with_history().await;
    choose_everything(&world).await;
    world.plan.default_auth_profile = Some("first".to_owned());
    for (asked, expected) in [(None, "work"), (Some("private"), "private"), (None, "private")] {
        world.plan.auth_profile = asked.map(str::to_owned);
        let server = world.home.start_server();
        let record = world.ready(&server).await.unwrap().record;
        assert_eq!(record.auth_profile.as_deref(), Some(expected), "{asked:?}");
        assert_eq!(world.stored(), Some(record));
        server.kill();
    }
}

/// Scenarios 2 to 5, in the file: under a subscription, "openai" is Codex's own provider, and the
/// credential that the host states decides, not the name of the account.
#[tokio::test]
async fn the_provider_openai_is_written_for_an_api_key_only() {
    for (credential, provider) in
        [(CredentialKind::Subscription, None), (CredentialKind::Other, Some("openai"))]
    {
        let mut world = world();
        world.plan.auth_profile = Some("openai:work".to_owned());
        world.plan.credential = credential;
        world.plan.settings.model_provider = Some("openai".to_owned());
        let mut server = mock_server();
        server.expect_start_thread().times(1).returning(move |start| {
            assert_eq!(start.settings.model_provider.as_deref(), provider);
            let mut opened = OpenedThread::new(ThreadId::parse("new").unwrap());
            opened.model_provider = Some("openai".to_owned());
            Ok(opened)
        });
        world.ready(&server).await.unwrap();
        assert_eq!(world.stored().unwrap().model_provider.as_deref(), provider);
        let bytes = world.store.bytes(&world.plan.key).expect("a record");
        let is_written = String::from_utf8_lossy(&bytes).contains("modelProvider");
        assert_eq!(is_written, provider.is_some());
    }
}

/// Scenario 3: a record from before the subscription is corrected at the next turn.
#[tokio::test]
async fn a_stored_openai_is_dropped_once_there_is_a_subscription() {
    let (mut world, thread) = World::with_history().await;
    let openai = |record: &mut BindingRecord| record.model_provider = Some("openai".to_owned());
    world.lifecycle.change(&world.plan.key, openai).await.unwrap();
    world.plan.credential = CredentialKind::Subscription;
    let mut server = mock_server();
    server.expect_resume_thread().times(1).returning(move |resume| {
        assert_eq!(resume.settings.model_provider, None);
        Ok(OpenedThread::new(thread.clone()))
    });
    world.ready(&server).await.unwrap();
    assert_eq!(world.stored().unwrap().model_provider, None);
}
