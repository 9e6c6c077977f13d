//! A recorder never blocks, surprises or fails its host.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use traj_core::event::{Event, EventKind, RunContext};
use traj_core::memory::{FixedClock, MemoryTrajectoryStore};
use traj_core::port::TrajectoryStore;
use traj_core::settings::{Settings, WhenFull};
use traj_core::timestamp::UnixMillis;
use traj_fs::Recorder;
use traj_tests::sidecar::stub_store::{Call, StubStore};
use traj_tests::sidecar::{Place, SidecarContent, event, redactor, session};

pub(crate) fn start(store: impl TrajectoryStore + 'static, settings: &Settings) -> Recorder {
    let context = RunContext::new(session("chat"));
    let clock = Arc::new(FixedClock::new(UnixMillis::EPOCH));
    Recorder::start(Arc::new(store), clock, redactor(), context, settings)
}

pub(crate) fn content(memory: &MemoryTrajectoryStore) -> SidecarContent {
    let content = SidecarContent::of(&memory.content(&session("chat")).unwrap_or_default());
    content.assert_sound();
    content.assert_runs_numbered();
    content
}

/// The texts of the events, without the recorder's own events.
pub(crate) fn texts(content: &SidecarContent) -> Vec<&str> {
    let events = content.rows.iter().filter(|row| row.kind == "test.event");
    events.map(|row| row.text.as_str()).collect()
}

/// Reason and number of each `trace.truncated` event.
pub(crate) fn reported(content: &SidecarContent) -> Vec<(String, u64)> {
    let reported = content.rows.iter().filter(|row| row.kind == "trace.truncated");
    let data = |row: &traj_tests::sidecar::Row| -> (String, u64) {
        let row: serde_json::Value = serde_json::from_str(&row.line).unwrap();
        let dropped = row["data"]["droppedEvents"].as_u64().unwrap();
        (row["data"]["reason"].as_str().unwrap().to_owned(), dropped)
    };
    reported.map(data).collect()
}

/// A store whose appends report that they started, and then wait until they are
/// let through.
struct Gate {
    memory: MemoryTrajectoryStore,
    arrived: mpsc::Receiver<()>,
    open: mpsc::Sender<()>,
}

fn gate() -> (StubStore, Gate) {
    let memory = MemoryTrajectoryStore::new();
    let (arrive, arrived) = mpsc::channel();
    let (open, opened) = mpsc::channel::<()>();
    let opened = Mutex::new(opened);
    let store = StubStore::new(memory.clone(), move |call| {
        if call == Call::Append {
            arrive.send(()).ok();
            // An error means that the gate was dropped and stays open.
            opened.lock().unwrap().recv().ok();
        }
    });
    (store, Gate { memory, arrived, open })
}

#[test]
fn a_disk_that_hangs_costs_the_host_nothing_but_counted_events() {
    let (store, gate) = gate();
    let mut settings = Settings::standard();
    settings.queue_events = 10;
    let recorder = start(store, &settings);
    recorder.record(event("first"));
    gate.arrived.recv().unwrap();
    // The writer hangs from here on. If `record` waited, the test would hang.
    for number in 0..100 {
        recorder.record(event(&number.to_string()));
    }
    let report = recorder.flush_within(Duration::from_millis(1));
    assert!(report.timed_out && !report.is_complete());
    assert_eq!(report.pending_events, 11, "one with the writer, ten in the queue");
    assert!(report.pending_bytes > 0 && report.timeout == Duration::from_millis(1));
    let stats = recorder.stats();
    assert_eq!((stats.recorded_events, stats.queued_events), (101, 11));
    assert_eq!((stats.dropped.queue_full, stats.dropped.total()), (90, 90));

    drop(gate.open);
    assert!(recorder.flush().is_complete());
    let content = content(&gate.memory);
    let expected: Vec<String> =
        std::iter::once("first".to_owned()).chain((0..10).map(|n| n.to_string())).collect();
    assert_eq!(texts(&content), expected);
    assert_eq!(reported(&content), [("trajectory-queue-limit".to_owned(), 90)]);
}

