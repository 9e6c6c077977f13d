//! `traj convert`: what it writes, compared with other readers of the same run.

mod counts;
mod long_texts;
mod round_trip;
mod send;

use serde_json::Value;
use traj_tests::export_home::{EXPORTS, ExportHome as Home, result};
use traj_tests::host::small_disk::SmallDisk;
use traj_tests::rows::{assistant, message, tool_result, user};
use traj_tests::traj_binary::{names_in, on_terminal, printed, traj_command};

const SECRET: &str = "ghp_R7kQ2mVx9LtB4nZc8WpY1sHd6GfJ3aKe5TuN";

/// A session with two calls, one of which failed and whose command is a
/// spreadsheet formula.
fn home() -> Home {
    let home = Home::new();
    let call = |id: &str, command: &str| {
        assistant(&format!(
            r#"{{"type":"toolCall","id":"{id}","name":"shell","arguments":{{"command":"{command}"}}}}"#
        ))
    };
    let failed = r#"{"role":"toolResult","toolCallId":"d","toolName":"shell","details":{"exitCode":3},"content":[{"type":"text","text":"no, \"really\""}]}"#;
    home.put_session(&[
        message("a", None, 1, user(&format!("build it with {SECRET}"))),
        message("b", Some("a"), 2, call("c", "make")),
        message("c", Some("b"), 3, tool_result("c", "shell", "made")),
        message("d", Some("c"), 4, call("d", "=cmd|' /c calc'!A1")),
        message("e", Some("d"), 5, failed),
    ]);
    home
}

