//! The cost of recording, compared with a bare `write` per line and with
//! OpenClaw's way of checking, opening and closing the file for each event.
//!
//! The recorder redacts and cuts; OpenClaw sanitises with a few regular
//! expressions; the bare write does neither. None of them syncs to the disk.

mod baseline;
mod sanitise;

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use cap_std::fs::Dir;
use serde_json::Value;
use traj_core::event::{Event, EventKind, RunContext};
use traj_core::id::SessionId;
use traj_core::json::Json;
use traj_core::redaction::{MarkerKey, RedactionPolicy, Redactor};
use traj_core::settings::{Durability, Settings};
use traj_fs::{FsTrajectoryStore, Recorder, SystemClock};

use self::sanitise::Sanitiser;
use crate::figure::Figure;
use crate::measure::{medians, percentile, resident_mib, shortest, wall};
use crate::{Bench, Outcome, sample};

const SIDECAR: &str = "session.trajectory.jsonl";

/// Fits into the recorder's queue, so that no event is dropped and no call waits.
const CALLS: usize = 15_000;

/// As deep as sessions in a home directory, because OpenClaw checks every directory on the path.
const SESSIONS: &str = "home/.openclaw/agents/main/sessions";

type MakeEvent = fn(usize) -> (&'static str, Value);

/// Small events, and the usual mix of sizes.
const SIZES: [(&str, MakeEvent); 2] = [("mixed", sample::event), ("small", sample::small_event)];

pub(crate) fn run(bench: &Bench) -> Outcome {
    let temporary = tempfile::tempdir()?;
    let folder = temporary.path().join(SESSIONS);
    std::fs::create_dir_all(&folder)?;
    // First, before other benches fragment this process's memory.
    let memory = memory(bench, &folder)?;
    let mut figures = Vec::new();
    for (name, make) in SIZES {
        figures.extend(throughput(bench, &folder, name, make)?);
    }
    figures.extend(caller_cost(bench, &folder, "just made", in_time)?);
    figures.extend(caller_cost(bench, &folder, "made in advance", in_advance)?);
    figures.extend(memory);
    Ok(figures)
}

fn throughput(bench: &Bench, folder: &Path, name: &str, make: MakeEvent) -> Outcome {
    // Enough events that starting a recorder, once per run, hardly counts.
    let count = bench.size(100_000, 200);
    let samples: Vec<(&str, Value)> = (0..count).map(make).collect();
    // The recorder uses two cores, the others one.
    let [bare, unsanitised, original, recorded] = shortest(
        bench.size(5, 1),
        [
            &mut || timed(folder, |path| Ok(baseline::bare_lines(path, &samples)?)),
            &mut || timed(folder, |path| Ok(baseline::original_way(path, &samples, None)?)),
            &mut || {
                timed(folder, |path| {
                    let sanitiser = Sanitiser::new()?;
                    Ok(baseline::original_way(path, &samples, Some(&sanitiser))?)
                })
            },
            &mut || {
                // Making the events is not part of the measurement.
                let mut waiting = Some(events(&samples));
                timed(folder, |path| record_all(path, waiting.take().unwrap_or_default()))
            },
        ],
    );
    let per_second = |seconds: f64| count as f64 / seconds;
    let named = |what: &str| format!("{name} events: {what}");
    let mut figures = vec![
        Figure::new(named("bytes of a line"), line_bytes(folder, count)?, "bytes"),
        Figure::new(named("bare serde_json + write"), per_second(bare), "events/s"),
        Figure::new(named("checks, open, append, close"), per_second(unsanitised), "events/s"),
        Figure::new(
            named("sanitise, checks, open, append, close"),
            per_second(original),
            "events/s",
        ),
        Figure::new(named("recorder"), per_second(recorded), "events/s"),
        Figure::ratio(named("recorder / bare"), bare, recorded).at_least(0.5),
        Figure::ratio(named("recorder / checks, open, append, close"), unsanitised, recorded),
        Figure::ratio(
            named("recorder / sanitise, checks, open, append, close"),
            original,
            recorded,
        )
        .at_least(10.0),
    ];
    let few = samples.get(..bench.size(4_000, 50)).unwrap_or(&samples);
    match baseline::original_in_node(folder, few)? {
        Some(rate) => {
            let ratio = per_second(recorded) / rate;
            figures.push(Figure::new(named("the same in Node"), rate, "events/s"));
            let ratio = Figure::new(named("recorder / the same in Node"), ratio, "x");
            figures.push(ratio.at_least(10.0));
        }
        None => eprintln!("node is NOT INSTALLED: the original's runtime was not measured"),
    }
    Ok(figures)
}

/// Every round writes to a new file, so that no earlier round helps it.
fn timed(folder: &Path, mut write: impl FnMut(&Path) -> Result<(), Box<dyn Error>>) -> Duration {
    let path = folder.join(SIDECAR);
    std::fs::remove_file(&path).ok();
    let mut result = Ok(());
    let took = wall(|| result = write(&path));
    // A contender that failed must not count as fast.
    if result.is_ok() { took } else { Duration::MAX }
}

fn record_all(sidecar: &Path, events: Vec<Event>) -> Result<(), Box<dyn Error>> {
    let folder = sidecar.parent().ok_or("a sidecar lies in a folder")?;
    let recorder = recorder(folder)?;
    let count = events.len() as u64;
    events.into_iter().for_each(|event| recorder.record_waiting(event));
    let complete = recorder.flush_within(Duration::from_secs(600)).is_complete();
    let all_written = recorder.stats().written_events == count;
    if complete && all_written { Ok(()) } else { Err("events are missing".into()) }
}

/// Bytes per event that the recorder wrote; it is the last contender.
fn line_bytes(folder: &Path, count: usize) -> std::io::Result<f64> {
    let written = std::fs::metadata(folder.join(SIDECAR))?.len();
    Ok(written as f64 / count as f64)
}

/// Passes every sample to the call as an event, and returns the 99th percentile of
/// the calls' durations.
type TimeCalls = fn(&[(&str, Value)], &mut dyn FnMut(Event) -> bool) -> Duration;

/// Time of the caller per event, compared with a channel send of the same value.
fn caller_cost(bench: &Bench, folder: &Path, form: &str, time: TimeCalls) -> Outcome {
    let count = bench.size(CALLS, 200);
    let samples: Vec<(&str, Value)> = (0..count).map(sample::event).collect();
    let [send, record] = medians(
        bench.size(9, 1),
        [
            &mut || {
                let (sender, receiver) = mpsc::sync_channel::<Event>(count);
                let reader = std::thread::spawn(move || receiver.into_iter().count());
                // A send on a closed channel would look fast.
                let slowest = time(&samples, &mut |event| sender.send(event).is_ok());
                drop(sender);
                if reader.join().is_ok_and(|read| read == count) { slowest } else { Duration::MAX }
            },
            &mut || {
                std::fs::remove_file(folder.join(SIDECAR)).ok();
                let Ok(recorder) = recorder(folder) else { return Duration::MAX };
                let slowest = time(&samples, &mut |event| {
                    recorder.record(event);
                    true
                });
                let complete = recorder.flush_within(Duration::from_secs(600)).is_complete();
                let dropped = recorder.stats().dropped.total();
                if complete && dropped == 0 { slowest } else { Duration::MAX }
            },
        ],
    );
    let named = |what: &str| format!("events {form}: {what}, 99th percentile");
    Ok(vec![
        Figure::new(named("channel send"), send * 1e6, "us"),
        Figure::new(named("record"), record * 1e6, "us"),
        Figure::ratio(named("record / channel send"), record, send).at_most(3.0),
    ])
}

/// Each event is made just before its call, as in a host; only the call is timed.
fn in_time(samples: &[(&str, Value)], call: &mut dyn FnMut(Event) -> bool) -> Duration {
    let made = samples.iter().map(|(kind, data)| event(kind, &data.to_string()));
    slowest_of(made, call)
}

/// All events are made before the first call, and the calls follow each other directly.
fn in_advance(samples: &[(&str, Value)], call: &mut dyn FnMut(Event) -> bool) -> Duration {
    slowest_of(events(samples).into_iter(), call)
}

fn slowest_of(
    events: impl ExactSizeIterator<Item = Event>,
    call: &mut dyn FnMut(Event) -> bool,
) -> Duration {
    let mut calls = Vec::with_capacity(events.len());
    for event in events {
        let started = Instant::now();
        let done = call(event);
        calls.push(if done { started.elapsed() } else { Duration::MAX });
    }
    percentile(&mut calls, 99.0)
}

/// Memory after a tenth of the events and after all of them.
fn memory(bench: &Bench, folder: &Path) -> Outcome {
    let count = bench.size(1_000_000, 2_000);
    std::fs::remove_file(folder.join(SIDECAR)).ok();
    let recorder = recorder(folder)?;
    let mut early = 0.0;
    for position in 0..count {
        recorder.record_waiting(event("tool.call", r#"{"name":"shell","arguments":["ls"]}"#));
        if position == count / 10 {
            early = resident_mib()?;
        }
    }
    let complete = recorder.flush_within(Duration::from_secs(600)).is_complete();
    if !complete || recorder.stats().written_events != count as u64 {
        return Err("not all events of the memory run were written".into());
    }
    let late = resident_mib()?;
    Ok(vec![
        Figure::new(format!("memory after {count} events"), late, "MiB"),
        Figure::ratio("memory after all events / after a tenth", late, early).at_most(1.1),
    ])
}

fn recorder(folder: &Path) -> Result<Recorder, Box<dyn Error>> {
    let directory = Dir::open_ambient_dir(folder, cap_std::ambient_authority())?;
    let place = folder.to_str().ok_or("the temporary folder has a name in UTF-8")?;
    let store = FsTrajectoryStore::beside(directory, place, "session.jsonl")?;
    let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
    let context = RunContext::new(SessionId::parse("session-1")?);
    let mut settings = Settings::standard();
    settings.durability = Durability::Relaxed;
    settings.limits.sidecar_bytes = u64::MAX;
    let clock = Arc::new(SystemClock::new());
    Ok(Recorder::start(Arc::new(store), clock, redactor, context, &settings))
}

fn events(samples: &[(&str, Value)]) -> Vec<Event> {
    samples.iter().map(|(kind, data)| event(kind, &data.to_string())).collect()
}

fn event(kind: &str, data: &str) -> Event {
    let data = match Json::parse(data).map(Json::into_owned) {
        Ok(Json::Object(data)) => Some(data),
        _ => None,
    };
    Event::new(EventKind::parse(kind), data)
}
