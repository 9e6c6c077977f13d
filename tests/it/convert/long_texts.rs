//! Texts that a bundle keeps as separate files: every format has them, or their real size,
//! or says what it left out.

use std::io::Read as _;

use serde_json::Value;
use traj_tests::export_home::{ExportHome as Home, result};
use traj_tests::rows::{assistant, message, tool_result, user};

/// The last line of every long text.
const END: &str = "this is the very last line";

const MIB: usize = 1024 * 1024;

/// At most this much of the texts of one event is converted.
const MOST: usize = 16 * MIB;

/// A text of at least this many bytes, of words in random order: it cannot be compressed
/// to almost nothing.
fn long_text(bytes: usize) -> String {
    const WORDS: [&str; 8] = ["make", "linking", "done", "unit", "of", "warning", "in", "crate"];
    let mut text = String::with_capacity(bytes + 256);
    let mut state = 7_u64;
    while text.len() < bytes {
        for _ in 0..10 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(WORDS[usize::try_from(state >> 61).unwrap()]);
            text.push(' ');
        }
        text.push('\n');
    }
    text.push_str(END);
    text
}

/// A session whose only call has this output.
fn home(output: &str) -> Home {
    let home = Home::new();
    let call = r#"{"type":"toolCall","id":"c","name":"shell","arguments":{"command":"make"}}"#;
    home.put_session(&[
        message("a", None, 1, user("build it")),
        message("b", Some("a"), 2, assistant(call)),
        message("c", Some("b"), 3, tool_result("c", "shell", output)),
    ]);
    home
}

/// Converts the session into a file. Returns its bytes and the notices. The exit code says
/// whether a text is missing that the format can hold.
fn converted(home: &Home, format: &str, more: &[&str]) -> (Vec<u8>, Vec<String>) {
    let base = ["convert", "s1.jsonl", "--to", format, "--output", "out", "--force", "--json"];
    let output = home.traj(&[&base, more].concat());
    let document = result(&output);
    let notices = document["result"]["notices"].as_array().unwrap().iter();
    let notices: Vec<String> =
        notices.map(|notice| notice["code"].as_str().unwrap().to_owned()).collect();
    let code = if notices.iter().any(|notice| notice == "long-texts") { 4 } else { 0 };
    assert_eq!(output.status.code(), Some(code), "{format}: {notices:?} {output:?}");
    (home.folder.read("out").unwrap(), notices)
}

fn text_of(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn content_of_atif(bytes: &[u8]) -> String {
    let document: Value = serde_json::from_slice(bytes).unwrap();
    let mut results = document["steps"].as_array().unwrap().iter();
    let result = results.find_map(|step| step["observation"]["results"].get(0)).unwrap();
    result["content"].as_str().unwrap().to_owned()
}

/// What the tool answered in the only sample of a log of Inspect.
fn content_of_inspect(bytes: Vec<u8>) -> String {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    let mut names = archive.file_names().map(Result::unwrap);
    let name = names.find(|name| name.starts_with("samples/")).unwrap().into_owned();
    drop(names);
    let mut text = String::new();
    archive.by_name(&name).unwrap().read_to_string(&mut text).unwrap();
    let sample: Value = serde_json::from_str(&text).unwrap();
    let mut messages = sample["messages"].as_array().unwrap().iter();
    let answer = messages.find(|message| message["role"] == "tool").unwrap();
    answer["content"].as_str().unwrap().to_owned()
}

/// Whether bytes contain a text.
fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// The sizes that the formats without texts state.
fn stated_sizes(home: &Home) -> [usize; 3] {
    let (jsonl, notices) = converted(home, "jsonl", &[]);
    assert_eq!(notices, Vec::<String>::new());
    let row: Value = serde_json::from_slice(&jsonl).unwrap();
    let (csv, _) = converted(home, "csv", &[]);
    let mut lines = text_of(&csv).lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (names, cells) = (lines.next().unwrap(), lines.next().unwrap());
    let column = names.iter().position(|name| *name == "output_bytes").unwrap();
    let (trace, _) = converted(home, "perfetto", &[]);
    let trace: Value = serde_json::from_slice(&trace).unwrap();
    let events = trace["traceEvents"].as_array().or_else(|| trace.as_array()).unwrap();
    let shown = events.iter().find_map(|event| event["args"]["output_bytes"].as_u64()).unwrap();
    [
        usize::try_from(row["output_bytes"].as_u64().unwrap()).unwrap(),
        cells[column].parse().unwrap(),
        usize::try_from(shown).unwrap(),
    ]
}

#[test]
fn every_format_has_a_text_that_is_a_file_of_the_bundle() {
    let text = long_text(6 * MIB);
    let home = home(&text);
    assert_eq!(stated_sizes(&home), [text.len(); 3]);
    let (atif, notices) = converted(&home, "atif", &[]);
    assert!(notices.is_empty(), "{notices:?}");
    assert!(content_of_atif(&atif) == text, "atif");
    let (log, notices) = converted(&home, "inspect", &[]);
    assert!(!notices.iter().any(|notice| notice == "long-texts"), "{notices:?}");
    assert!(content_of_inspect(log) == text, "inspect");
    for format in ["otlp", "otlp-json"] {
        let (traces, notices) = converted(&home, format, &["--content"]);
        assert!(!notices.iter().any(|notice| notice == "long-texts"), "{notices:?}");
        assert!(traces.len() > text.len() && contains(&traces, END), "{format}");
        let (traces, _) = converted(&home, format, &[]);
        assert!(!contains(&traces, END), "{format}");
    }
    // Columns are compressed; only a table of events has texts.
    let [events, calls] = ["events", "calls"].map(|table| {
        let (rows, notices) = converted(&home, "parquet", &["--table", table]);
        assert!(notices.is_empty(), "{notices:?}");
        rows.len()
    });
    assert!(events > 512 * 1024 && calls < 64 * 1024, "{events} {calls}");
}

#[test]
fn a_text_above_the_limit_begins_in_the_output_and_its_size_is_stated() {
    let text = long_text(20 * MIB);
    let home = home(&text);
    assert_eq!(stated_sizes(&home), [text.len(); 3]);
    let (atif, notices) = converted(&home, "atif", &[]);
    assert_eq!(notices, ["long-texts"]);
    let begin = text.get(..MOST);
    assert!(Some(content_of_atif(&atif).as_str()) == begin, "atif");
    let (log, notices) = converted(&home, "inspect", &[]);
    assert!(notices.iter().any(|notice| notice == "long-texts"), "{notices:?}");
    assert!(Some(content_of_inspect(log).as_str()) == begin, "inspect");
    let (_, notices) = converted(&home, "otlp-json", &["--content"]);
    assert!(notices.iter().any(|notice| notice == "long-texts"), "{notices:?}");
    let (_, notices) = converted(&home, "parquet", &["--table", "events"]);
    assert_eq!(notices, ["long-texts"]);
}
