//! Which paths and names an export reveals.

use std::process::Stdio;

use traj_tests::export_home::{EXPORTS, ExportHome as Home, left_behind, result};
use traj_tests::rows::message;
use traj_tests::traj_binary::{names_in, traj_command};

#[test]
fn a_workspace_reached_through_a_link_is_written_to_and_hidden_by_both_names() {
    let home = Home::new();
    home.folder.symlink_contents(home.path().join("ws"), "link").unwrap();
    let place = home.path().display();
    let text = format!(r#"{{"role":"user","content":"{place}/ws/a and {place}/link/b"}}"#);
    home.put_session(&[message("a", None, 1, &text)]);
    let base = ["export", "--session", "s1.jsonl", "--workspace", "link", "--output", "b"];
    let output = home.traj(&base);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let events = home.folder.read_to_string(format!("{EXPORTS}/b/events.jsonl")).unwrap();
    assert!(events.contains("$WORKSPACE_DIR/a and $WORKSPACE_DIR/b"), "{events}");
    // Links inside the workspace are refused as usual.
    home.folder.rename("ws/.openclaw", &home.folder, "elsewhere").unwrap();
    home.folder.symlink("../elsewhere", "ws/.openclaw").unwrap();
    assert_eq!(home.traj(&base).status.code(), Some(1));
}

#[test]
fn links_may_lead_to_a_directory_but_the_directory_is_not_a_link() {
    let home = Home::new();
    let sessions = "real/.openclaw/agents/main/sessions";
    home.folder.create_dir_all(sessions).unwrap();
    home.folder.rename("s1.jsonl", &home.folder, format!("{sessions}/s1.jsonl")).unwrap();
    let store = r#"{"agent:main:main":{"sessionId":"s1"}}"#;
    home.folder.write(format!("{sessions}/sessions.json"), store).unwrap();
    home.folder.create_dir("user").unwrap();
    home.folder.symlink("real", "linked-home").unwrap();
    home.folder.symlink("../real/.openclaw", "user/.openclaw").unwrap();
    let export = |name: &str, more: &[&str]| {
        let mut command = traj_command(home.path());
        command.env("HOME", home.path().join("user")).arg("export").args(more);
        command.args(["--output-root", "to", "--output", name, "--json"]).output().unwrap()
    };
    let session = format!("{}/s1.jsonl", sessions.replace("real", "linked-home"));
    for (name, more) in [
        ("by-path", &["--session", &session][..]),
        ("by-key", &["--session-key", "agent:main:main"]),
    ] {
        let output = export(name, more);
        assert_eq!(result(&output)["result"]["transcriptEventCount"], 1, "{name}");
        assert!(output.stderr.is_empty(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
    home.folder.symlink(sessions, "sessions").unwrap();
    let refused = export("refused", &["--session", "sessions/s1.jsonl"]);
    assert!(result(&refused)["error"]["causes"].to_string().contains("symbolic link"));
    let linked = format!("{sessions}/linked.jsonl");
    home.folder.symlink("s1.jsonl", &linked).unwrap();
    assert_eq!(export("refused", &["--session", &linked]).status.code(), Some(1));
}

#[test]
fn a_session_id_that_is_a_secret_is_not_shown() {
    let home = Home::new();
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let export = |more: &[&str]| {
        let base = ["export", "--session", "s1.jsonl", "--session-id", secret];
        let place = ["--workspace", "ws"];
        let output = home.traj(&[&base[..], &place, more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output
    };
    let text = String::from_utf8(export(&[]).stdout).unwrap();
    assert!(text.contains("<redacted:"), "{text}");
    let document = result(&export(&["--json"]));
    let manifest = format!("{}/manifest.json", document["result"]["outputDir"].as_str().unwrap());
    let manifest = manifest.strip_prefix(&format!("{}/", home.path().display())).unwrap();
    let manifest: serde_json::Value =
        serde_json::from_slice(&home.folder.read(manifest).unwrap()).unwrap();
    assert_eq!(document["result"]["sessionId"], manifest["sessionId"]);
    for part in [secret, "ghp_16C7"] {
        assert!(!text.contains(part) && !document.to_string().contains(part), "{document}");
    }
}

#[test]
fn inspect_makes_no_temporary_place_and_removes_what_a_crash_left() {
    let home = Home::new();
    let inspect = || {
        let mut command = traj_command(home.path());
        command.args(["inspect", "s1.jsonl", "--json"]).env("TMPDIR", "tmp").output().unwrap()
    };
    let error = &result(&inspect())["error"];
    assert!(error["hints"].to_string().contains("TMPDIR"), "{error}");
    assert!(!home.folder.exists("tmp"));
    let (outer, inner) = (left_behind(0), left_behind(1));
    home.folder.create_dir_all(format!("tmp/{outer}/{inner}")).unwrap();
    assert_eq!(result(&inspect())["result"]["events"], 2);
    assert!(names_in(&home.path().join("tmp")).is_empty());
}

#[test]
fn a_report_that_cannot_be_printed_does_not_hide_the_bundle() {
    let home = Home::new();
    #[expect(clippy::disallowed_methods, reason = "a device that takes nothing")]
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = traj_command(home.path())
        .args(["export", "--session", "s1.jsonl", "--workspace", "ws", "--output", "b"])
        .stdout(Stdio::from(full))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the bundle is complete: ws/.openclaw/trajectory-exports/b"), "{said}");
    assert_eq!(home.exports(), ["b"]);
}

#[test]
fn times_that_no_clock_shows_are_refused() {
    let home = Home::new();
    for time in ["99999-01-01", "1969-12-31T23:59:59Z", "soon", ""] {
        let output = home.traj(&["export", "--session", "s1.jsonl", &format!("--now={time}")]);
        assert_eq!(output.status.code(), Some(2), "{time}");
    }
}

#[test]
fn a_sidecar_elsewhere_is_read_if_it_is_the_sessions() {
    let home = Home::new();
    let elsewhere = Home::new();
    let pointer = |target: &str| {
        let target = elsewhere.path().join(target).display().to_string();
        let pointer = serde_json::json!({"sessionId": "s1", "runtimeFile": target});
        home.folder.write("s1.trajectory-path.json", pointer.to_string()).unwrap();
        let exported = result(&home.export(&[]));
        let notices = exported["result"]["notices"].as_array().cloned().unwrap_or_default();
        let codes: Vec<_> = notices.iter().map(|notice| notice["code"].clone()).collect();
        (exported["result"]["runtimeFile"].as_str().unwrap().ends_with(&target), codes)
    };
    let event = elsewhere.folder.read_to_string("s1.trajectory.jsonl").unwrap();
    elsewhere.folder.create_dir_all("real").unwrap();
    elsewhere.folder.write("real/s1.jsonl", &event).unwrap();
    elsewhere.folder.write("real/s2.jsonl", &event).unwrap();
    assert_eq!(pointer("real/s1.jsonl"), (true, vec![]));
    // Another name, another session's events, no file, a link in the path.
    assert_eq!(pointer("real/s2.jsonl"), (false, vec!["pointer-ignored".into()]));
    elsewhere.folder.create_dir("other").unwrap();
    for foreign in [event.replace("\"s1\"", "\"s2\""), "{}".to_owned(), String::new()] {
        elsewhere.folder.write("other/s1.jsonl", foreign).unwrap();
        assert_eq!(pointer("other/s1.jsonl"), (false, vec!["pointer-ignored".into()]));
    }
    // A path that cannot even be opened does not end the export.
    let long = format!("{}/s1.jsonl", "x".repeat(300));
    assert_eq!(pointer(&long), (false, vec!["pointer-ignored".into()]));
    elsewhere.folder.symlink("real", "link").unwrap();
    assert_eq!(pointer("link/s1.jsonl"), (false, vec!["runtime-refused".into()]));
}

#[test]
fn a_file_that_is_not_a_transcript_is_reported() {
    let home = Home::new();
    for (session, code) in
        [("s1.trajectory.jsonl", "session-without-entries"), ("typo.jsonl", "session-missing")]
    {
        let base = ["export", "--session", session, "--runtime", "s1.trajectory.jsonl"];
        let output = home.traj(&[&base[..], &["--workspace", "ws", "--json"]].concat());
        let exported = result(&output);
        assert_eq!(exported["result"]["notices"][0]["code"], code, "{exported}");
    }
}
