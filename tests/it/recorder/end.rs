//! How a recorder ends: it waits for its writer, and every event is accounted for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use traj_core::memory::MemoryTrajectoryStore;
use traj_core::settings::Settings;
use traj_tests::sidecar::stub_store::StubStore;
use traj_tests::sidecar::{event, session};

use crate::recorder::behaviour::{content, start, texts};

/// Settings of a recorder that waits for its writer even on a busy machine.
fn patient() -> Settings {
    let mut settings = Settings::standard();
    settings.flush_timeout = Duration::from_secs(3_600);
    settings
}

#[test]
fn dropping_a_recorder_waits_for_the_writer_although_the_disk_fails() {
    let memory = MemoryTrajectoryStore::new();
    (1..=1_000).for_each(|call| memory.fail_call(call));
    let with_the_writer = Arc::new(AtomicU64::new(0));
    let tries = Arc::clone(&with_the_writer);
    let store = StubStore::new(memory, move |_| {
        if tries.fetch_add(1, Ordering::Relaxed) > 0 {
            // Gives the retries after the first one time to run.
            (0..10_000).for_each(|_| thread::yield_now());
        }
    });
    let recorder = start(store, &patient());
    recorder.record(event("lost"));
    assert!(recorder.flush().error.is_some());
    drop(recorder);
    assert_eq!(Arc::strong_count(&with_the_writer), 1, "the writer has left");
}

#[test]
fn a_recorder_that_ends_accounts_for_every_event() {
    let memory = MemoryTrajectoryStore::new();
    let recorder = start(memory.clone(), &patient());
    (1..=2).for_each(|call| memory.fail_call(call));
    recorder.record(event("kept"));
    let (report, stats) = recorder.finish();
    assert!(report.is_complete(), "{report:?}");
    assert_eq!((stats.written_events, stats.dropped.total(), stats.queued_events), (1, 0, 0));
    assert_eq!(texts(&content(&memory)), ["kept"]);

    let memory = MemoryTrajectoryStore::new();
    (1..=1_000).for_each(|call| memory.fail_call(call));
    let recorder = start(memory.clone(), &patient());
    (0..700).for_each(|number| recorder.record(event(&number.to_string())));
    let (report, stats) = recorder.finish();
    assert!(report.error.is_some() && !report.timed_out, "{report:?}");
    assert_eq!((stats.written_events, stats.dropped.storage, stats.queued_events), (0, 700, 0));
    assert!(memory.content(&session("chat")).is_none());
}
