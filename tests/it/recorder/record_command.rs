//! `traj record`, from the pipe to the sidecar.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use cap_std::fs::{Permissions, PermissionsExt as _};
use serde_json::Value;
use traj_tests::sidecar::{Place, SidecarContent};
use traj_tests::traj_binary::traj_command;

/// Runs `traj record` on the session `chat.jsonl`.
pub(crate) fn record(
    place: &Place,
    arguments: &[&str],
    variables: &[(&str, &str)],
    input: &[u8],
) -> Output {
    let mut command = traj_command(place.path());
    command.args(["record", "--session", "chat.jsonl", "--session-id", "chat"]).args(arguments);
    run(command.envs(variables.iter().copied()), input)
}

pub(crate) fn run(command: &mut Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that fails early does not read all of its input.
    stdin.write_all(input).ok();
    drop(stdin);
    child.wait_with_output().unwrap()
}

pub(crate) fn result(output: &Output) -> Value {
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let is_failure = output.status.code() == Some(1);
    // A signal is not a failure: the lines that were read are recorded.
    let is_ok = !matches!(output.status.code(), Some(1 | 4));
    assert_eq!((&document["schema"], &document["ok"]), (&"traj-cli/2".into(), &is_ok.into()));
    assert_eq!(document["error"].is_object(), is_failure, "{document}");
    document["result"].clone()
}

pub(crate) fn events(count: usize) -> Vec<u8> {
    let line = |number| format!("{{\"type\":\"test.event\",\"data\":{{\"text\":\"{number}\"}}}}\n");
    (0..count).map(line).collect::<String>().into_bytes()
}

