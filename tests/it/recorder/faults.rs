//! Disks that are full, read-only or unavailable, in separate processes.
//!
//! The tests of a full and of a read-only disk mount a small tmpfs in a mount
//! namespace that ends with the process. That needs root or a user namespace.
//! Without them, the two tests are reported as skipped, which is a failure only
//! in CI. The test with a limit on the size of files runs everywhere and covers
//! nearly the same code: a write that fails at first and then succeeds.

use std::path::Path;
use std::process::{Command, Stdio};

use traj_tests::host::skipped::skipped;
use traj_tests::sidecar::{Place, SidecarContent};

use crate::recorder::process::{BINARY, RecorderProcess};

/// Starts a recorder on a new tmpfs that is mounted on `folder`; `None` if the
/// host does not permit mounts.
fn start_on_tmpfs(folder: &Path, size: &str, settings: &[&str]) -> Option<RecorderProcess> {
    let mount = r#"mount -t tmpfs -o "size=$1" tmpfs "$0""#;
    let ways: [&[&str]; 2] = [&["--mount"], &["--user", "--map-root-user", "--mount"]];
    let unshare = |way: &[&str], script: &str| {
        let mut command = Command::new("unshare");
        command.args(way).args(["sh", "-c", script]).arg(folder).arg(size);
        command
    };
    let works = |way: &&&[&str]| {
        let mut probe = unshare(way, mount);
        let status = probe.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let Some(way) = ways.iter().find(works) else {
        skipped("no mount of our own on this host");
        return None;
    };
    let script =
        format!(r#"{mount} && binary=$2 && folder=$0 && shift 2 && exec "$binary" "$folder" "$@""#);
    let mut command = unshare(way, &script);
    command.arg(BINARY).args(settings);
    Some(RecorderProcess::spawn(command))
}

/// The sidecar as the child sees it, in its own mount namespace.
fn copied(child: &mut RecorderProcess) -> SidecarContent {
    let outside = Place::new();
    assert_eq!(child.ask(&format!("copy {}", outside.path().display())), "copied");
    outside.sidecar()
}

/// The numbers of written, waiting and dropped events.
fn stats(child: &mut RecorderProcess) -> [u64; 3] {
    let answer = child.ask("stats");
    let numbers: Vec<u64> = answer.split(' ').map(|word| word.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

fn count(content: &SidecarContent, kind: &str) -> usize {
    content.rows.iter().filter(|row| row.kind == kind).count()
}

#[test]
fn a_full_disk_costs_only_what_the_queue_cannot_hold() {
    let place = Place::new();
    let settings = ["queue=20", "text=500"];
    let Some(mut child) = start_on_tmpfs(place.path(), "512k", &settings) else { return };
    assert_eq!(child.ask("record 3"), "recorded");
    assert_eq!(child.ask("flush"), "true 0 none");

    // Full: nothing is lost while the queue has room.
    child.ask("fill");
    child.ask("record 20");
    let report = child.ask("flush");
    assert!(report.starts_with("false ") && report.contains("No space left"), "{report}");
    let [written, queued, dropped] = stats(&mut child);
    assert_eq!((written + queued, dropped), (23, 0));
    let full = copied(&mut child);
    full.assert_sound();
    assert_eq!(full.rows.len() as u64, written);
    child.ask("free");
    assert_eq!(child.ask("flush"), "true 0 none");
    let recovered = copied(&mut child);
    recovered.assert_sound();
    assert_eq!((count(&recovered, "test.event"), recovered.rows.len()), (23, 23));

    // Full for long: events that do not fit into the queue are counted and reported.
    child.ask("fill");
    child.ask("record 20");
    assert!(child.ask("flush").starts_with("false "));
    child.ask("record 100");
    let [written, queued, dropped] = stats(&mut child);
    assert!(dropped >= 80, "{dropped}");
    assert_eq!(written + queued + dropped, 143);
    child.ask("free");
    assert_eq!(child.ask("flush"), "true 0 none");
    let content = copied(&mut child);
    content.assert_sound();
    content.assert_runs_numbered();
    let kinds = (count(&content, "test.event") as u64, count(&content, "trace.truncated"));
    assert_eq!(kinds, (143 - dropped, 1));
    let reported = content.rows.iter().find(|row| row.kind == "trace.truncated").unwrap();
    assert!(reported.line.contains(&format!(r#""droppedEvents":{dropped}"#)), "{}", reported.line);
    child.finish();
}

#[test]
fn a_read_only_disk_is_waited_for() {
    let place = Place::new();
    let Some(mut child) = start_on_tmpfs(place.path(), "512k", &[]) else { return };
    assert_eq!(child.ask("remount ro"), "true");
    child.ask("record 5");
    let report = child.ask("flush");
    assert!(report.starts_with("false 5 ") && report.contains("Read-only"), "{report}");
    assert_eq!(child.ask("remount rw"), "true");
    assert_eq!(child.ask("flush"), "true 0 none");
    let content = copied(&mut child);
    content.assert_sound();
    assert_eq!(content.rows.len(), 5);
    child.finish();
}

#[test]
fn a_limit_on_files_leaves_whole_lines_and_the_host_alive() {
    let place = Place::new();
    let mut child = RecorderProcess::start(place.path(), &["text=500"]);
    child.ask("record 3");
    assert_eq!(child.ask("flush"), "true 0 none");
    let before = place.sidecar_bytes();

    // Writes now fail in the middle of the second new line.
    child.ask(&format!("bytes {}", before.len() + 1_000));
    child.ask("record 10");
    let report = child.ask("flush");
    assert!(report.starts_with("false ") && report.contains("too large"), "{report}");
    let cut = place.sidecar();
    cut.assert_sound();
    let pending: u64 = report.split(' ').nth(1).unwrap().parse().unwrap();
    assert_eq!(cut.rows.len() as u64 + pending, 13, "every event is in the file or waits");

    child.ask("bytes 1000000");
    assert_eq!(child.ask("flush"), "true 0 none");
    let content = place.sidecar();
    content.assert_sound();
    content.assert_runs_numbered();
    assert_eq!((content.rows.len(), count(&content, "test.event")), (13, 13));
    child.finish();
}

#[test]
fn a_host_without_file_handles_is_waited_for() {
    let place = Place::new();
    let mut child = RecorderProcess::start(place.path(), &[]);
    child.ask("files 5");
    child.ask("record 5");
    let report = child.ask("flush");
    assert!(report.starts_with("false 5 ") && report.contains("Too many open files"), "{report}");
    child.ask("files 256");
    assert_eq!(child.ask("flush"), "true 0 none");
    // The sidecar's handle is open now, and no other handle is needed.
    child.ask("files 5");
    child.ask("record 5");
    let report = child.ask("flush");
    child.finish();
    assert_eq!(report, "true 0 none");
    assert_eq!(place.sidecar().rows.len(), 10);
    place.sidecar().assert_sound();
}

#[test]
fn a_recorder_that_is_off_starts_no_thread() {
    let threads = |settings: &[&str]| {
        let place = Place::new();
        let mut child = RecorderProcess::start(place.path(), settings);
        child.ask("record 10");
        let threads = child.ask("threads");
        child.finish();
        (threads, place.names().is_empty())
    };
    assert_eq!(threads(&["disabled=yes"]), ("1".to_owned(), true));
    assert_eq!(threads(&[]), ("2".to_owned(), false));
}

#[test]
fn the_umask_changes_nothing() {
    for umask in ["umask=000", "umask=077"] {
        let place = Place::new();
        let mut child = RecorderProcess::start(place.path(), &[umask, "text=40000"]);
        child.ask("record 1");
        assert_eq!(child.ask("flush"), "true 0 none");
        child.finish();
        assert_eq!(place.mode(Place::SIDECAR), 0o600, "{umask}");
        assert_eq!(place.mode(Place::POINTER), 0o600, "{umask}");
        assert_eq!(place.mode(Place::BLOBS), 0o700, "{umask}");
        let blobs = Place::at(&place.path().join(Place::BLOBS));
        let names = blobs.names();
        assert_eq!((names.len(), blobs.mode(&names[0])), (1, 0o600), "{umask}");
    }
}