fn converted(home: &Home, format: &str, more: &[&str]) -> String {
    let base = ["convert", "s1.jsonl", "--to", format, "--output", "-"];
    let output = home.traj(&[&base, more].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(!printed(&output).contains(SECRET), "{format}");
    printed(&output)
}

#[test]
fn every_call_is_a_row() {
    let home = home();
    let text = converted(&home, "jsonl", &[]);
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = rows.iter().map(|row| (&row["call_id"], &row["outcome"])).collect();
    assert_eq!(told, [(&"c".into(), &"ok".into()), (&"d".into(), &"failed".into())]);
    assert_eq!(rows[1]["exit_code"], 3);
    assert_eq!(rows[0]["started_at"], "2026-06-01T10:00:02.000Z");
    assert_eq!(rows[0]["duration_ms"], 1_000);
    let csv = converted(&home, "csv", &[]);
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(csv.contains(r#","'=cmd|' /c calc'!A1","#), "{csv}");
}

#[test]
fn a_trajectory_has_every_step_and_what_came_of_each_call() {
    let document: Value = serde_json::from_str(&converted(&home(), "atif", &[])).unwrap();
    let steps = document["steps"].as_array().unwrap();
    let numbers: Vec<_> = steps.iter().map(|step| step["step_id"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=steps.len() as u64).collect::<Vec<_>>());
    let results: Vec<_> =
        steps.iter().filter_map(|step| step["observation"]["results"].get(0)).collect();
    assert_eq!(results[0]["content"], "made");
    assert_eq!(results[1]["extra"]["exit_code"], 3);
}

#[test]
fn a_bundle_gives_the_same_bytes_in_any_form() {
    let home = home();
    home.export(&["--output", "one"]);
    home.export(&["--output", "two", "--archive", "zip"]);
    for (format, table) in
        [("csv", "calls"), ("jsonl", "calls"), ("parquet", "events"), ("parquet", "calls")]
    {
        let [one, two] = ["one", "two.zip"].map(|name| {
            let bundle = format!("{EXPORTS}/{name}");
            let base = ["convert", &bundle, "--to", format, "--table", table, "--output", "-"];
            let output = home.traj(&base);
            assert_eq!(output.status.code(), Some(0), "{format}");
            output.stdout
        });
        assert!(!one.is_empty() && one == two, "{format} {table}");
    }
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let home = home();
    let convert = |more: &[&str]| {
        let base = ["convert", "s1.jsonl", "--to", "csv", "--output", "calls.csv"];
        home.traj(&[&base, more].concat()).status.code()
    };
    home.folder.write("calls.csv", "mine").unwrap();
    assert_eq!(convert(&[]), Some(2));
    assert_eq!(home.folder.read_to_string("calls.csv").unwrap(), "mine");
    assert_eq!(convert(&["--force"]), Some(0));
    assert_eq!(convert(&["--force", "missing.jsonl"]), Some(1), "the second cannot be read");
    assert!(home.folder.read_to_string("calls.csv").unwrap().starts_with("session,"));
    let onto_itself = ["convert", "s1.jsonl", "--to", "csv", "--output", "s1.jsonl", "--force"];
    assert_eq!(home.traj(&onto_itself).status.code(), Some(2));
    let names = names_in(home.path());
    assert!(names.iter().all(|name| !name.contains("tmp")), "{names:?}");
}

#[test]
fn a_terminal_gets_no_binary_format() {
    let home = home();
    for (format, code) in
        [("csv", 0), ("otlp-json", 0), ("otlp", 2), ("parquet", 2), ("inspect", 2)]
    {
        let mut command = traj_command(home.path());
        command.args(["convert", "s1.jsonl", "--to", format, "--output", "-"]);
        let (screen, status) = on_terminal(&mut command);
        assert_eq!(status, Some(code), "{format}: {screen}");
    }
}

#[test]
fn an_output_does_not_become_part_of_a_bundle() {
    let home = home();
    home.export(&["--output", "one"]);
    let (bundle, inner) = (format!("{EXPORTS}/one"), format!("{EXPORTS}/one/calls.csv"));
    let output = home.traj(&["convert", &bundle, "--to", "csv", "--output", &inner]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(!home.folder.exists(&inner));
    assert_eq!(home.traj(&["verify", &bundle]).status.code(), Some(0));
}

#[test]
fn a_damaged_bundle_is_converted_as_far_as_possible() {
    let home = home();
    home.export(&["--output", "one"]);
    let (bundle, events) = (format!("{EXPORTS}/one"), format!("{EXPORTS}/one/events.jsonl"));
    let text = home.folder.read_to_string(&events).unwrap();
    home.folder.write(&events, text.replace("made", "maid") + "{torn").unwrap();
    for (format, needle) in
        [("jsonl", "\"call_id\":\"c\""), ("atif", "maid"), ("otlp-json", "shell")]
    {
        let convert = ["convert", &bundle, "--to", format, "--output", "out", "--force"];
        let output = home.traj(&convert);
        assert_eq!(output.status.code(), Some(4), "{format}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("traj verify"), "{format}: {said}");
        let text = home.folder.read_to_string("out").unwrap();
        assert!(text.contains(needle), "{format}: {text}");
    }
}

#[test]
fn a_full_disk_leaves_no_part_of_a_file() {
    let (Some(disk), home) = (SmallDisk::mount(), home()) else { return };
    disk.fill(0);
    let path = disk.path().join("calls.csv").to_string_lossy().into_owned();
    let output = home.traj(&["convert", "s1.jsonl", "--to", "csv", "--output", &path]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(names_in(disk.path()), ["ballast"]);
    disk.free();
    let output = home.traj(&["convert", "s1.jsonl", "--to", "csv", "--output", &path]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn a_bundle_with_a_secret_is_not_converted() {
    let home = home();
    home.export(&["--output", "one"]);
    let events = format!("{EXPORTS}/one/events.jsonl");
    let text = home.folder.read_to_string(&events).unwrap();
    home.folder.write(&events, text.replace("made", SECRET)).unwrap();
    for format in ["csv", "jsonl", "atif", "parquet"] {
        let bundle = format!("{EXPORTS}/one");
        let output = home.traj(&["convert", &bundle, "--to", format, "--output", "out"]);
        assert_eq!(output.status.code(), Some(3), "{format}");
        assert!(!home.folder.exists("out"));
    }
}

#[test]
fn several_runs_go_into_one_table_but_not_into_one_document() {
    let home = home();
    home.export(&["--output", "one"]);
    let bundle = format!("{EXPORTS}/one");
    let both = ["convert", &bundle, "s1.jsonl", "--output", "out", "--json", "--to"];
    let output = home.traj(&[&both[..], &["jsonl"]].concat());
    assert_eq!(result(&output)["result"]["runs"], 2);
    assert_eq!(result(&output)["result"]["records"], 4);
    let output = home.traj(&[&both[..], &["atif", "--force"]].concat());
    assert_eq!(output.status.code(), Some(2));
    let output =
        home.traj(&["convert", &bundle, "--to", "csv", "--table", "events", "--output", "-"]);
    assert_eq!(output.status.code(), Some(2), "there is no such table");
}
