//! What a rotation costs, and how to avoid or soften it.

use traj_core::binding::{
    CarryOver, ChangePolicy, ContextEngineFacts, FormerReason, RotateReason, RotationPolicy,
    Speaker, TurnInput,
};

use super::*;

/// Opens the thread and runs a turn on it.
async fn run_turn(
    world: &World,
    server: &traj_core::memory::MemoryAppServer,
    text: &str,
) -> ReadyThread {
    let ready = world.ready(server).await.unwrap();
    let turn = StartTurn::new(ready.thread().clone(), TurnInput::text(text).items());
    server.start_turn(turn).await.unwrap();
    world.lifecycle.turn_ended(&world.plan.key, ready.thread()).await.unwrap();
    ready
}

fn texts(messages: &[PastMessage]) -> Vec<&str> {
    messages.iter().map(|message| message.text.as_str()).collect()
}

#[tokio::test]
async fn a_rotation_says_what_the_model_no_longer_sees_and_keeps_the_id() {
    let (mut world, thread) = World::with_history().await;
    world.plan = world.plan.clone().with_tools(tool("t"));
    let ready = world.ready(&world.home.start_server()).await.unwrap();
    let notice = ready.how.notice().unwrap();
    assert!(notice.contains("dynamic-tools"), "{notice}");
    assert!(
        notice.contains(&format!("no longer sees the only turn of thread {thread}")),
        "{notice}"
    );
    let former = world.stored().unwrap().former_threads;
    assert_eq!((&former[0].thread, former[0].reason), (&thread, FormerReason::Rotated));
    // The history is still there.
    let server = world.home.start_server();
    let back = world.attach(&server, &thread).await.unwrap();
    assert_eq!(back.former_threads[0].thread, *ready.thread());
    assert_eq!(back.former_threads.len(), 1);
}

#[tokio::test]
async fn a_change_that_only_warns_resumes_and_keeps_what_the_thread_was_started_with() {
    let (mut world, thread) = World::with_history().await;
    let before = world.stored().unwrap().fingerprints;
    world.plan = world.plan.clone().with_tools(tool("t"));
    for (policy, warned) in
        [(ChangePolicy::Warn, vec![RotateReason::DynamicTools]), (ChangePolicy::Ignore, vec![])]
    {
        world.plan.wanted.rotation =
            RotationPolicy::default().with(RotateReason::DynamicTools, policy);
        let server = world.home.start_server();
        let ready = world.ready(&server).await.unwrap();
        assert_eq!((ready.thread(), &ready.how), (&thread, &HowOpened::Resumed));
        assert_eq!(ready.warnings, warned);
        assert_eq!(world.stored().unwrap().fingerprints, before);
        server.kill();
    }
    world.plan.wanted.rotation = RotationPolicy::default();
    let ready = world.ready(&world.home.start_server()).await.unwrap();
    assert!(matches!(ready.how, HowOpened::Rotated { .. }), "{:?}", ready.how);
}

#[tokio::test]
async fn a_rotation_carries_the_history_over_if_the_plan_says_so() {
    for (carry, expected) in [(CarryOver::history(), 2), (CarryOver::summary(), 1)] {
        let mut world = world();
        let server = world.home.start_server();
        run_turn(&world, &server, "hello").await;
        world.plan = world.plan.clone().with_tools(tool("t"));
        world.plan.carry_over = carry;
        let ready = run_turn(&world, &server, "again").await;
        let HowOpened::Rotated { lost, .. } = &ready.how else { panic!("{:?}", ready.how) };
        assert_eq!(lost.carried, carry);
        assert!(ready.how.notice().unwrap().contains("but it got"));
        let history = world.home.history(ready.thread()).unwrap();
        assert_eq!(history.len(), expected + 2);
        assert_eq!(history[0].speaker, Speaker::Person);
        assert!(history[0].text.contains("hello"));
    }
}

