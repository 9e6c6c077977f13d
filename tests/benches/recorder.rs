//! What recording costs, against the barest way to write lines and against
//! the original's way of checking, opening and closing the file per event.
//!
//! The recorder sanitises, redacts and cuts; the others do not. None of them
//! forces anything to the disk.

mod baseline;

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

use crate::figure::Figure;
use crate::measure::{medians, percentile, resident_mib, wall};
use crate::{Bench, Outcome, sample};

/// Fits the recorder's queue, so that no call drops and no call waits.
const CALLS: usize = 20_000;

pub(crate) fn run(bench: &Bench) -> Outcome {
    let folder = tempfile::tempdir()?;
    // First, while nothing else has left holes in this process's memory.
    let memory = memory(bench, folder.path())?;
    let mut figures = throughput(bench, folder.path())?;
    figures.extend(caller_cost(bench, folder.path())?);
    figures.extend(memory);
    Ok(figures)
}

fn throughput(bench: &Bench, folder: &Path) -> Outcome {
    let count = bench.size(40_000, 200);
    let samples: Vec<(&str, Value)> = (0..count).map(sample::event).collect();
    let [bare, original, recorded] = medians(
        bench.size(5, 1),
        [
            &mut || timed(folder, |path| Ok(baseline::bare_lines(path, &samples)?)),
            &mut || timed(folder, |path| Ok(baseline::original_way(path, &samples)?)),
            &mut || {
                // The host has its events already; making them is not recording.
                let mut waiting = Some(events(&samples));
                timed(folder, |path| record_all(path, waiting.take().unwrap_or_default()))
            },
        ],
    );
    let per_second = |seconds: f64| count as f64 / seconds;
    let mut figures = vec![
        Figure::new("bare serde_json + write", per_second(bare), "events/s"),
        Figure::new("checks, open, append, close", per_second(original), "events/s"),
        Figure::new("recorder", per_second(recorded), "events/s"),
        Figure::ratio("recorder / bare", bare, recorded).at_least(0.5),
        Figure::ratio("recorder / checks, open, append, close", original, recorded).at_least(10.0),
    ];
    let few = samples.get(..bench.size(4_000, 50)).unwrap_or(&samples);
    match baseline::original_in_node(folder, few)? {
        Some(rate) => {
            figures.push(Figure::new("the same in Node", rate, "events/s"));
            let ratio = Figure::ratio("recorder / the same in Node", per_second(recorded), rate);
            figures.push(ratio.at_least(10.0));
        }
        None => eprintln!("node is NOT INSTALLED: the original's runtime was not measured"),
    }
    Ok(figures)
}

/// A fresh file for every round: nobody profits from what an earlier one wrote.
fn timed(folder: &Path, mut write: impl FnMut(&Path) -> Result<(), Box<dyn Error>>) -> Duration {
    let path = folder.join("session.trajectory.jsonl");
    std::fs::remove_file(&path).ok();
    let mut result = Ok(());
    let took = wall(|| result = write(&path));
    // A contender that failed early must not win.
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

/// Time that the caller loses per event, against a channel send of the same
/// value, and against doing the original's work in the caller.
fn caller_cost(bench: &Bench, folder: &Path) -> Outcome {
    let count = bench.size(CALLS, 200);
    let samples: Vec<(&str, Value)> = (0..count).map(sample::event).collect();
    let [send, record] = medians(
        bench.size(9, 1),
        [
            &mut || {
                let (sender, receiver) = mpsc::sync_channel::<Event>(count);
                let reader = std::thread::spawn(move || receiver.into_iter().count());
                // A closed channel would show as a fast one.
                let slowest =
                    percentile_of_calls(&samples, |event| sender.send(event).map_err(drop));
                drop(sender);
                if reader.join().is_ok_and(|read| read == count) { slowest } else { Duration::MAX }
            },
            &mut || {
                std::fs::remove_file(folder.join("session.trajectory.jsonl")).ok();
                let Ok(recorder) = recorder(folder) else { return Duration::MAX };
                let slowest = percentile_of_calls(&samples, |event| {
                    recorder.record(event);
                    Ok(())
                });
                let complete = recorder.flush_within(Duration::from_secs(600)).is_complete();
                let dropped = recorder.stats().dropped.total();
                if complete && dropped == 0 { slowest } else { Duration::MAX }
            },
        ],
    );
    Ok(vec![
        Figure::new("channel send, 99th percentile", send * 1e6, "us"),
        Figure::new("record, 99th percentile", record * 1e6, "us"),
        Figure::ratio("record / channel send, 99th percentile", record, send).at_most(3.0),
    ])
}

/// Each event is made just before its call, as a host makes it; only the call is timed.
fn percentile_of_calls(
    samples: &[(&str, Value)],
    mut call: impl FnMut(Event) -> Result<(), ()>,
) -> Duration {
    let mut calls = Vec::with_capacity(samples.len());
    for (kind, data) in samples {
        let made = event(kind, &data.to_string());
        let started = Instant::now();
        let done = call(made);
        calls.push(if done.is_ok() { started.elapsed() } else { Duration::MAX });
    }
    percentile(&mut calls, 99.0)
}

/// Memory after a tenth of the events and after all of them.
fn memory(bench: &Bench, folder: &Path) -> Outcome {
    let count = bench.size(1_000_000, 2_000);
    std::fs::remove_file(folder.join("session.trajectory.jsonl")).ok();
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
