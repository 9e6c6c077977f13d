//! A panic in the recorder costs the events that it affects, and never harms the host.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use traj_core::event::RunContext;
use traj_core::memory::MemoryTrajectoryStore;
use traj_core::port::Clock;
use traj_core::settings::Settings;
use traj_core::timestamp::UnixMillis;
use traj_fs::Recorder;
use traj_tests::sidecar::stub_store::{Call, StubStore};
use traj_tests::sidecar::{Place, event, redactor, session};

use crate::recorder::behaviour::{content, reported, start, texts};
use crate::recorder::process::{BINARY, NO_THREADS, RecorderProcess};

#[test]
fn a_panic_costs_only_the_events_that_it_affects() {
    let memory = MemoryTrajectoryStore::new();
    let appends = AtomicU64::new(0);
    let store = StubStore::new(memory.clone(), move |call| {
        let broken = match call {
            Call::Append => appends.fetch_add(1, Ordering::Relaxed) == 1,
            Call::StoreBlob => true,
            _ => false,
        };
        assert!(!broken, "a defect of the adapter's");
    });
    let mut settings = Settings::standard();
    settings.limits.text_units = 40;
    let recorder = start(store, &settings);
    recorder.record(event("one"));
    assert!(recorder.flush().is_complete());
    recorder.record(event("lost with the append"));
    recorder.flush();
    recorder.record(event("three"));
    recorder.record(event("lost with its blob, as it is longer than the limit"));
    recorder.record(event("five"));
    assert!(recorder.flush().is_complete());
    let stats = recorder.stats();
    assert_eq!((stats.written_events, stats.dropped.defect), (3, 2));
    assert_eq!(stats.last_error.as_deref(), Some("internal error in the recorder"));
    let content = content(&memory);
    assert_eq!(texts(&content), ["one", "three", "five"]);
    assert_eq!(reported(&content).iter().map(|(_, number)| number).sum::<u64>(), 2);
}

/// A clock that panics while `broken` is set.
#[derive(Debug)]
struct BrokenClock(Arc<AtomicBool>);

impl Clock for BrokenClock {
    fn now(&self) -> UnixMillis {
        assert!(!self.0.load(Ordering::Relaxed), "a defect of the clock's");
        UnixMillis::EPOCH
    }
}

#[test]
fn a_defect_while_an_event_is_redacted_costs_that_event() {
    // The clock is the only part that a test can break there: the writer reads
    // it in the same step in which it redacts, cuts and encodes.
    let (memory, broken) = (MemoryTrajectoryStore::new(), Arc::new(AtomicBool::new(false)));
    let clock = Arc::new(BrokenClock(Arc::clone(&broken)));
    let context = RunContext::new(session("chat"));
    let settings = Settings::standard();
    let recorder = Recorder::start(Arc::new(memory.clone()), clock, redactor(), context, &settings);
    for (text, is_broken) in [("one", false), ("lost", true), ("lost too", true), ("two", false)] {
        broken.store(is_broken, Ordering::Relaxed);
        recorder.record(event(text));
        assert!(recorder.flush().is_complete() || is_broken, "no time, no word on the drops");
    }
    let stats = recorder.stats();
    assert_eq!((stats.written_events, stats.dropped.defect, stats.dropped.total()), (2, 2, 2));
    assert_eq!(stats.last_error.as_deref(), Some("internal error in the recorder"));
    let content = content(&memory);
    assert_eq!(texts(&content), ["one", "two"]);
    assert_eq!(reported(&content).iter().map(|(_, number)| number).sum::<u64>(), 2);
}

#[test]
fn a_defect_in_a_flush_is_reported_and_survived() {
    let flushes = AtomicU64::new(0);
    let store = StubStore::new(MemoryTrajectoryStore::new(), move |call| {
        let broken = call == Call::Flush && flushes.fetch_add(1, Ordering::Relaxed) == 0;
        assert!(!broken, "a defect of the adapter's");
    });
    let recorder = start(store, &Settings::standard());
    recorder.record(event("one"));
    assert_eq!(recorder.flush().error.as_deref(), Some("internal error in the recorder"));
    assert!(recorder.flush().is_complete());
}

#[test]
fn a_recorder_without_a_thread_drops_and_counts_every_event() {
    let place = Place::new();
    let mut command = Command::new(BINARY);
    command.arg(place.path()).arg("queue=10").env(NO_THREADS.0, NO_THREADS.1);
    let mut child = RecorderProcess::spawn(command);
    // More events than the queue holds: each loss has one reason, not two.
    child.ask("record 25");
    let report = child.ask("flush");
    assert!(report.starts_with("false 0 ") && report.contains("could not be started"), "{report}");
    assert_eq!(child.ask("stats"), "0 0 25");
    assert!(child.ask("error").contains("could not be started"));
    child.finish();
    assert!(place.names().is_empty());
}
