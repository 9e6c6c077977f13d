//! Processes that write to one sidecar at the same time, or end without a flush.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use traj_tests::sidecar::{Place, SidecarContent};

use crate::recorder::process::RecorderProcess;

/// The number that a child gave an event.
fn number(text: &str) -> u64 {
    text.split(':').nth(1).expect("run:number:text").parse().expect("a number")
}

/// The numbers of a run's events, in the order of the file.
pub(crate) fn numbers_of(content: &SidecarContent, run: &str) -> Vec<u64> {
    let of_run = content.rows.iter().filter(|row| row.run == run && row.kind == "test.event");
    of_run.map(|row| number(&row.text)).collect()
}

pub(crate) fn acknowledged(line: &str) -> Option<u64> {
    line.strip_prefix("acknowledged ")?.parse().ok()
}

pub(crate) fn assert_contiguous(numbers: &[u64]) {
    assert!(numbers.is_sorted_by(|one, next| one + 1 == *next), "{numbers:?}");
}

/// Runs several processes at the same time; each records this many events.
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
    for processes in [2, 16] {
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
                // A reader may see half of the last line while it is written,
                // and no other incomplete line.
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
    // Every event has a number, and the newest events are left.
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
