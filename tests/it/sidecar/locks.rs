//! A sidecar that another process has locked costs events but never blocks the host.

use std::io::Write as _;
use std::process::Stdio;

use cap_std::fs::File;
use rustix::fs::{FlockOperation, flock};
use traj_core::port::{Room, SidecarError, TrajectoryStore as _};
use traj_core::settings::Settings;
use traj_fs::FsError;
use traj_tests::sidecar::{Place, event, lines, options, session};
use traj_tests::traj_binary::traj_command;

/// Locks the sidecar, as another process would, until the file is closed.
fn hold(place: &Place) -> File {
    let file = place.folder.open(Place::SIDECAR).unwrap();
    flock(&file, FlockOperation::LockExclusive).unwrap();
    file
}

#[test]
fn a_lock_that_is_held_is_a_failure_of_the_storage() {
    let place = Place::new();
    let chat = session("chat");
    let mut writer = place.store().open(&chat, &options()).unwrap();
    writer.append(&lines(&chat, ["one"]), Room::Ordinary).unwrap();
    let held = hold(&place);
    let error = writer.append(&lines(&chat, ["two"]), Room::Ordinary).unwrap_err();
    let SidecarError::Storage { source } = &error else { unreachable!("{error:?}") };
    assert!(matches!(source.downcast_ref(), Some(FsError::Held { .. })), "{source:?}");
    drop(held);
    writer.append(&lines(&chat, ["three"]), Room::Ordinary).unwrap();
    place.sidecar().assert_sound();
    assert_eq!(place.sidecar().texts(), ["one", "three"]);
}

#[test]
fn events_wait_while_a_lock_is_held_and_are_written_when_it_is_free() {
    let place = Place::new();
    let recorder = place.recorder(&Settings::standard());
    recorder.record(event("one"));
    assert!(recorder.flush().is_complete());
    let held = hold(&place);
    recorder.record(event("two"));
    let report = recorder.flush();
    assert_eq!(report.pending_events, 1);
    assert!(report.error.unwrap().contains("another process has locked"));
    drop(held);
    assert!(recorder.flush().is_complete());
    assert_eq!(recorder.stats().dropped.total(), 0);
    place.sidecar().assert_sound();
    assert_eq!(place.sidecar().texts(), ["one", "two"]);
}

#[test]
fn a_command_ends_although_the_lock_is_held() {
    let place = Place::new();
    place.folder.write(Place::SIDECAR, "").unwrap();
    let held = hold(&place);
    let mut command = traj_command(place.path());
    command.args(["record", "--session", "chat.jsonl", "--session-id", "chat"]);
    command.env("TRAJ_TRAJECTORY_FLUSH_TIMEOUT_MS", "100");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"{\"type\":\"x\"}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(place.sidecar_bytes().is_empty());
    drop(held);
}
