//! `traj inspect`: what it recognises as a session, as a bundle, and as neither.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use serde_json::Value;
use traj_tests::export_home::{EXPORTS, ExportHome as Home, result};
use traj_tests::rows::{HEADER, event, next_message};
use traj_tests::traj_binary::traj_command;

/// The number of events that are reported.
fn events(home: &Home, subject: &str) -> u64 {
    let output = home.traj(&["inspect", subject, "--json"]);
    assert!(output.status.success(), "{subject}: {}", String::from_utf8_lossy(&output.stdout));
    result(&output)["result"]["events"].as_u64().unwrap()
}

/// The exit code and the error for a file that cannot be inspected.
fn refusal(home: &Home, subject: &str) -> (Option<i32>, Value) {
    let output = home.traj(&["inspect", subject, "--json"]);
    let error = result(&output)["error"].clone();
    assert!(!error["hints"].as_array().unwrap().is_empty(), "{error}");
    (output.status.code(), error["message"].clone())
}

#[test]
fn calls_with_an_id_that_was_used_before_are_shown() {
    let home = Home::new();
    let row = |number: u32, message: &str| next_message(number, message).json();
    let rows: Vec<String> = [("read", false), ("shell", false), ("shell", true)]
        .into_iter()
        .zip(0..)
        .flat_map(|((tool, is_error), turn)| {
            let call = format!(
                r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"call_0","name":"{tool}","arguments":{{}}}}]}}"#
            );
            let answer = format!(
                r#"{{"role":"toolResult","toolCallId":"call_0","toolName":"{tool}","content":[],"isError":{is_error}}}"#
            );
            [row(turn * 2, &call), row(turn * 2 + 1, &answer)]
        })
        .collect();
    home.put_session(&rows);
    let tools = &result(&home.traj(&["inspect", "s1.jsonl", "--json"]))["result"]["tools"];
    assert_eq!((&tools["read"]["calls"], &tools["read"]["errors"]), (&1.into(), &0.into()));
    assert_eq!((&tools["shell"]["calls"], &tools["shell"]["errors"]), (&2.into(), &1.into()));
}

#[test]
fn content_counts_more_than_the_name() {
    let home = Home::new();
    home.export(&["--output", "b.jsonl"]);
    assert_eq!(events(&home, &format!("{EXPORTS}/b.jsonl")), 2);
    let session = home.folder.read_to_string("s1.jsonl").unwrap();
    for (start, name) in [("", "plain"), ("\u{feff}", "marked"), ("\n \r\n\t ", "blank")] {
        home.folder.write(name, format!("{start}{session}")).unwrap();
        assert_eq!(events(&home, name), 1, "{name}");
    }
    let (code, message) = refusal(&home, &format!("{EXPORTS}/b.jsonl/events.jsonl"));
    assert_eq!(code, Some(2), "{message}");
}

#[test]
fn a_sidecar_shows_its_session() {
    let home = Home::new();
    assert_eq!(events(&home, "s1.trajectory.jsonl"), 2);
    // The same for a sidecar without events, or with another name.
    home.folder.rename("s1.trajectory.jsonl", &home.folder, "moved.jsonl").unwrap();
    assert_eq!(events(&home, "moved.jsonl"), 2);
    home.folder.write("s1.trajectory.jsonl", "").unwrap();
    assert_eq!(events(&home, "s1.trajectory.jsonl"), 1);
    // Without its session, the sidecar is shown alone.
    home.folder.rename("moved.jsonl", &home.folder, "s1.trajectory.jsonl").unwrap();
    home.folder.remove_file("s1.jsonl").unwrap();
    let shown = result(&home.traj(&["inspect", "s1.trajectory.jsonl", "--json"]));
    let shown = &shown["result"];
    assert_eq!((&shown["events"], &shown["sessionId"]), (&1.into(), &"s1".into()));
    // In a separate directory it has the name of its session, which is elsewhere.
    home.folder.create_dir("recorded").unwrap();
    home.folder.rename("s1.trajectory.jsonl", &home.folder, "recorded/s1.jsonl").unwrap();
    assert_eq!(events(&home, "recorded/s1.jsonl"), 1);
    // A session is recognised by its content, whatever its name.
    home.folder.write("odd.trajectory.jsonl", HEADER).unwrap();
    assert_eq!(events(&home, "odd.trajectory.jsonl"), 0);
    let foreign = event("x", "2026-06-01T10:00:00Z", 1).of("../s").json();
    home.folder.write("foreign.jsonl", foreign).unwrap();
    let (code, message) = refusal(&home, "foreign.jsonl");
    assert_eq!(code, Some(2), "{message}");
}

#[test]
fn a_store_is_not_a_session() {
    let home = Home::new();
    let entry = r#"{"sessionId":"s1","updatedAt":1}"#;
    for store in [
        format!(r#"{{"agent:main:main":{entry}}}"#),
        format!("\u{feff}{{\n  \"agent:main:main\": {entry}\n}}\n"),
        "{}".to_owned(),
    ] {
        home.folder.write("sessions.json", store).unwrap();
        let refused = refusal(&home, "sessions.json");
        assert_eq!(refused, (Some(2), "sessions.json is a session store".into()));
    }
}

#[test]
fn the_same_damage_is_reported_once() {
    let home = Home::new();
    home.export(&["--output", "b"]);
    let bundle = format!("{EXPORTS}/b");
    let whole = home.folder.read_to_string(format!("{bundle}/events.jsonl")).unwrap();
    home.folder.write(format!("{bundle}/events.jsonl"), format!("{whole}{{}}\n")).unwrap();
    let output = home.traj(&["inspect", &bundle]);
    assert_eq!(output.status.code(), Some(4));
    let text = String::from_utf8(output.stdout).unwrap();
    let reported: Vec<&str> =
        text.lines().filter(|line| line.contains("events.jsonl:3 ")).collect();
    assert_eq!(reported, ["damaged  events.jsonl:3 is not an event"]);
    assert!(
        text.contains("damaged  events.jsonl "),
        "what the manifest states is reported too: {text}"
    );
}

#[test]
fn names_that_are_not_utf_8_are_refused() {
    let home = Home::new();
    home.folder.create_dir(OsStr::from_bytes(b"d\xff")).unwrap();
    for name in [&b"q\xff.jsonl"[..], b"d\xff/s1.jsonl"] {
        let name = OsStr::from_bytes(name);
        home.folder.copy("s1.jsonl", &home.folder, name).unwrap();
        for (arguments, named) in [
            (&["inspect"][..], name),
            (&["export", "--session"], name),
            (&["export", "--session", "s1.jsonl", "--runtime"], name),
            (&["export", "--session-key", "k", "--store"], name),
        ] {
            let mut command = traj_command(home.path());
            let output = command.args(arguments).arg(named).arg("--json").output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{arguments:?}");
            let error = &result(&output)["error"];
            let message = error["message"].as_str().unwrap();
            assert!(message.ends_with(" is not named in UTF-8"), "{message}");
            assert_eq!(error["hints"][0], "rename it, or copy it to another name");
        }
    }
}
