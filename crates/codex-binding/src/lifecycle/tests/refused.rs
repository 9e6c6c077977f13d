//! Threads that exist, but are not available now.

use std::time::Duration;

use super::*;

/// Right after a server was killed, its successor may still consider the thread open for
/// writing.
#[tokio::test(start_paused = true)]
async fn a_thread_that_is_still_open_elsewhere_is_waited_for_a_moment() {
    let (world, thread) = World::with_history().await;
    let server = world.home.start_server();
    for call in 1..=2 {
        server.fail_call(call, MemoryFailure::Refuse(RefusalKind::ThreadOpenElsewhere));
    }
    let began = tokio::time::Instant::now();
    let ready = world.ready(&server).await.unwrap();
    assert_eq!((ready.thread(), &ready.how), (&thread, &HowOpened::Resumed));
    assert_eq!(server.calls(), ["thread/resume"; 3]);
    assert!(began.elapsed() < Duration::from_secs(1), "the paused clock");
    // Nobody has to wait for it.
    server.fail_call(1, MemoryFailure::Refuse(RefusalKind::ThreadOpenElsewhere));
    let (loaded, cancel) = (LoadedThreads::new(), CancellationToken::new());
    let opening = world.lifecycle.ready(&server, &loaded, &world.plan, &cancel);
    let cancelling = async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        cancel.cancel();
    };
    let (opened, ()) = tokio::join!(opening, cancelling);
    assert!(matches!(opened, Err(LifecycleError::Cancelled)), "{opened:?}");
}

/// Archived, damaged and open elsewhere each have their own outcome and keep the record.
#[tokio::test(start_paused = true)]
async fn threads_that_are_not_available_have_their_own_outcome() {
    let (world, thread) = World::with_history().await;
    let elsewhere = world.home.start_server();
    world.ready(&elsewhere).await.unwrap();
    let error = world.ready(&world.home.start_server()).await.unwrap_err();
    assert!(matches!(error, LifecycleError::OpenElsewhere { .. }), "{error}");
    elsewhere.kill();
    world.home.archive(&thread);
    let error = world.ready(&world.home.start_server()).await.unwrap_err();
    assert!(matches!(error, LifecycleError::Archived { .. }), "{error}");
    assert_eq!(world.stored().unwrap().thread, thread);

    let (world, thread) = World::with_history().await;
    world.home.damage(&thread);
    let error = world.ready(&world.home.start_server()).await.unwrap_err();
    assert!(matches!(error, LifecycleError::DamagedThread { .. }), "{error}");
    assert_eq!(world.stored().unwrap().thread, thread);
}