#[test]
fn dropping_a_recorder_waits_for_the_disk_but_not_for_ever() {
    let memory = MemoryTrajectoryStore::new();
    let recorder = start(memory.clone(), &Settings::standard());
    (0..1_000).for_each(|number| recorder.record(event(&number.to_string())));
    drop(recorder);
    assert_eq!(texts(&content(&memory)).len(), 1_000);

    let (store, gate) = gate();
    let mut settings = Settings::standard();
    settings.flush_timeout = Duration::from_millis(1);
    let recorder = start(store, &settings);
    recorder.record(event("stuck"));
    gate.arrived.recv().unwrap();
    // Returns although the writer hangs.
    drop(recorder);
    assert!(gate.memory.content(&session("chat")).is_none());
}

#[test]
fn the_writer_misses_no_flush_and_no_end() {
    let mut settings = Settings::standard();
    // If the writer missed a flush, the test would wait this long.
    settings.flush_timeout = Duration::from_secs(600);
    let (done, ended) = mpsc::channel();
    thread::spawn(move || {
        // Each flush arrives just as the writer finishes the previous one.
        let recorder = start(MemoryTrajectoryStore::new(), &settings);
        let flushed = (0..30_000).filter(|_| recorder.flush().is_complete()).count();
        let written = (0..500).filter(|_| {
            let memory = MemoryTrajectoryStore::new();
            let recorder = start(memory.clone(), &settings);
            recorder.record(event("a"));
            drop(recorder);
            texts(&content(&memory)) == ["a"]
        });
        done.send((flushed, written.count())).unwrap();
    });
    let counts = ended.recv_timeout(Duration::from_secs(300)).expect("a recorder waits forever");
    assert_eq!(counts, (30_000, 500));
}

#[test]
fn a_host_that_panics_leaves_what_it_recorded() {
    let memory = MemoryTrajectoryStore::new();
    let recorder = start(memory.clone(), &Settings::standard());
    let host = thread::spawn(move || {
        recorder.record(event("last words"));
        unreachable!("a defect of the host's");
    });
    host.join().unwrap_err();
    assert_eq!(texts(&content(&memory)), ["last words"]);
}

#[test]
fn waiting_hosts_lose_nothing() {
    let memory = MemoryTrajectoryStore::new();
    let mut settings = Settings::standard();
    (settings.queue_events, settings.queue_bytes) = (3, 1);
    let recorder = start(memory.clone(), &settings);
    thread::scope(|scope| {
        for host in 0..4 {
            let recorder = &recorder;
            scope.spawn(move || {
                (0..50).for_each(|n| recorder.record_waiting(event(&format!("{host}:{n}"))));
            });
        }
    });
    assert!(recorder.flush().is_complete());
    assert_eq!((recorder.stats().written_events, recorder.stats().dropped.total()), (200, 0));
    let content = content(&memory);
    for host in 0..4 {
        let of_host = texts(&content).into_iter().filter_map(|text| text.split_once(':'));
        let numbers: Vec<&str> =
            of_host.filter(|(of, _)| *of == host.to_string()).map(|(_, number)| number).collect();
        let expected: Vec<String> = (0..50).map(|number| number.to_string()).collect();
        assert_eq!(numbers, expected, "the order of each host is kept");
    }
}

#[test]
fn waiting_hosts_are_not_held_for_ever_by_a_disk_that_fails() {
    let memory = MemoryTrajectoryStore::new();
    (1..=10_000).for_each(|call| memory.fail_call(call));
    let mut settings = Settings::standard();
    settings.queue_events = 3;
    settings.flush_timeout = Duration::from_millis(20);
    let recorder = start(memory, &settings);
    // If the recorder waited for room, this loop would not end.
    (0..100).for_each(|number| recorder.record_waiting(event(&number.to_string())));
    let stats = recorder.stats();
    assert!(stats.dropped.queue_full > 0 && stats.last_error.is_some());
    assert_eq!(stats.recorded_events, 100);
}

