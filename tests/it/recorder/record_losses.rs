//! What `traj record` reports about events that it could not record: how many,
//! why, and what to do about it.

use std::process::{Command, Output};

use serde_json::Value;
use traj_tests::host::small_disk::SmallDisk;
use traj_tests::host::strace::strace;
use traj_tests::sidecar::{Place, SidecarContent};
use traj_tests::traj_binary::{traj_binary, traj_command};

use crate::recorder::process::NO_THREADS;
use crate::recorder::record_command::{events, record, result, run};

/// The message, causes and hints of a failed command.
fn error(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["error"].to_string()
}

#[test]
fn a_recorder_that_cannot_be_started_is_a_failure_with_a_cause() {
    let place = Place::new();
    let output = record(&place, &[], &[NO_THREADS], &events(3));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("3 events were not recorded"), "{message}");
    assert!(message.contains("thread could not be started"), "{message}");
    let output = record(&place, &["--json"], &[NO_THREADS], &events(3));
    let result = result(&output);
    assert_eq!((&result["enabled"], &result["droppedEvents"]), (&false.into(), &3.into()));
    assert_eq!(result["dropped"]["notStarted"], 3);
}

/// Events that fit are kept, the others are counted, and every line is complete.
fn assert_kept_what_fits(output: &Output, sidecar: &[u8], given: u64) {
    let result = result(output);
    let count = |name: &str| result[name].as_u64().unwrap();
    assert!(count("writtenEvents") > 0 && count("droppedEvents") > 0, "{result}");
    assert_eq!(count("writtenEvents") + count("droppedEvents"), given);
    assert_eq!(count("pendingEvents"), 0);
    let content = SidecarContent::of(sidecar);
    content.assert_sound();
    assert_eq!(content.rows.len() as u64, count("writtenEvents"), "a full disk takes no last word");
}

#[test]
fn a_full_disk_keeps_what_fits_and_says_what_does_not() {
    let (Some(disk), home) = (SmallDisk::mount(), Place::new()) else { return };
    disk.fill(40);
    let record = |input: &[u8]| {
        let mut command = traj_command(home.path());
        command.args(["record", "--session-id", "chat", "--json", "--session"]);
        run(command.arg(disk.path().join("chat.jsonl")), input)
    };
    let output = record(&events(1_000));
    assert!(error(&output).contains("No space left"), "{output:?}");
    assert_kept_what_fits(&output, &Place::at(disk.path()).sidecar_bytes(), 1_000);
    disk.free();
    assert!(record(&events(1)).status.success());
}

#[test]
fn a_file_that_may_not_grow_keeps_what_fits() {
    let place = Place::new();
    // Without the trap, the signal would end the process before the error.
    let script = r#"trap '' XFSZ && ulimit -f 40 && exec "$0" "$@""#;
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(traj_binary()).env("HOME", place.path());
    command.args(["record", "--session", "chat.jsonl", "--session-id", "chat", "--json"]);
    let output = run(command.current_dir(place.path()), &events(1_000));
    assert!(error(&output).contains("too large"), "{output:?}");
    assert_kept_what_fits(&output, &place.sidecar_bytes(), 1_000);
}

