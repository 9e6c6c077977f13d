//! A recorder that prepares a batch while it writes the previous one: the result
//! is the same as without that.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use traj_core::memory::MemoryTrajectoryStore;
use traj_core::settings::Settings;
use traj_tests::sidecar::event;
use traj_tests::sidecar::stub_store::{Call, StubStore};

use crate::recorder::behaviour::{content, reported, start, texts};

/// Enough events for several batches.
const EVENTS: usize = 3_000;

fn expected(events: usize) -> Vec<String> {
    (0..events).map(|number| number.to_string()).collect()
}

/// A store whose appends each need a permit.
fn permitted(memory: &MemoryTrajectoryStore) -> (StubStore, mpsc::Sender<()>) {
    let (permit, permits) = mpsc::channel::<()>();
    let permits = Mutex::new(permits);
    let store = StubStore::new(memory.clone(), move |call| {
        if call == Call::Append {
            // An error means that no more permits are needed.
            permits.lock().unwrap().recv().ok();
        }
    });
    (store, permit)
}

#[test]
fn events_prepared_ahead_are_not_reported_as_written() {
    let memory = MemoryTrajectoryStore::new();
    let (store, permit) = permitted(&memory);
    let recorder = start(store, &Settings::standard());
    (0..EVENTS).for_each(|number| recorder.record(event(&number.to_string())));
    let full = recorder.stats().queued_bytes;
    for _ in 0..3 {
        let before = recorder.stats().written_events;
        permit.send(()).unwrap();
        let stats = loop {
            let report = recorder.flush_within(Duration::from_millis(20));
            // The next batches wait for permits, whether they are prepared or not.
            assert!(report.timed_out && report.pending_events > 0);
            let stats = recorder.stats();
            if stats.written_events > before {
                break stats;
            }
        };
        let written = texts(&content(&memory)).len() as u64;
        assert_eq!((stats.written_events, stats.queued_events), (written, EVENTS as u64 - written));
        assert!(stats.queued_bytes > 0 && stats.queued_bytes < full);
    }
    drop(permit);
    assert!(recorder.flush().is_complete());
    assert_eq!(recorder.stats().queued_bytes, 0);
    assert_eq!(texts(&content(&memory)), expected(EVENTS));
}

#[test]
fn a_storage_that_fails_between_batches_loses_and_repeats_nothing() {
    let memory = MemoryTrajectoryStore::new();
    let (failing, appends) = (memory.clone(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&appends);
    let store = StubStore::new(memory.clone(), move |call| {
        // Every other append fails once, while the next batch is ready.
        if call == Call::Append && count.fetch_add(1, Ordering::Relaxed) % 2 == 1 {
            failing.fail_call(1);
        }
    });
    let recorder = start(store, &Settings::standard());
    (0..EVENTS).for_each(|number| recorder.record(event(&number.to_string())));
    while !recorder.flush().is_complete() {}
    assert!(appends.load(Ordering::Relaxed) > EVENTS / 512);
    let content = content(&memory);
    assert_eq!(texts(&content), expected(EVENTS));
    assert!(content.rows.iter().map(|row| row.source_sequence).eq(1..=EVENTS as u64));
    assert_eq!(recorder.stats().dropped.total(), 0);
}

#[test]
fn events_prepared_for_a_sidecar_that_became_full_are_counted() {
    let memory = MemoryTrajectoryStore::new();
    let mut settings = Settings::standard();
    settings.limits.sidecar_bytes = 300_000;
    let recorder = start(memory.clone(), &settings);
    (0..EVENTS).for_each(|number| recorder.record(event(&number.to_string())));
    assert!(recorder.flush().is_complete());
    let content = content(&memory);
    let written = texts(&content).len();
    assert_eq!(texts(&content), expected(written));
    assert!(written > 0 && written < EVENTS);
    let stats = recorder.stats();
    assert_eq!(stats.dropped.sidecar_full, (EVENTS - written) as u64);
    assert_eq!((stats.queued_events, stats.queued_bytes), (0, 0));
    assert!(!reported(&content).is_empty());
}