#[test]
fn a_flush_is_done_although_events_keep_coming() {
    static RECORDER: OnceLock<Recorder> = OnceLock::new();
    let rounds = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&rounds);
    // Every append records another event, so the queue is never empty until the
    // flush is done.
    let store = StubStore::new(MemoryTrajectoryStore::new(), move |call| match call {
        Call::Append if seen.load(Ordering::Relaxed) < u64::MAX => {
            RECORDER.get().unwrap().record(event("another"));
        }
        _ => {}
    });
    let recorder = RECORDER.get_or_init(|| start(store, &Settings::standard()));
    recorder.record(event("first"));
    let report = recorder.flush();
    rounds.store(u64::MAX, Ordering::Relaxed);
    assert!(report.is_complete(), "{report:?}");
}

#[test]
fn drops_are_counted_while_the_storage_stalls_and_only_once() {
    let memory = MemoryTrajectoryStore::new();
    (1..=2).for_each(|call| memory.fail_call(call));
    let mut settings = Settings::standard();
    settings.limits.line_bytes = 600;
    let recorder = start(memory.clone(), &settings);
    recorder.record(Event::new(EventKind::parse("kind".repeat(400)), None));
    recorder.record(event("waits"));
    let has_stalled = |error: String| error.contains("no space left for the sidecar");
    while !recorder.stats().last_error.is_some_and(has_stalled) {
        recorder.flush();
    }
    let counted = |recorder: &Recorder| recorder.stats().dropped;
    let stalled = counted(&recorder);
    assert_eq!((stalled.too_large, stalled.total()), (1, 1));
    while !recorder.flush().is_complete() {}
    assert_eq!(counted(&recorder), stalled);
    let content = content(&memory);
    assert_eq!(texts(&content), ["waits"]);
    assert_eq!(reported(&content), [("trajectory-event-size-limit".to_owned(), 1)]);
}

#[test]
fn a_storage_that_fails_for_a_while_loses_and_repeats_nothing() {
    let memory = MemoryTrajectoryStore::new();
    let recorder = start(memory.clone(), &Settings::standard());
    recorder.record(event("one"));
    assert!(recorder.flush().is_complete());
    memory.fail_call(1);
    recorder.record(event("two"));
    let failed = recorder.flush();
    // A retry may have succeeded before the flush; then there is no error.
    assert!(failed.is_complete() || failed.error.is_some());
    assert!(recorder.flush().is_complete());
    assert_eq!(texts(&content(&memory)), ["one", "two"]);
    assert_eq!(recorder.stats().dropped.total(), 0);
    assert!(recorder.stats().last_error.unwrap().contains("no space left for the sidecar"));
}

#[test]
fn a_full_sidecar_ends_with_one_last_event() {
    let place = Place::new();
    let mut settings = Settings::standard();
    settings.limits.sidecar_bytes = 6_000;
    let recorder = place.recorder(&settings);
    for number in 0..100 {
        recorder.record(event(&number.to_string()));
        if number % 7 == 0 {
            recorder.flush();
        }
    }
    assert!(recorder.flush().is_complete());
    let stats = recorder.stats();
    assert_eq!(stats.written_events + stats.dropped.sidecar_full, 100);
    let content = place.sidecar();
    content.assert_sound();
    content.assert_runs_numbered();
    assert!(place.sidecar_bytes().len() <= 6_000);
    assert_eq!(texts(&content).len() as u64, stats.written_events);
    let reported = reported(&content);
    assert!(
        !reported.is_empty() && reported.iter().all(|(why, _)| why.ends_with("file-size-limit"))
    );
    assert_eq!(content.rows.last().unwrap().kind, "trace.truncated");
}

