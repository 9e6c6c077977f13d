//! Conversations whose turns another process may run.

use traj_core::memory::MemoryTurnLeases;
use traj_core::port::TurnLeases as _;

use super::*;

/// A world, and the leases that it shares with another process.
fn shared_world() -> (World, MemoryTurnLeases) {
    let leases = MemoryTurnLeases::new();
    let world = world_with(|options| options.leases = Some(Arc::new(leases.clone())));
    (world, leases)
}

#[tokio::test(start_paused = true)]
async fn a_message_waits_for_the_turn_of_another_process() {
    let (world, leases) = shared_world();
    let theirs = leases.try_take(&key()).unwrap().expect("nobody holds it");
    let ending = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert!(world.connector.started.lock().unwrap().is_empty(), "it waits");
        drop(theirs);
    };
    let (reply, ()) = tokio::join!(world.say("one"), ending);
    assert_eq!(reply, "echo: one");
    assert!(leases.try_take(&key()).unwrap().is_some(), "it is returned after the turn");
}

#[tokio::test(start_paused = true)]
async fn the_wait_is_part_of_the_time_of_a_message() {
    let (world, leases) = shared_world();
    let theirs = leases.try_take(&key()).unwrap();
    let inbound = world.message("one").within(Duration::from_secs(7));
    let began = Instant::now();
    let handled = world.conversations.inbound(inbound, &CancellationToken::new()).await;
    let is_told = matches!(&handled, Handled::Reply(reply) if reply.contains("another process"));
    assert!(is_told, "{handled:?}");
    assert_eq!(began.elapsed().as_secs(), 7, "the paused clock");
    let withdrawn = CancellationToken::new();
    withdrawn.cancel();
    let inbound = world.message("two");
    assert_eq!(world.conversations.inbound(inbound, &withdrawn).await, Handled::Silent);
    assert!(world.connector.started.lock().unwrap().is_empty());
    drop(theirs);
}

#[tokio::test]
async fn a_conversation_is_not_bound_anew_during_a_turn_of_another_process() {
    let (world, leases) = shared_world();
    let theirs = leases.try_take(&key()).unwrap();
    let refused = world.bind(None, &[]).await;
    assert!(matches!(refused, Err(BindError::Busy)), "{refused:?}");
    drop(theirs);
    world.bind(None, &[]).await.unwrap();
}
