//! A server that looks in another Codex home does not prove that a thread is gone.

use traj_core::binding::{FormerReason, encode_record};

use super::*;

fn assert_other_home(result: Result<ReadyThread, LifecycleError>) {
    let error = result.unwrap_err();
    let LifecycleError::OtherHome { stored, current, .. } = &error else { panic!("{error}") };
    assert_eq!((stored.as_str(), current.as_str()), ("/home/a", "/home/b"));
}

#[tokio::test]
async fn a_turn_with_another_home_keeps_the_binding() {
    let (world, thread) = World::with_history_in(MemoryCodexHome::at("/home/a")).await;
    let before = world.store.bytes(&world.plan.key);
    let elsewhere = MemoryCodexHome::at("/home/b").start_server();
    assert_other_home(world.ready(&elsewhere).await);
    assert_eq!(elsewhere.calls(), ["thread/resume"], "nothing is started");
    assert_eq!(world.store.bytes(&world.plan.key), before);
    let ready = world.ready(&world.home.start_server()).await.unwrap();
    assert_eq!((ready.thread(), &ready.how), (&thread, &HowOpened::Resumed));
}

#[tokio::test]
async fn a_rotation_with_another_home_keeps_the_binding() {
    let (mut world, _) = World::with_history_in(MemoryCodexHome::at("/home/a")).await;
    let before = world.store.bytes(&world.plan.key);
    world.plan = world.plan.clone().with_tools(tool("t"));
    assert_other_home(world.ready(&MemoryCodexHome::at("/home/b").start_server()).await);
    assert_eq!(world.store.bytes(&world.plan.key), before);
}

/// A record from before homes were stored still has the path of its rollout.
#[tokio::test]
async fn the_home_of_an_older_record_is_known_from_its_rollout_path() {
    let (world, _) = World::with_history_in(MemoryCodexHome::at("/home/a")).await;
    let mut older = world.stored().unwrap();
    assert_eq!(older.codex_home.take().as_deref(), Some("/home/a"));
    world.store.put_bytes(&world.plan.key, encode_record(&older).as_bytes());
    assert_other_home(world.ready(&MemoryCodexHome::at("/home/b").start_server()).await);
}

#[tokio::test]
async fn a_thread_that_is_gone_from_its_own_home_is_replaced_and_its_id_is_kept() {
    let (world, thread) = World::with_history_in(MemoryCodexHome::at("/home/a")).await;
    world.home.delete(&thread);
    let ready = world.ready(&world.home.start_server()).await.unwrap();
    assert!(matches!(ready.how, HowOpened::Replaced { .. }), "{:?}", ready.how);
    let former = world.stored().unwrap().former_threads;
    assert_eq!(former.len(), 1);
    assert_eq!((&former[0].thread, former[0].reason), (&thread, FormerReason::Gone));
    assert_eq!((former[0].turns, former[0].codex_home.as_deref()), (1, Some("/home/a")));
}
