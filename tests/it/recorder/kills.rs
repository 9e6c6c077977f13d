//! Recorders that are killed at any moment, also during a write: events that a
//! flush acknowledged survive, and at most one line is torn.

use cap_std::fs::OpenOptions;
use traj_core::port::{Room, TrajectoryStore as _};
use traj_tests::dice::Dice;
use traj_tests::rows;
use traj_tests::sidecar::{Place, SidecarContent, lines, options, session};
use traj_tests::traj_binary::traj_command;

use crate::recorder::crash::{acknowledged, assert_contiguous, numbers_of};
use crate::recorder::process::RecorderProcess;

/// Starts a run that records and flushes forever.
fn start(place: &Place, run: &str, settings: &[String]) -> RecorderProcess {
    let name = format!("run={run}");
    let mut all = vec![name.as_str()];
    all.extend(settings.iter().map(String::as_str));
    RecorderProcess::start(place.path(), &all)
}

/// Kills a run after its first flush: some time later, or while the sidecar is
/// growing. Returns how many of its events were acknowledged.
fn run_and_kill(place: &Place, run: &str, settings: &[String], dice: &mut Dice) -> u64 {
    let mut child = start(place, run, settings);
    child.tell("run 1000000");
    let mut last = 0;
    for _ in 0..=dice.below(12) {
        last = child.hear().as_deref().and_then(acknowledged).expect("a flush that worked");
    }
    let grows = dice.below(2) == 0;
    let before = place.sidecar_bytes().len();
    for _ in 0..dice.below(100_000) {
        if grows && place.folder.metadata(Place::SIDECAR).unwrap().len() > before as u64 {
            break;
        }
        std::hint::black_box(before);
    }
    child.kill().iter().filter_map(|line| acknowledged(line)).max().unwrap_or(last)
}

/// The number of torn lines, ended by a later writer or at the end of the file.
fn torn(content: &SidecarContent) -> usize {
    content.closed_torn_lines + usize::from(content.ends_torn)
}

/// Starts the next writer, which ends a torn line and continues the numbers.
fn close_off(place: &Place) -> SidecarContent {
    let mut writer = place.store().open(&session("chat"), &options()).unwrap();
    writer.append(&lines(&session("chat"), ["after"]), Room::Ordinary).unwrap();
    let content = place.sidecar();
    assert!(!content.ends_torn);
    assert_eq!(content.rows.last().unwrap().text, "after");
    content.assert_numbered();
    content
}

#[test]
fn a_kill_at_any_moment_costs_nothing_that_was_acknowledged() {
    let mut dice = Dice::random();
    for _ in 0..6 {
        kill_at_any_moment(&Place::new(), &mut dice);
    }
}

fn kill_at_any_moment(place: &Place, dice: &mut Dice) {
    for kill in 0..5 {
        let run = format!("run-{kill}");
        let mut settings = vec![format!("text={}", dice.below(12_000) + 1)];
        settings.extend((dice.below(2) == 0).then(|| "relaxed=yes".to_owned()));
        let flushed = run_and_kill(place, &run, &settings, dice);
        let content = place.sidecar();
        let numbers = numbers_of(&content, &run);
        assert!(numbers.len() as u64 >= flushed, "{} of {flushed} are there", numbers.len());
        assert_eq!(numbers.first(), Some(&1));
        assert_contiguous(&numbers);
        assert!(torn(&content) <= kill + 1, "one line is torn at most");
    }
    close_off(place).assert_runs_numbered();
}

#[test]
fn a_kill_while_rolling_costs_only_the_oldest() {
    let mut dice = Dice::random();
    let place = Place::new();
    for kill in 0..12 {
        let run = format!("run-{kill}");
        let text = format!("text={}", dice.below(2_000) + 1);
        let settings = [&text, "rolling=yes", "limit=60000", "relaxed=yes"].map(str::to_owned);
        let flushed = run_and_kill(&place, &run, &settings, &mut dice);
        let content = place.sidecar();
        let numbers = numbers_of(&content, &run);
        assert!(numbers.last().is_some_and(|last| *last >= flushed), "{flushed} of {numbers:?}");
        assert_contiguous(&numbers);
        content.assert_numbered();
        assert!(place.sidecar_bytes().len() <= 60_000);
        assert!(torn(&content) <= kill + 1);
    }
}

#[test]
fn a_line_that_is_torn_at_any_byte_is_closed_off_and_reported() {
    let mut dice = Dice::random();
    let mut is_reported = false;
    for _ in 0..12 {
        let place = Place::new();
        let text = format!("text={}", dice.below(5_000) + 100);
        let mut child = start(&place, "run", &[text]);
        child.ask("record 5");
        assert_eq!(child.ask("flush"), "true 0 none");
        let flushed = place.sidecar_bytes();
        child.ask("record 5");
        assert_eq!(child.ask("flush"), "true 0 none");
        child.kill();
        // The file after a write that stopped at this byte.
        let whole = place.sidecar_bytes();
        let cut = flushed.len() as u64 + 1 + dice.below((whole.len() - flushed.len()) as u64 - 1);
        let file = place.folder.open_with(Place::SIDECAR, OpenOptions::new().write(true)).unwrap();
        file.set_len(cut).unwrap();
        assert!(place.sidecar_bytes().starts_with(&flushed), "what was acknowledged is untouched");
        let content = place.sidecar();
        assert_eq!(content.closed_torn_lines, 0);
        assert_contiguous(&numbers_of(&content, "run"));

        let torn_lines = torn(&content);
        assert_eq!(close_off(&place).closed_torn_lines, torn_lines);
        if torn_lines == 1 && !is_reported {
            is_reported = true;
            assert_reported(&place);
        }
    }
    assert!(is_reported, "nearly every cut tears a line");
}

/// Asserts that the reading commands report the torn line.
fn assert_reported(place: &Place) {
    place.folder.write("chat.jsonl", rows::header("chat").line()).unwrap();
    let mut command = traj_command(place.path());
    let output = command.args(["export", "--session", "chat.jsonl", "--json"]).output().unwrap();
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let warning = &said["result"]["warnings"][0];
    assert_eq!((&warning["code"], &warning["count"]), (&"invalid-runtime-json".into(), &1.into()));
}
