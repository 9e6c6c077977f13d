//! Input of an unknown format is an error with a hint, and nothing is written.

use serde_json::Value;
use traj_tests::export_home::{ExportHome, result};
use traj_tests::rows::HEADER;

/// Files that no dialect recognises.
const FOREIGN: [(&str, &str); 3] = [
    ("other.jsonl", "{\"type\":\"user\",\"uuid\":\"u\",\"timestamp\":\"2026-06-01T10:00:00Z\"}\n"),
    ("data.jsonl", "{\"a\":1}\n{\"a\":2\n"),
    ("notes.jsonl", "plain text\n"),
];

fn home_with(files: &[(&str, &str)]) -> ExportHome {
    let home = ExportHome::new();
    home.folder.remove_file("s1.trajectory.jsonl").unwrap();
    for (name, content) in files {
        home.folder.write(name, content).unwrap();
    }
    home
}

/// The names of the files in a home, sorted.
fn names(home: &ExportHome) -> Vec<String> {
    let entries = home.folder.entries().unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn export(home: &ExportHome, name: &str, more: &[&str]) -> std::process::Output {
    let base = ["export", "--session", name, "--session-id", "s1", "--workspace", "ws"];
    home.traj(&[&base[..], more].concat())
}

/// The message and the hints of a failure.
fn failure(document: &Value) -> (String, usize) {
    let error = &document["error"];
    let hints = error["hints"].as_array().unwrap().len();
    (error["message"].as_str().unwrap().to_owned(), hints)
}

#[test]
fn an_export_of_an_unknown_file_exits_with_four_and_a_hint() {
    let home = home_with(&FOREIGN);
    for (name, _) in FOREIGN {
        let output = export(&home, name, &["--json"]);
        assert_eq!(output.status.code(), Some(4), "{name}");
        let (message, hints) = failure(&result(&output));
        assert!(message.contains("traj does not know its format"), "{name}: {message}");
        assert_eq!(hints, 1, "{name}");
        let said = String::from_utf8(export(&home, name, &[]).stderr).unwrap();
        assert!(said.contains(&message) && said.contains("--allow-empty"), "{name}: {said}");
        assert!(home.exports().is_empty(), "{name}");
    }
}

#[test]
fn an_empty_bundle_is_written_if_requested() {
    let home = home_with(&FOREIGN);
    for (count, (name, _)) in (1..).zip(FOREIGN) {
        let exported = result(&export(&home, name, &["--allow-empty", "--json"]));
        assert_eq!(exported["result"]["eventCount"], 0, "{name}");
        let notices = exported["result"]["notices"].as_array().unwrap();
        let is_told = notices.iter().any(|notice| notice["code"] == "session-without-events");
        assert!(is_told, "{name}: {notices:?}");
        assert_eq!(home.exports().len(), count, "{name}");
        let verified = home.traj(&["verify", exported["result"]["outputDir"].as_str().unwrap()]);
        assert!(verified.status.success(), "{name}");
    }
}

#[test]
fn a_session_whose_rows_give_no_event_is_not_exported_by_itself() {
    let rows = format!("{HEADER}\nnot a row\n{{\"type\":\"message\",\"id\n");
    let home = home_with(&[("s1.jsonl", &rows)]);
    let output = home.export(&[]);
    assert_eq!(output.status.code(), Some(4));
    let (message, hints) = failure(&result(&output));
    assert!(message.contains("none of its rows contains an event"), "{message}");
    assert_eq!(hints, 1);
    assert_eq!(result(&home.export(&["--allow-empty"]))["result"]["eventCount"], 0);
}

#[test]
fn empty_sessions_become_bundles_with_a_notice() {
    for content in ["", "\n \n", HEADER, &format!("{HEADER}\n\n")] {
        let home = home_with(&[("s1.jsonl", content)]);
        let exported = &result(&export(&home, "s1.jsonl", &["--json"]))["result"];
        assert_eq!(exported["eventCount"], 0, "{content:?}");
        assert_eq!(exported["notices"].as_array().unwrap().len(), 1, "{content:?}");
        assert_eq!(exported["notices"][0]["code"], "session-empty", "{content:?}");
        let said = String::from_utf8(export(&home, "s1.jsonl", &[]).stdout).unwrap();
        let reported = "session-empty: The session has no entries and no runtime events.";
        assert!(said.contains(reported), "{content:?}: {said}");
        let path = exported["outputDir"].as_str().unwrap();
        assert!(home.traj(&["verify", path]).status.success(), "{content:?}");
        assert!(home.traj(&["inspect", path]).status.success(), "{content:?}");
    }
}

#[test]
fn repair_of_an_unknown_file_exits_with_four_and_writes_nothing() {
    let home = home_with(&FOREIGN);
    let before = names(&home);
    for (name, content) in FOREIGN {
        for more in [&[][..], &["--write"]] {
            let output = home.traj(&[&["repair", name, "--json"], more].concat());
            assert_eq!(output.status.code(), Some(4), "{name}");
            let (message, hints) = failure(&result(&output));
            assert!(message.ends_with("has an unknown format"), "{name}: {message}");
            assert_eq!(hints, 1, "{name}");
        }
        assert_eq!(home.folder.read_to_string(name).unwrap(), content);
    }
    assert_eq!(names(&home), before);
}
