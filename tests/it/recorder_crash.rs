//! Processes that are killed at any moment, and processes that write to one
//! sidecar at the same time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use traj_core::port::{Room, TrajectoryStore as _};
use traj_tests::sidecar::{Place, SidecarContent, lines, options, session};

use crate::recorder_process::RecorderProcess;

/// The number that a child gave an event.
fn number(text: &str) -> u64 {
    text.split(':').nth(1).expect("run:number:text").parse().expect("a number")
}

/// The numbers of a run's events, in the order of the file.
fn numbers_of(content: &SidecarContent, run: &str) -> Vec<u64> {
    let of_run = content.rows.iter().filter(|row| row.run == run && row.kind == "test.event");
    of_run.map(|row| number(&row.text)).collect()
}

fn acknowledged(line: &str) -> Option<u64> {
    line.strip_prefix("acknowledged ")?.parse().ok()
}

/// Starts a run, kills it some time after its `patience`th flush, and returns
/// how many of its events were acknowledged.
fn run_and_kill(place: &Place, run: &str, settings: &[&str], patience: usize) -> u64 {
    let name = format!("run={run}");
    let settings: Vec<&str> = [name.as_str()].into_iter().chain(settings.iter().copied()).collect();
    let mut child = RecorderProcess::start(place.path(), &settings);
    child.tell("run 1000000");
    let mut last = 0;
    for _ in 0..patience {
        last = child.hear().as_deref().and_then(acknowledged).expect("a flush that worked");
    }
    // Not between two flushes: anywhere in what follows.
    for spin in 0..patience * 7_919 % 50_000 {
        std::hint::black_box(spin);
    }
    let rest = child.kill();
    rest.iter().filter_map(|line| acknowledged(line)).max().unwrap_or(last)
}

fn assert_contiguous(numbers: &[u64]) {
    assert!(numbers.is_sorted_by(|one, next| one + 1 == *next), "{numbers:?}");
}

#[test]
fn a_kill_costs_nothing_that_was_acknowledged() {
    let place = Place::new();
    let kills = 20;
    for kill in 0..kills {
        let run = format!("run-{kill}");
        let relaxed: &[&str] = if kill % 2 == 0 { &["relaxed=yes"] } else { &[] };
        let settings = [&["text=3000"], relaxed].concat();
        let flushed = run_and_kill(&place, &run, &settings, kill * 5 % 11 + 1);
        let content = place.sidecar();
        let numbers = numbers_of(&content, &run);
        assert!(numbers.len() as u64 >= flushed, "{} of {flushed} are there", numbers.len());
        assert_eq!(numbers.first(), Some(&1));
        assert_contiguous(&numbers);
        assert!(content.closed_torn_lines + usize::from(content.ends_torn) <= kill + 1);
    }
    // The next writer leaves no torn end.
    let mut writer = place.store().open(&session("chat"), &options()).unwrap();
    writer.append(&lines(&session("chat"), ["after"]), Room::Ordinary).unwrap();
    let content = place.sidecar();
    assert!(!content.ends_torn);
    assert_eq!(content.rows.last().unwrap().text, "after");
    content.assert_numbered();
    content.assert_runs_numbered();
}

#[test]
fn a_kill_while_rolling_costs_only_the_oldest() {
    let place = Place::new();
    for kill in 0..8 {
        let run = format!("run-{kill}");
        let settings = ["text=2000", "rolling=yes", "limit=60000", "relaxed=yes"];
        let flushed = run_and_kill(&place, &run, &settings, kill * 5 % 13 + 3);
        let content = place.sidecar();
        let numbers = numbers_of(&content, &run);
        assert!(numbers.last().is_some_and(|last| *last >= flushed), "{flushed} of {numbers:?}");
        assert_contiguous(&numbers);
        content.assert_numbered();
        assert!(place.sidecar_bytes().len() <= 60_000);
        assert!(content.closed_torn_lines + usize::from(content.ends_torn) <= kill + 1);
    }
}

/// Lets processes write at the same time; every one records `events`.
fn crowd(place: &Place, processes: usize, events: u64, settings: &[&str]) {
    let start = |process: usize| {
        let run = format!("run=run-{process}");
        let all: Vec<&str> = [run.as_str()].into_iter().chain(settings.iter().copied()).collect();
        let mut child = RecorderProcess::start(place.path(), &all);
        assert_eq!(child.ask("hello"), "ready");
        child
    };
    let mut children: Vec<RecorderProcess> = (0..processes).map(start).collect();
    for child in &mut children {
        child.tell(&format!("run {events}"));
    }
    for mut child in children {
        let mut last = 0;
        while let Some(line) = child.hear().filter(|line| line != "done") {
            last = acknowledged(&line).expect("a flush that worked");
        }
        assert_eq!(last, events);
        child.finish();
    }
}

#[test]
fn processes_that_write_together_lose_and_tear_nothing() {
    for processes in [2, 8] {
        let place = Place::new();
        let events = 100;
        crowd(&place, processes, events, &["text=200", "relaxed=yes"]);
        let content = place.sidecar();
        content.assert_sound();
        content.assert_runs_numbered();
        assert_eq!(content.rows.first().unwrap().source_sequence, 1);
        assert_eq!(content.rows.len() as u64, processes as u64 * events);
        for process in 0..processes {
            let numbers = numbers_of(&content, &format!("run-{process}"));
            assert_eq!(numbers, (1..=events).collect::<Vec<_>>());
        }
    }
}

#[test]
fn processes_that_roll_together_lose_only_the_oldest_and_show_no_half_file() {
    let place = Place::new();
    let (processes, events) = (4, 150);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut looks = 0_u64;
            while !done.load(Ordering::Relaxed) {
                let content = place.sidecar();
                // A batch that is being written may end in the middle of a
                // line; nothing else is ever in the middle of anything.
                assert_eq!(content.closed_torn_lines, 0);
                content.assert_numbered();
                looks += 1;
            }
            looks
        });
        crowd(&place, processes, events, &["text=300", "rolling=yes", "limit=40000"]);
        done.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
    });
    let content = place.sidecar();
    content.assert_sound();
    content.assert_runs_numbered();
    // Every event got a number, and those that are left are the newest.
    assert_eq!(content.rows.last().unwrap().source_sequence, processes as u64 * events);
    assert!(content.rows.len() > 20 && content.rows.len() < 200, "{}", content.rows.len());
    for process in 0..processes {
        let numbers = numbers_of(&content, &format!("run-{process}"));
        assert_contiguous(&numbers);
        assert!(numbers.is_empty() || numbers.last() == Some(&events));
    }
    assert!(!place.names().iter().any(|name| name.ends_with(".tmp")), "{:?}", place.names());
}

#[test]
fn a_host_that_ends_without_a_flush_leaves_what_it_recorded() {
    let place = Place::new();
    let mut child = RecorderProcess::start(place.path(), &[]);
    child.ask("record 300");
    child.finish();
    assert_eq!(numbers_of(&place.sidecar(), "run"), (1..=300).collect::<Vec<_>>());
    place.sidecar().assert_sound();
}
