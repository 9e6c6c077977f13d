//! EIO and similar errors from every system call of a recorder: strace injects
//! them.

use traj_tests::host::strace::strace;
use traj_tests::sidecar::Place;

use crate::recorder::crash::numbers_of;
use crate::recorder::process::{BINARY, RecorderProcess};

/// Starts a recorder in which the calls named in `fault` fail if they concern
/// `path`. `None` if strace is missing or may not trace.
fn start(place: &Place, path: &str, fault: &str, settings: &[&str]) -> Option<RecorderProcess> {
    let mut command = strace()?;
    // By the name that is looked up in the directory, and by the path of an open file.
    command.args(["-o", "/dev/null", "-P", path, "-P"]).arg(place.path().join(path));
    command.args(["-e", &format!("inject={fault}"), BINARY]).arg(place.path()).args(settings);
    Some(RecorderProcess::spawn(command))
}

/// Flushes until it succeeds; returns the answers of the failed flushes.
fn flush_until_done(child: &mut RecorderProcess) -> Vec<String> {
    let mut failures = Vec::new();
    loop {
        let report = child.ask("flush");
        if report == "true 0 none" {
            return failures;
        }
        failures.push(report);
        assert!(failures.len() < 50, "{failures:?}");
    }
}

#[test]
fn a_call_that_fails_for_a_while_costs_and_repeats_nothing() {
    let faults = [
        ("write:error=EIO:when=2..3", "Input/output error"),
        ("write:error=EDQUOT:when=2..3", "quota exceeded"),
        ("write:error=EINTR:when=1..3", "none"),
        ("fdatasync:error=EIO:when=2", "Input/output error"),
        ("fdatasync:error=ENOSPC:when=1..2", "No space left"),
        ("flock:error=EINTR:when=1..3", "none"),
        ("flock:error=EIO:when=3..4", "Input/output error"),
        ("statx:error=EIO:when=5..8", "Input/output error"),
        ("openat,openat2:error=EIO:when=1..2", "Input/output error"),
        ("openat,openat2:error=EMFILE:when=1..2", "Too many open files"),
    ];
    for (fault, said) in faults {
        let place = Place::new();
        let Some(mut child) = start(&place, Place::SIDECAR, fault, &[]) else { return };
        for _ in 0..4 {
            child.ask("record 3");
            flush_until_done(&mut child);
        }
        let error = child.ask("error");
        assert!(error.contains(said), "{fault}: {error}");
        child.finish();
        let content = place.sidecar();
        content.assert_sound();
        assert_eq!(numbers_of(&content, "run"), (1..=12).collect::<Vec<_>>(), "{fault}");
    }
}

#[test]
fn lines_that_were_not_synced_are_not_durable_until_they_are_written_again() {
    let place = Place::new();
    let fault = "fdatasync:error=EIO:when=2";
    let Some(mut child) = start(&place, Place::SIDECAR, fault, &[]) else { return };
    child.ask("record 3");
    assert_eq!(child.ask("flush"), "true 0 none");
    let file = place.identity();
    child.ask("record 3");
    let report = child.ask("flush");
    assert!(report.starts_with("false 0 ") && report.contains("Input/output error"), "{report}");
    assert_eq!(place.identity(), file);
    // The kernel would report success now. The lines are in a new file, which was
    // synced before it replaced the old one.
    assert_eq!(child.ask("flush"), "true 0 none");
    assert_ne!(place.identity(), file);
    child.ask("record 3");
    assert_eq!(child.ask("flush"), "true 0 none");
    child.finish();
    place.sidecar().assert_sound();
    assert_eq!(numbers_of(&place.sidecar(), "run"), (1..=9).collect::<Vec<_>>());
}

#[test]
fn a_directory_that_cannot_be_synced_after_a_roll_repeats_nothing() {
    let place = Place::new();
    let settings = ["rolling=yes", "limit=8000", "text=300"];
    let fault = "fsync:error=EIO:when=2+2";
    let Some(mut child) = start(&place, ".", fault, &settings) else { return };
    let mut failures = Vec::new();
    for _ in 0..12 {
        child.ask("record 5");
        failures.extend(flush_until_done(&mut child));
    }
    child.finish();
    assert!(!failures.is_empty(), "the fault was met");
    let content = place.sidecar();
    content.assert_sound();
    content.assert_runs_numbered();
    assert_eq!(content.rows.last().unwrap().source_sequence, 60);
    assert_eq!(numbers_of(&content, "run").last(), Some(&60));
}

#[test]
fn a_filesystem_that_cannot_sync_directories_is_good_enough() {
    for error in ["EINVAL", "EOPNOTSUPP"] {
        let place = Place::new();
        let fault = format!("fsync:error={error}");
        let settings = ["rolling=yes", "limit=8000", "text=300"];
        let Some(mut child) = start(&place, ".", &fault, &settings) else { return };
        for _ in 0..12 {
            child.ask("record 5");
            assert_eq!(child.ask("flush"), "true 0 none", "{error}");
        }
        child.finish();
        place.sidecar().assert_sound();
        assert_eq!(place.sidecar().rows.last().unwrap().source_sequence, 60);
    }
}