/// Scenarios 19 to 22: the engine that a thread was started with is stored, and another one, another
/// version of it, or none starts a new thread.
#[tokio::test]
async fn a_context_engine_that_appears_changes_or_goes_rotates_the_thread() {
    let (mut world, _) = World::with_history().await;
    let engine = |version: &str| {
        let mut facts = ContextEngineFacts::new("memory".to_owned());
        facts.version = Some(version.to_owned());
        facts.token_budget = Some(90_000);
        facts.binding()
    };
    let reasons = [RotateReason::ContextEngine];
    for (wanted, expected) in [
        (engine("1"), "rotated"),
        (engine("1"), "resumed"),
        (engine("2"), "rotated"),
        (None, "rotated"),
        (None, "resumed"),
    ] {
        world.plan.wanted.context_engine.clone_from(&wanted);
        let server = world.home.start_server();
        let ready = run_turn(&world, &server, "hello").await;
        server.kill();
        assert_eq!(ready.how.as_str(), expected, "{wanted:?}");
        if let HowOpened::Rotated { reasons: stated, .. } = &ready.how {
            assert_eq!(*stated, reasons);
        }
        assert_eq!(world.stored().unwrap().context_engine, wanted);
    }
    let policy = engine("1").unwrap().policy;
    assert!(policy.contains("90000"), "{policy}");
}

/// The new thread was not on disk yet: its successor continues the same history.
#[tokio::test]
async fn a_crash_between_a_rotation_and_its_first_turn_loses_no_history() {
    let mut world = world();
    let server = world.home.start_server();
    run_turn(&world, &server, "hello").await;
    world.plan = world.plan.clone().with_tools(tool("t"));
    world.plan.carry_over = CarryOver::history();
    world.ready(&server).await.unwrap();
    server.kill();
    let server = world.home.start_server();
    let ready = run_turn(&world, &server, "again").await;
    assert!(matches!(ready.how, HowOpened::Replaced { .. }), "{:?}", ready.how);
    let history = world.home.history(ready.thread()).unwrap();
    assert_eq!(texts(&history), ["hello", "echo: hello", "again", "echo: again"]);
}

/// What was carried over to a thread is not among its messages.
#[tokio::test]
async fn a_second_rotation_carries_what_the_first_one_carried() {
    let mut world = world();
    let server = world.home.start_server();
    world.plan.carry_over = CarryOver::history();
    for (name, text) in [("a", "one"), ("b", "two"), ("c", "three")] {
        world.plan = world.plan.clone().with_tools(tool(name));
        run_turn(&world, &server, text).await;
    }
    let history = world.home.history(&world.stored().unwrap().thread).unwrap();
    assert_eq!(texts(&history), ["one", "echo: one", "two", "echo: two", "three", "echo: three"]);
}

/// A crash during the first turn can leave a file that Codex cannot read.
#[tokio::test]
async fn a_damaged_thread_without_a_turn_is_replaced_and_one_with_turns_is_kept() {
    let world = world();
    let server = world.home.start_server();
    let ready = world.ready(&server).await.unwrap();
    let turn = StartTurn::new(ready.thread().clone(), vec![]);
    server.start_turn(turn).await.unwrap();
    server.kill();
    world.home.damage(ready.thread());
    let replaced = world.ready(&world.home.start_server()).await.unwrap();
    assert!(matches!(replaced.how, HowOpened::Replaced { .. }), "{:?}", replaced.how);
    assert_eq!(replaced.record.former_threads[0].thread, *ready.thread());

    let (world, thread) = World::with_history().await;
    world.home.damage(&thread);
    let error = world.ready(&world.home.start_server()).await.unwrap_err();
    assert!(matches!(error, LifecycleError::DamagedThread { .. }), "{error}");
    assert_eq!(world.stored().unwrap().thread, thread);
}

#[tokio::test]
async fn a_history_that_cannot_be_read_now_stops_the_rotation() {
    for failing in [1, 3] {
        let (mut world, thread) = World::with_history().await;
        world.plan = world.plan.clone().with_tools(tool("t"));
        world.plan.carry_over = CarryOver::history();
        let before = world.store.bytes(&world.plan.key);
        let server = world.home.start_server();
        server.fail_call(failing, MemoryFailure::TimeOut);
        world.ready(&server).await.unwrap_err();
        assert_eq!(world.store.bytes(&world.plan.key), before, "call {failing}");
        // A server that does not have the history does not block the session for
        // good.
        world.home.delete(&thread);
        let ready = world.ready(&server).await.unwrap();
        let HowOpened::Rotated { lost, .. } = &ready.how else { panic!("{:?}", ready.how) };
        assert_eq!(lost.carried, CarryOver::Nothing);
    }
}