#[test]
fn a_batch_larger_than_a_rolling_sidecar_rolls_on() {
    let (store, gate) = gate();
    let mut settings = Settings::standard();
    settings.when_full = WhenFull::Roll;
    settings.limits.sidecar_bytes = 4_000;
    let recorder = start(store, &settings);
    recorder.record(event("first"));
    gate.arrived.recv().unwrap();
    // These events form one batch; the long one alone exceeds the sidecar's limit.
    (0..50).for_each(|number| recorder.record(event(&number.to_string())));
    recorder.record(event(&"x".repeat(5_000)));
    (50..100).for_each(|number| recorder.record(event(&number.to_string())));
    drop(gate.open);
    assert!(recorder.flush().is_complete());
    let stats = recorder.stats();
    assert_eq!((stats.written_events, stats.dropped.too_large), (101, 1));
    assert_eq!(stats.dropped.total(), 1);
    let content = content(&gate.memory);
    assert!(texts(&content).contains(&"99"));
    assert_eq!(reported(&content), [("trajectory-event-size-limit".to_owned(), 1)]);
    assert_eq!(stats.rolled_lines + content.rows.len() as u64, 102, "with the last word");
}

#[test]
fn a_line_never_names_a_blob_that_is_not_there() {
    for line_bytes in (400..700).step_by(3) {
        let memory = MemoryTrajectoryStore::new();
        let mut settings = Settings::standard();
        settings.limits.line_bytes = line_bytes;
        settings.limits.text_units = 10;
        settings.limits.preview_characters = 40;
        settings.limits.blob_budget_bytes = if line_bytes % 2 == 0 { 60 } else { 0 };
        let recorder = start(memory.clone(), &settings);
        recorder.record(event("a text that is too long for its limit"));
        recorder.record(Event::new(EventKind::parse("kind".repeat(line_bytes / 8)), None));
        assert!(recorder.flush().is_complete());
        for row in content(&memory).rows {
            let row: serde_json::Value = serde_json::from_str(&row.line).unwrap();
            let data = &row["data"];
            let markers = [data, &data["text"], &data["reason"]];
            for name in markers.iter().filter_map(|marker| marker["blob"].as_str()) {
                let digest = traj_core::capture::BlobDigest::parse(name).unwrap();
                let stored = memory.read_blob(&session("chat"), &digest).unwrap();
                assert!(stored.is_some(), "with {line_bytes} bytes for a line");
            }
        }
    }
}

#[test]
fn no_timeout_is_too_long() {
    let recorder = start(MemoryTrajectoryStore::new(), &Settings::standard());
    recorder.record(event("text"));
    assert!(recorder.flush_within(Duration::MAX).is_complete());
    assert!(recorder.flush_within(Duration::ZERO).pending_events == 0);
}

#[tokio::test]
async fn async_hosts_record_and_wait_without_blocking() {
    let memory = MemoryTrajectoryStore::new();
    let recorder = Arc::new(start(memory.clone(), &Settings::standard()));
    let hosts: Vec<_> = (0..10)
        .map(|host| {
            let recorder = Arc::clone(&recorder);
            tokio::spawn(async move {
                recorder.record(event(&host.to_string()));
                tokio::task::yield_now().await;
                recorder.flush_async().await
            })
        })
        .collect();
    for host in hosts {
        assert!(host.await.unwrap().is_complete());
    }
    assert_eq!(texts(&content(&memory)).len(), 10);

    // The runtime is not blocked while a flush waits for a disk that hangs.
    let (store, gate) = gate();
    let recorder = start(store, &Settings::standard());
    recorder.record(event("text"));
    let waits = recorder.flush_async();
    let goes_on = async {
        gate.arrived.try_iter().count();
        drop(gate.open);
    };
    assert!(tokio::join!(waits, goes_on).0.is_complete());
    assert!(Recorder::disabled().flush_async().await.is_complete());
}
