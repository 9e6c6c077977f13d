//! Reaching a limit on the size of files (`ulimit -f`) is an error with a message.
//! The signal for it does not end the process.

use std::process::{Command, Output};

use traj_tests::sidecar::Place;
use traj_tests::traj_binary::traj_binary;

/// Runs a script with the command as `$0`, under a limit of this many blocks of
/// 512 bytes.
fn limited(place: &Place, blocks: u32, script: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -f {blocks} && {script}")]).arg(traj_binary());
    command.env_clear().env("HOME", place.path()).env("PATH", "/usr/bin:/bin");
    // A failure ends the command after about a second. Only a disk that is slow
    // may take this long.
    command.env("TRAJ_TRAJECTORY_FLUSH_TIMEOUT_MS", "3600000");
    command.current_dir(place.path()).output().unwrap()
}

#[test]
fn recording_ends_with_an_error_and_whole_lines() {
    let place = Place::new();
    let line = |number| format!("{{\"type\":\"test.event\",\"data\":{{\"text\":\"{number}\"}}}}\n");
    place.folder.write("events", (0..1_000).map(line).collect::<String>()).unwrap();
    let script = r#"exec "$0" record --session chat.jsonl --session-id chat < events"#;
    for blocks in [1, 40] {
        let output = limited(&place, blocks, script);
        assert_eq!(output.status.code(), Some(1), "{blocks}: {output:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("events were not recorded"), "{message}");
        assert!(message.contains("File too large"), "{message}");
        place.sidecar().assert_sound();
    }
    let output = limited(&place, 4_000, script);
    assert!(output.status.success(), "{output:?}");
    place.sidecar().assert_sound();
    assert!(place.sidecar().rows.len() >= 1_000);
}

#[test]
fn output_into_a_file_fails_with_a_message() {
    let place = Place::new();
    place.folder.write("text", "nothing to hide here\n".repeat(1_000)).unwrap();
    let output = limited(&place, 8, r#"exec "$0" redact --text < text > redacted"#);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("File too large"), "{message}");
}
