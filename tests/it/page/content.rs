//! What a page says about a run: the same as every other reader.

use std::collections::BTreeSet;

use serde_json::Value;
use traj_core::memory::{MemoryBundle, MemoryBundleSource, MemorySources};
use traj_core::run::Prices;
use traj_export::inspect;
use traj_tests::export_fixture::{export_from, exported, request};
use traj_tests::page_file::{NONE, PageFile};
use traj_tests::rows::{assistant, message, tool_result, user};
use traj_tests::session_fixtures;

use super::{checked, page_of, parsed};

/// The bundles of all fixtures.
fn bundles() -> Vec<(String, MemoryBundle)> {
    let fixtures = session_fixtures::all().into_iter().map(|fixture| {
        let sources = MemorySources::new();
        sources.put("s1.jsonl", fixture.transcript.join("\n"));
        if !fixture.sidecar.is_empty() {
            sources.put("s1.trajectory.jsonl", fixture.sidecar.join("\n"));
        }
        (fixture.name.to_owned(), export_from(&sources, &request()).unwrap().files)
    });
    let rollouts = ["new-sub-agent", "new-approvals", "new-compaction", "old-plain", "old-fork"];
    let rollouts = rollouts.map(|name| {
        let file = format!("{}/fixtures/rollouts/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        #[expect(clippy::disallowed_methods, reason = "the fixture is in the repository")]
        let rollout = std::fs::read_to_string(file).unwrap();
        let sources = MemorySources::new();
        sources.put("s1.jsonl", rollout);
        (name.to_owned(), export_from(&sources, &request()).unwrap().files)
    });
    fixtures.chain(rollouts).collect()
}

#[test]
fn the_page_of_every_fixture_is_sound() {
    for (name, files) in bundles() {
        let report = checked(&page_of(&files)).unwrap();
        assert!(report.is_sound(), "{name}: {:?} {:?}", report.problems, report.findings);
        assert_eq!(report.files, files.len(), "{name}");
    }
}

#[test]
fn a_page_contains_every_file_byte_for_byte() {
    for (name, files) in bundles() {
        let page = parsed(&files);
        for (file, content) in &files {
            assert_eq!(page.file(&file.to_string()), content.as_bytes(), "{name} {file}");
        }
    }
}

/// Fixtures with one model call that failed before it cost a token.
const WITHOUT_TOKENS: [&str; 1] = ["pi/session"];

#[test]
fn the_index_counts_what_a_summary_counts() {
    for (name, files) in bundles() {
        let page = parsed(&files);
        let summary = inspect(&MemoryBundleSource::of(&files), Prices::shipped()).unwrap();
        let stated = serde_json::to_value(&summary).unwrap();
        assert_eq!(page.head["summary"], stated, "{name}");
        let calls = page.of_kind(4);
        let with_flag = |flag: u16| {
            calls.iter().filter(|item| page.index.flags[**item] & flag != 0).count() as u64
        };
        assert_eq!(calls.len() as u64, summary.calls.calls, "{name}");
        assert_eq!(with_flag(1), summary.calls.errors, "{name}");
        assert_eq!(with_flag(2), summary.calls.declined, "{name}");
        assert_eq!(with_flag(8), summary.calls.unanswered, "{name}");
        assert_eq!(with_flag(4096), summary.calls.timed_out, "{name}");
        let sum = |column: &[u32]| column.iter().map(|tokens| u64::from(*tokens)).sum::<u64>();
        // A call that failed before it cost a token has no bar in the plot.
        let without_tokens = WITHOUT_TOKENS.iter().filter(|fixture| **fixture == name).count();
        let bars = page.index.call_item.len() + without_tokens;
        assert_eq!(bars as u64, summary.usage.calls, "{name}");
        let (cached, fresh) = (sum(&page.index.cached), sum(&page.index.fresh));
        assert_eq!(cached, summary.usage.cached_tokens, "{name}");
        assert_eq!(cached + fresh, summary.usage.input_tokens, "{name}");
        assert_eq!(sum(&page.index.output), summary.usage.output_tokens, "{name}");
        assert_eq!(page.of_kind(7).len() as u64, summary.context.compactions, "{name}");
        assert_eq!(page.index.turns.len() as u64, summary.turns + 1, "{name}");
        assert_eq!(page.index.threads.len(), summary.sub_runs.len() + 1, "{name}");
        let sizes = ["items", "modelCalls", "threads", "turns"].map(|size| &page.head[size]);
        let index = &page.index;
        let lengths =
            [index.kind.len(), index.call_item.len(), index.threads.len(), index.turns.len()];
        assert_eq!(sizes.map(Value::as_u64), lengths.map(|length| Some(length as u64)), "{name}");
        let failures = page.index.flags.iter().filter(|flags| **flags & 128 != 0).count();
        assert_eq!(failures, usize::from(summary.first_failure.is_some()), "{name}");
    }
}

#[test]
fn every_row_can_be_reached() {
    for (name, files) in bundles() {
        let page = parsed(&files);
        let rows = page.rows();
        let items = page.index.row.iter().chain(&page.index.result_row);
        let reached: BTreeSet<u32> = items.copied().filter(|row| *row != NONE).collect();
        let all: BTreeSet<u32> = (0..u32::try_from(rows.len()).unwrap()).collect();
        assert_eq!(reached, all, "{name}");
        assert_eq!(page.head["rows"].as_u64(), Some(rows.len() as u64), "{name}");
    }
}

/// The text at a path of an item.
fn text(page: &PageFile, rows: &[Value], row: u32, path: u16) -> String {
    let value = page.follow(&rows[row as usize], path).expect("the path leads somewhere");
    match value {
        Value::String(text) => text,
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        other => other.to_string(),
    }
}

#[test]
fn paths_lead_to_the_texts_that_are_shown() {
    let call = |id: &str, arguments: &str| {
        assistant(&format!(
            r#"{{"type":"text","text":"so {id}"}},{{"type":"toolCall","id":"{id}","name":"shell","arguments":{arguments}}}"#
        ))
    };
    let rows = [
        message("a", None, 1, user("what now")),
        message("b", Some("a"), 2, call("c1", r#"{"command":"make all","timeout":5}"#)),
        message("c", Some("b"), 3, tool_result("c1", "shell", "it is made")),
        message("d", Some("c"), 4, call("c2", r#"{"path":"a.rs","oldText":"x","newText":"y"}"#)),
        message("e", Some("d"), 5, tool_result("c2", "shell", "changed")),
    ];
    let page = parsed(&exported(&rows, &[]).files);
    let (rows, index) = (page.rows(), &page.index);
    let shown = |item: usize| text(&page, &rows, index.row[item], index.path[item]);
    assert_eq!(page.of_kind(1).into_iter().map(shown).collect::<Vec<_>>(), ["what now"]);
    assert_eq!(page.of_kind(2).into_iter().map(shown).collect::<Vec<_>>(), ["so c1", "so c2"]);
    let calls = page.of_kind(4);
    let commands =
        calls.iter().map(|item| text(&page, &rows, index.row[*item], index.command_path[*item]));
    assert_eq!(commands.collect::<Vec<_>>(), ["make all", "a.rs"]);
    let results = calls
        .iter()
        .map(|item| text(&page, &rows, index.result_row[*item], index.result_path[*item]));
    assert_eq!(results.collect::<Vec<_>>(), ["it is made", "changed"]);
    let is_edit = calls.iter().map(|item| index.flags[*item] & 64 != 0);
    assert_eq!(is_edit.collect::<Vec<_>>(), [false, true]);
    let ids: Vec<&str> = calls.iter().map(|item| index.call_id[*item].as_str()).collect();
    assert_eq!(ids, ["c1", "c2"]);
}

#[test]
fn the_first_screen_says_what_went_wrong_and_that_it_went_well_later() {
    let call = |id: &str| {
        assistant(&format!(
            r#"{{"type":"toolCall","id":"{id}","name":"shell","arguments":{{"command":"make"}}}}"#
        ))
    };
    let lines: Vec<String> = (1..=100).map(|line| format!("line {line}")).collect();
    let failed = tool_result("c1", "shell", &lines.join("\n")).with("details", r#"{"exitCode":2}"#);
    let rows = [
        message("a", None, 1, user("make it")),
        message("b", Some("a"), 2, call("c1")),
        message("c", Some("b"), 3, failed),
        message("d", Some("c"), 4, call("c2")),
        message("e", Some("d"), 5, tool_result("c2", "shell", "made")),
    ];
    let page = parsed(&exported(&rows, &[]).files);
    let failure = &page.head["overview"]["failure"];
    assert_eq!((&failure["tool"], &failure["command"]), (&"shell".into(), &"make".into()));
    assert_eq!((&failure["inWords"], &failure["exitCode"]), (&"exit 2".into(), &2.into()));
    let last: Vec<&str> =
        failure["lastLines"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!((last.len(), last[0], last[39]), (40, "line 61", "line 100"));
    assert_eq!(failure["outputLines"], 100);
    let calls = page.of_kind(4);
    assert_eq!(failure["item"].as_u64(), Some(calls[0] as u64));
    assert_eq!(failure["passedLater"].as_u64(), Some(calls[1] as u64));
    assert!(page.html.contains("line 100") && page.html.contains("exit 2"), "without a script too");
}

#[test]
fn chunks_end_at_line_ends() {
    let long = "word ".repeat(100_000);
    let rows: Vec<String> = (0..40)
        .map(|number| {
            let text = if number == 20 { long.clone() } else { "x ".repeat(10_000) };
            traj_tests::rows::next_message(number, user(&text)).json()
        })
        .collect();
    let page = parsed(&exported(&rows, &[]).files);
    let files = page.head["files"].as_array().unwrap();
    let events = files.iter().find(|file| file["path"] == "events.jsonl").unwrap();
    let first = usize::try_from(events["chunk"].as_u64().unwrap()).unwrap();
    let starts: Vec<u64> =
        page.head["rowChunks"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    assert_eq!(starts.len() as u64, events["chunks"].as_u64().unwrap());
    let mut row = 0;
    for (number, start) in starts.iter().enumerate() {
        let chunk = &page.chunks[first + number];
        let lines = chunk.iter().filter(|byte| **byte == b'\n').count() as u64;
        assert_eq!((*start, chunk.last()), (row, Some(&b'\n')));
        assert!(chunk.len() <= 256 * 1024 || lines == 1);
        row += lines;
    }
    assert_eq!(row, 40);
    assert!(checked(&page.html).unwrap().is_sound());
}

#[test]
fn a_text_is_stored_once() {
    let texts: Vec<String> = (0..200_u32)
        .map(|number| {
            let words = (0..400_u32).map(|word| (word * 7919 + number * 104_729).to_string());
            words.collect::<Vec<_>>().join(" ")
        })
        .collect();
    let rows: Vec<String> = (0_u32..)
        .zip(&texts)
        .map(|(number, text)| traj_tests::rows::next_message(number, user(text)).json())
        .collect();
    let files = exported(&rows, &[]).files;
    let page = parsed(&files);
    let listed = page.head["files"].as_array().unwrap();
    let branch = listed.iter().find(|file| file["path"] == "session-branch.json").unwrap();
    assert_eq!(branch["encoding"], "copies");
    let stored: usize = page.chunks.iter().map(Vec::len).sum();
    let total: usize = files.values().map(String::len).sum();
    assert!(stored < total * 6 / 10, "{stored} of {total} bytes");
    assert!(checked(&page.html).unwrap().is_sound());
}

#[test]
fn a_session_without_events_has_a_page() {
    let mut request = request();
    request.allows_empty = true;
    let sources = MemorySources::new();
    sources.put("s1.jsonl", traj_tests::rows::HEADER);
    let files = export_from(&sources, &request).unwrap().files;
    let page = parsed(&files);
    assert_eq!((page.head["rows"].as_u64(), page.head["items"].as_u64()), (Some(0), Some(0)));
    assert!(checked(&page.html).unwrap().is_sound());
}

/// What the model saw is where the index says, and checked as in the session.
#[test]
fn the_parts_of_every_context_are_in_the_branch() {
    let sources = MemorySources::new();
    let session = include_str!("../../fixtures/claude-code/v2-1-requests.jsonl");
    sources.put("s1.jsonl", session.replace("what does it cost?\"}]", "mail me: a@b.example\"}]"));
    let files = export_from(&sources, &request()).unwrap().files;
    let report = checked(&page_of(&files)).unwrap();
    assert!(report.is_sound(), "{:?}", report.problems);
    let page = parsed(&files);
    let contexts = &page.index.contexts;
    let list = |name: &str| contexts[name].as_array().unwrap();
    let branch = page.file("session-branch.json");
    let mut checks = Vec::new();
    for part in list("parts") {
        checks.push(part["check"].as_str().unwrap());
        for place in part["at"].as_array().unwrap() {
            let at = |end: usize| usize::try_from(place[end].as_u64().unwrap()).unwrap();
            let entry: Value = serde_json::from_slice(&branch[at(0)..at(1)]).unwrap();
            let member = if part["basis"] == "frame" { "shape" } else { "message" };
            assert!(entry["data"][member].is_object(), "{entry}");
        }
    }
    checks.sort_unstable();
    checks.dedup();
    assert_eq!(checks, ["redacted", "verified"]);
    assert_eq!(list("requests").len(), 4);
    let rows = list("rows").iter().map(|pair| pair[1].as_u64().unwrap());
    assert_eq!(rows.collect::<BTreeSet<_>>(), BTreeSet::from([1, 2]));
    let whole = &list("requests")[2];
    assert_eq!((&whole["since"]["before"], &whole["since"]["kept"]), (&1.into(), &1.into()));
}