#[test]
fn a_full_sidecar_is_a_failure_that_is_counted() {
    let place = Place::new();
    let variables = [("TRAJ_MAX_SIDECAR_BYTES", "5000")];
    let output = record(&place, &["--json"], &variables, &events(100));
    assert_eq!(output.status.code(), Some(1));
    let stopped = result(&output);
    assert!(stopped["dropped"]["sidecarFull"].as_u64().unwrap() > 0);
    let said = error(&output);
    assert!(said.contains("limit of 5000 bytes"), "{said}");
    assert!(said.contains("TRAJ_MAX_SIDECAR_BYTES") && said.contains("TRAJ_WHEN_FULL"), "{said}");
    // The report agrees with the last event of the sidecar.
    let reported = |name: &str| -> u64 {
        let rows = place.sidecar().rows;
        let last_words = rows.iter().filter(|row| row.kind == "trace.truncated");
        let data = last_words.map(|row| serde_json::from_str::<Value>(&row.line).unwrap());
        data.map(|row| row["data"][name].as_u64().unwrap()).sum()
    };
    assert_eq!(stopped["droppedEvents"], reported("droppedEvents"));
    assert_eq!(stopped["droppedEventBytes"], reported("droppedEventBytes"));
    assert!(reported("droppedEventBytes") > 100 * reported("droppedEvents"));
    let rolling = [("TRAJ_MAX_SIDECAR_BYTES", "5000"), ("TRAJ_WHEN_FULL", "roll")];
    let output = record(&place, &["--json"], &rolling, &events(100));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(result(&output)["rolledLines"].as_u64().unwrap() > 0);
    assert_eq!(place.sidecar().rows.last().unwrap().text, "99");
}

#[test]
fn a_long_text_that_is_not_stored_is_a_loss_with_a_cause() {
    let long = format!("{{\"type\":\"a\",\"data\":{{\"text\":\"{}\"}}}}\n", "word ".repeat(10_000));
    let place = Place::new();
    let output = record(&place, &["--json"], &[("TRAJ_MAX_BLOB_BYTES", "10")], long.as_bytes());
    let said = error(&output);
    assert!(said.contains("not stored: 1 long string"), "{said}");
    assert!(said.contains("budget of 10 bytes") && said.contains("TRAJ_MAX_BLOB_BYTES"), "{said}");
    let counted = result(&output);
    assert_eq!((&counted["writtenEvents"], &counted["omittedBlobs"]), (&1.into(), &1.into()));
    assert_eq!((&counted["droppedEvents"], &counted["blobsOverBudget"]), (&0.into(), &1.into()));

    for reason in ["symbolic link", "directory"] {
        let place = Place::new();
        place.folder.create_dir("elsewhere").unwrap();
        if reason == "directory" {
            place.folder.write(Place::BLOBS, "a file").unwrap();
        } else {
            place.folder.symlink("elsewhere", Place::BLOBS).unwrap();
        }
        let output = record(&place, &["--json"], &[], long.as_bytes());
        let said = error(&output);
        assert!(said.contains("cannot store a long string"), "{said}");
        assert!(said.contains(reason) && !said.contains("TRAJ_MAX_BLOB_BYTES"), "{said}");
        assert_eq!(result(&output)["blobsOverBudget"], 0);
        assert_eq!(place.sidecar().rows.len(), 1);
    }
}

#[test]
fn an_event_that_fits_no_line_is_a_loss_with_a_cause() {
    let place = Place::new();
    let long = format!("{{\"type\":\"{}\"}}\n", "kind".repeat(400));
    let output = record(&place, &["--json"], &[("TRAJ_MAX_LINE_BYTES", "700")], long.as_bytes());
    let said = error(&output);
    assert!(said.contains("1 event was not recorded"), "{said}");
    assert!(said.contains("does not fit into a line of 700 bytes"), "{said}");
    assert!(said.contains("TRAJ_MAX_LINE_BYTES"), "{said}");
    assert!(result(&output)["droppedEventBytes"].as_u64().unwrap() > 1_600);
}

#[test]
fn events_that_are_not_synced_are_not_reported_as_lost() {
    let Some(mut command) = strace() else { return };
    let place = Place::new();
    command.args(["-o", "/dev/null", "-e", "inject=fdatasync,fsync:error=EIO"]);
    command.arg(traj_binary()).env("HOME", place.path()).current_dir(place.path());
    command.args(["record", "--session", "chat.jsonl", "--session-id", "chat", "--json"]);
    let output = run(&mut command, &events(3));
    let said = error(&output);
    assert!(said.contains("recorded 3 events, but a power failure can lose them"), "{said}");
    assert!(said.contains("Input/output error"), "{said}");
    assert_eq!((place.sidecar().rows.len(), &result(&output)["droppedEvents"]), (3, &0.into()));
}