#[test]
fn events_of_a_pipe_are_recorded_with_their_context() {
    let place = Place::new();
    let input = br#"{"type":"session.started","ts":"2026-01-02T03:04:05+01:00"}

{"type":"tool.call","data":{"b":1e400,"a":18446744073709551615},"ts":1767319445000}
"#;
    let context = [
        "--session-key",
        "agent:main",
        "--run-id",
        "run-1",
        "--workspace",
        "work",
        "--provider",
        "acme",
        "--model",
        "model-x",
        "--model-api",
        "chat",
        "--json",
    ];
    let output = record(&place, &context, &[], input);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let result = result(&output);
    assert_eq!((&result["writtenEvents"], &result["droppedEvents"]), (&2.into(), &0.into()));
    let sidecar = place.sidecar();
    sidecar.assert_sound();
    let rows: Vec<&str> = sidecar.rows.iter().map(|row| row.line.as_str()).collect();
    let start = r#"{"traceSchema":"openclaw-trajectory","schemaVersion":1,"traceId":"chat","source":"runtime","#;
    assert!(rows.iter().all(|row| row.starts_with(start)), "{rows:?}");
    assert!(rows[0].contains(r#""ts":"2026-01-02T02:04:05.000Z","seq":1,"sourceSeq":1,"#));
    let known = r#""provider":"acme","modelId":"model-x","modelApi":"chat""#;
    assert!(rows[0].contains(known) && rows[0].contains(r#""runId":"run-1""#), "{}", rows[0]);
    assert!(rows[1].ends_with(r#""data":{"b":1e400,"a":18446744073709551615}}"#), "{}", rows[1]);
    assert_eq!(place.mode(Place::SIDECAR), 0o600);
    assert!(place.folder.exists(Place::POINTER));
}

#[test]
fn lines_that_are_not_events_are_named_by_number_and_stop_nothing() {
    let place = Place::new();
    let input = b"{\"type\":\"a\"}\nnot json: hunter2\n[1]\n{\"type\":\" \"}\n{\"type\":\"b\",\"data\":7}\n\
        {\"type\":\"c\",\"ts\":\"hunter2\"}\n{\"type\":\"d\xff\"}\n{\"type\":\"e\"}";
    let output = record(&place, &["--json"], &[], input);
    assert_eq!(output.status.code(), Some(4));
    let result = result(&output);
    let lines: Vec<u64> = result["invalid"]
        .as_array()
        .unwrap()
        .iter()
        .map(|invalid| invalid["line"].as_u64().unwrap())
        .collect();
    assert_eq!((lines, &result["invalidLines"]), (vec![2, 3, 4, 5, 6], &5.into()));
    assert_eq!(place.sidecar().rows.len(), 3);
    for stream in [&output.stdout, &output.stderr] {
        assert!(!String::from_utf8_lossy(stream).contains("hunter2"), "no payload is repeated");
    }
}

#[test]
fn every_invalid_line_has_its_number() {
    let place = Place::new();
    let input = "{\"type\":\"a\"}\nhunter2\n".repeat(1_500);
    let output = record(&place, &["--json"], &[], input.as_bytes());
    assert_eq!(output.status.code(), Some(4));
    let result = result(&output);
    let listed = result["invalid"].as_array().unwrap();
    let lines: Vec<u64> = listed.iter().map(|invalid| invalid["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, (1..=1_500).map(|number| 2 * number).collect::<Vec<_>>());
    // The text output lists the first of them and says that there are more.
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        (reported.lines().count(), reported.contains("--json lists")),
        (21, true),
        "{reported}"
    );
}

#[test]
fn members_that_are_not_recorded_are_a_warning() {
    let place = Place::new();
    let input = b"{\"type\":\"a\"}\n{\"type\":\"b\",\"hunter2\":1,\"x\":{},\"data\":{\"y\":1}}\n";
    let output = record(&place, &["--json"], &[], input);
    assert_eq!(output.status.code(), Some(0));
    let result = result(&output);
    assert_eq!(result["linesWithUnknownMembers"], 1);
    assert_eq!(result["unknownMembers"], serde_json::json!([{"line": 2, "members": 2}]));
    assert_eq!(place.sidecar().rows.len(), 2);
    let people = record(&place, &[], &[], input);
    let said = String::from_utf8_lossy(&[people.stdout, people.stderr].concat()).into_owned();
    assert!(
        said.contains("WARNING: ignored unknown fields in 1 line;") && said.contains("line 2: "),
        "{said}"
    );
    assert!(!said.contains("hunter2"), "no payload is repeated");
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_first_line() {
    let place = Place::new();
    let line = "\u{feff}{\"type\":\"a\"}\n";
    let output = record(&place, &["--json"], &[], line.as_bytes());
    assert_eq!((output.status.code(), place.sidecar().rows.len()), (Some(0), 1));
    // On any other line it is an ordinary character.
    let output = record(&place, &["--json"], &[], line.repeat(2).as_bytes());
    assert_eq!((output.status.code(), place.sidecar().rows.len()), (Some(4), 2));
    assert_eq!(result(&output)["invalid"][0]["line"], 2);
}

#[test]
fn a_pipe_is_slowed_down_rather_than_cut() {
    let place = Place::new();
    let variables = [("TRAJ_MAX_QUEUE_EVENTS", "2"), ("TRAJ_DURABILITY", "relaxed")];
    let output = record(&place, &["--json"], &variables, &events(2_000));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let sidecar = place.sidecar();
    sidecar.assert_sound();
    sidecar.assert_runs_numbered();
    let expected: Vec<String> = (0..2_000).map(|number| number.to_string()).collect();
    assert_eq!(sidecar.texts(), expected);
}

#[test]
fn runs_continue_the_numbers_of_the_file() {
    let place = Place::new();
    for _ in 0..3 {
        assert!(record(&place, &[], &[], &events(2)).status.success());
    }
    let numbers: Vec<(u64, u64)> =
        place.sidecar().rows.iter().map(|row| (row.source_sequence, row.sequence)).collect();
    assert_eq!(numbers, [(1, 1), (2, 2), (3, 1), (4, 2), (5, 1), (6, 2)]);
}

#[test]
fn secrets_do_not_reach_the_disk() {
    let place = Place::new();
    let secret = "ghp_1234567890abcdefghijklmnopqrstuvwxyz";
    let long = format!("{} {secret}", "word ".repeat(10_000));
    let input =
        format!("{{\"type\":\"a\",\"data\":{{\"token\":\"{secret}\",\"text\":\"{long}\"}}}}\n");
    let output = record(&place, &["--json"], &[], input.as_bytes());
    assert_eq!(result(&output)["storedBlobs"], 1);
    let blobs = Place::at(&place.path().join(Place::BLOBS));
    let mut kept = place.sidecar_bytes();
    for name in blobs.names() {
        kept.extend(blobs.folder.read(name).unwrap());
    }
    let kept = String::from_utf8(kept).unwrap();
    assert!(!kept.contains(secret) && kept.contains("<redacted:"));
}

#[test]
fn a_directory_of_its_own_gets_the_sidecar_and_the_session_a_pointer() {
    for variable in ["OPENCLAW_TRAJECTORY_DIR", "TRAJ_TRAJECTORY_DIR"] {
        let place = Place::new();
        let output = record(&place, &[], &[(variable, "~/all/sidecars")], &events(1));
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let sidecar = place.folder.read("all/sidecars/chat.jsonl").unwrap();
        assert_eq!(SidecarContent::of(&sidecar).rows.len(), 1);
        assert_eq!(place.mode("all/sidecars"), 0o700);
        let pointer: Value =
            serde_json::from_slice(&place.folder.read(Place::POINTER).unwrap()).unwrap();
        let expected = place.path().join("all/sidecars/chat.jsonl");
        assert_eq!(pointer["runtimeFile"], expected.to_string_lossy().as_ref());
        assert!(!place.folder.exists(Place::SIDECAR));
    }
}

#[test]
fn recording_can_be_switched_off() {
    for variable in ["OPENCLAW_TRAJECTORY", "TRAJ_TRAJECTORY"] {
        let place = Place::new();
        let record = |argument: &str| {
            let mut command = traj_command(place.path());
            command.args(["record", "--session", "new/folder/chat.jsonl", "--session-id", "chat"]);
            command.arg(argument).env(variable, "off").env("TRAJ_TRAJECTORY_DIR", "~/sidecars");
            // More than fits into a pipe: the input is read to its end.
            run(&mut command, &events(10_000))
        };
        let output = record("--json");
        assert_eq!(output.status.code(), Some(0));
        let result = result(&output);
        assert_eq!((&result["enabled"], &result["recordedEvents"]), (&false.into(), &0.into()));
        let people = record("--color=never");
        assert_eq!(people.status.code(), Some(0));
        assert!(String::from_utf8_lossy(&people.stdout).contains("recording is switched off"));
        assert!(place.names().is_empty(), "no folder, no key: {:?}", place.names());
    }
}

#[test]
fn an_unsafe_file_is_reported_and_left_alone() {
    let place = Place::new();
    place.folder.write("precious", "do not touch").unwrap();
    place.folder.symlink("precious", Place::SIDECAR).unwrap();
    let output = record(&place, &[], &[], &events(3));
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("3 events were not recorded"), "{message}");
    assert!(message.contains("symbolic link"), "{message}");
    assert_eq!(place.folder.read_to_string("precious").unwrap(), "do not touch");
    let usage = record(&place, &["--session-id", ""], &[], b"");
    assert_eq!(usage.status.code(), Some(2));
}

#[test]
fn a_signal_ends_the_reading_and_keeps_what_was_read() {
    for (signal, name, code) in [("-TERM", "SIGTERM", 143), ("-INT", "SIGINT", 130)] {
        let place = Place::new();
        let mut command = traj_command(place.path());
        command.args(["record", "--session", "chat.jsonl", "--session-id", "chat", "--json"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&events(1_000)).unwrap();
        // Half a line, which is incomplete when the signal arrives.
        stdin.write_all(b"{\"type\":\"never").unwrap();
        while !place.folder.exists(Place::SIDECAR) {
            std::thread::yield_now();
        }
        let id = child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let result = result(&output);
        assert_eq!((&result["endedBy"], &result["invalidLines"]), (&name.into(), &0.into()));
        assert_eq!((&result["droppedEvents"], &result["pendingEvents"]), (&0.into(), &0.into()));
        let sidecar = place.sidecar();
        sidecar.assert_sound();
        assert!(!sidecar.rows.is_empty());
        assert_eq!(result["writtenEvents"], sidecar.rows.len() as u64);
        assert_eq!(result["recordedEvents"], result["writtenEvents"]);
    }
}

#[test]
fn a_directory_that_everyone_can_write_to_is_warned_of() {
    let place = Place::new();
    let output = record(&place, &["--json"], &[], &events(1));
    assert_eq!(result(&output)["warning"], Value::Null);
    place.folder.set_permissions(".", Permissions::from_mode(0o777)).unwrap();
    let output = record(&place, &["--json"], &[], &events(1));
    assert_eq!(result(&output)["warning"], "the sidecar's directory is world-writable");
    let people = record(&place, &[], &[], &events(1));
    assert!(
        String::from_utf8_lossy(&people.stdout)
            .contains("WARNING: the sidecar's directory is world-writable")
    );

    let mut doctor = traj_command(place.path());
    let doctor = doctor.args(["doctor", "--json"]).env("TRAJ_TRAJECTORY_DIR", place.path());
    let places = result(&doctor.output().unwrap())["places"].clone();
    let folder = places.as_array().unwrap().iter().find(|place| place["name"] == "sidecar folder");
    assert_eq!(folder.unwrap()["warning"], "others can write to it");
}
