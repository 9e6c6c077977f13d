//! The hosts in `examples/hosts`, run as their users run them.

mod converse;

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;
use traj_core::redaction::is_marker;
use traj_tests::traj_binary::{example_host, names_in, printed};

#[test]
fn a_program_redacts_json_values() {
    let mut child = Command::new(example_host("redact"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = "{\"user\":\"ann\",\"password\":\"Tr0ub4dor&3\"}\n[1,\"PASSWORD=Tr0ub4dor&3\"]\n";
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = printed(&output);
    assert!(!text.contains("Tr0ub4dor"), "{text}");
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["user"], "ann");
    assert!(is_marker(first["password"].as_str().unwrap()));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("hidden: "));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it looks at its own temporary directory")]
fn a_tokio_host_records_redacted_events_with_its_own_key() {
    let home = tempfile::tempdir().unwrap();
    let run = |trajectory: &str| {
        let mut command = Command::new(example_host("record"));
        command.arg("chat.jsonl").current_dir(home.path()).env_clear();
        command.env("HOME", home.path()).env("TRAJ_TRAJECTORY", trajectory);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        printed(&output)
    };
    assert_eq!(run("0"), "recorded 0 events, dropped 0\n");
    assert_eq!(names_in(home.path()), ["marker.key"]);
    assert_eq!(run("1"), "recorded 3 events, dropped 0\n");
    assert_eq!(run("1"), "recorded 3 events, dropped 0\n");
    let folder = cap_std::fs::Dir::open_ambient_dir(home.path(), cap_std::ambient_authority());
    let sidecar = folder.unwrap().read_to_string("chat.trajectory.jsonl").unwrap();
    assert_eq!(sidecar.lines().count(), 6);
    assert!(!sidecar.contains("k7Q2mX9vLb4Rt8Zp"), "{sidecar}");
    // Both runs use the key in the file, so the secret has one marker.
    let marker = |line| str::split(line, "<redacted:").nth(1)?.split('>').next();
    let markers: Vec<&str> = sidecar.lines().filter_map(marker).collect();
    assert_eq!(markers.len(), 2);
    assert_eq!(markers[0], markers[1]);
}
