//! Forks, branches and sub-agents.

use crate::gather::{GatheredFile, RowWriter, file_rows};
use crate::json::Json;
use crate::memory::{MemoryScratch, MemorySources};
use crate::port::{Scratch as _, Sources as _};

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../../../../tests/fixtures/claude-code/", $name))
    };
}

fn gathered_from(sources: &MemorySources, name: &str) -> Option<Vec<String>> {
    let source = sources.open(name).unwrap();
    let mut scratch = MemoryScratch::default();
    let mut rows = RowWriter::new(&mut scratch, u64::MAX);
    let file = GatheredFile { name, source: &*source, sources };
    if !file_rows(&file, &mut rows).unwrap() {
        return None;
    }
    let length = rows.finish().unwrap();
    let mut bytes = vec![0; usize::try_from(length).unwrap()];
    scratch.read_exact_at(0, &mut bytes).unwrap();
    Some(String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect())
}

fn gathered(name: &str, content: &str) -> Option<Vec<String>> {
    let sources = MemorySources::new();
    sources.put(name, content);
    gathered_from(&sources, name)
}

/// The numbers of the lines that have a mark.
fn marked(rows: &[String], mark: &str) -> Vec<usize> {
    let is_marked = |row: &String| Json::parse(row).unwrap().get(mark).is_some();
    (1..).zip(rows).filter(|(_, row)| is_marked(row)).map(|(line, _)| line).collect()
}

#[test]
fn a_plain_session_is_read_in_place() {
    let name = "21326000-0000-4000-8000-00000000000a.jsonl";
    for content in [fixture!("v2-1-requests.jsonl"), fixture!("every-kind.jsonl")] {
        assert_eq!(gathered(name, content), None, "the second one was renamed");
    }
    assert_eq!(gathered("s.jsonl", fixture!("v2-0-parent.jsonl")), None, "no sub-agent is there");
}

#[test]
fn a_question_that_was_taken_back_does_not_count_but_results_that_branch_do() {
    let rows = gathered("s.jsonl", fixture!("v2-1-branches.jsonl")).unwrap();
    assert_eq!(marked(&rows, "left"), [9, 10]);
    assert_eq!(rows.last().unwrap(), r#"{"type":"branches-left","count":1,"entries":2}"#);
}

#[test]
fn rows_that_a_fork_copied_are_inherited() {
    let name = "20000000-0000-4000-8000-00000000000b.jsonl";
    let rows = gathered(name, fixture!("v2-0-fork.jsonl")).unwrap();
    assert_eq!(marked(&rows, "inherited"), (3..=9).collect::<Vec<_>>());
    // A later version writes the new session into them, but not a new time.
    let rewritten = fixture!("v2-0-fork.jsonl").replace("00000000000a", "00000000000b");
    let rows = gathered(name, &rewritten).unwrap();
    assert_eq!(marked(&rows, "inherited"), (3..=9).collect::<Vec<_>>());
}

#[test]
fn the_newest_version_says_which_session_asked() {
    let row = |id: u32, kind: &str, role: &str, more: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"u{id}","parentUuid":{},"isSidechain":false,"sessionId":"new","timestamp":"2026-06-01T10:00:0{id}.000Z","message":{{"role":"{role}","content":"x"}}{more}}}"#,
            if id == 1 { "null".to_owned() } else { format!("\"u{}\"", id - 1) }
        )
    };
    let rows = [
        row(1, "user", "user", ""),
        row(2, "assistant", "assistant", r#","requestSessionId":"old""#),
        row(3, "user", "user", ""),
        row(4, "assistant", "assistant", r#","requestSessionId":"new""#),
    ];
    assert_eq!(marked(&gathered("s.jsonl", &rows.join("\n")).unwrap(), "inherited"), [1, 2]);
}

#[test]
fn a_fork_made_at_once_counts_no_answer_of_its_origin() {
    let row = |id: u32, kind: &str, millis: u32| {
        format!(
            r#"{{"type":"{kind}","uuid":"u{id}","parentUuid":{},"isSidechain":false,"sessionId":"new","timestamp":"2026-06-01T10:00:00.{millis}Z","message":{{"role":"{kind}","content":"x"}}}}"#,
            if id == 1 { "null".to_owned() } else { format!("\"u{}\"", id - 1) }
        )
    };
    let rows = [
        r#"{"type":"queue-operation","operation":"enqueue","timestamp":"2026-06-01T10:00:00.500Z","sessionId":"new"}"#.to_owned(),
        row(1, "user", 100),
        row(2, "assistant", 499),
        row(3, "user", 520),
        row(4, "assistant", 900),
    ];
    assert_eq!(marked(&gathered("s.jsonl", &rows.join("\n")).unwrap(), "inherited"), [2, 3]);
}

#[test]
fn an_old_version_copies_rows_with_a_new_time() {
    let name = "10000000-0000-4000-8000-00000000000b.jsonl";
    let rows = gathered(name, fixture!("v1-0-resumed.jsonl")).unwrap();
    assert_eq!(marked(&rows, "inherited"), (2..=10).collect::<Vec<_>>());
}

#[test]
fn a_side_chain_is_named_after_its_first_row() {
    let name = "10000000-0000-4000-8000-00000000000a.jsonl";
    let rows = gathered(name, fixture!("v1-0-side-chain.jsonl")).unwrap();
    assert_eq!(marked(&rows, "agentId"), [5, 6, 7, 8]);
    assert!(rows[5].starts_with(r#"{"agentId":"00000000","#), "{}", rows[5]);
}

#[test]
fn sub_agents_are_read_between_the_other_rows() {
    for (place, has_note) in [("d/agent-0a1b2c3d", false), ("d/s/subagents/agent-0a1b2c3d", true)] {
        let sources = MemorySources::new();
        sources.put("d/s.jsonl", fixture!("v2-0-parent.jsonl"));
        sources.put(format!("{place}.jsonl"), fixture!("agent-0a1b2c3d.jsonl"));
        if has_note {
            let note = r#"{"agentType":"general-purpose","toolUseId":"toolu_12"}"#;
            sources.put(format!("{place}.meta.json"), note);
        }
        let rows = gathered_from(&sources, "d/s.jsonl").unwrap();
        let kinds: Vec<_> = rows
            .iter()
            .map(|row| {
                let row = Json::parse(row).unwrap();
                let kind = row.get("type").and_then(Json::as_str).unwrap().to_owned();
                if row.get("agentId").is_some() { format!("agent: {kind}") } else { kind }
            })
            .collect();
        let note = kinds.iter().position(|kind| kind == "agent: agent-metadata");
        assert_eq!(note.is_some(), has_note);
        let asked = kinds.iter().position(|kind| kind == "agent: user").unwrap();
        let said = kinds.iter().rposition(|kind| kind == "agent: assistant").unwrap();
        assert_eq!((asked - usize::from(has_note), said - asked), (7, 2), "{kinds:?}");
    }
}

#[test]
fn a_row_that_is_written_again_counts_once_where_it_belongs_now() {
    let row = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","parentUuid":"{parent}","isSidechain":false,"sessionId":"s","message":{{"role":"user","content":"x"}}}}"#
        )
    };
    let rows = [row("a", "-"), row("b", "a"), row("c", "-"), row("b", "c"), row("d", "b")];
    let rows = gathered("s.jsonl", &rows.join("\n")).unwrap();
    assert_eq!(marked(&rows, "repeated"), [4]);
    assert_eq!(marked(&rows, "left"), [0_usize; 0]);
}

#[test]
fn a_circle_ends() {
    let row = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","parentUuid":"{parent}","isSidechain":false,"sessionId":"s","message":{{"role":"user","content":"x"}}}}"#
        )
    };
    let _rows = gathered("s.jsonl", &[row("a", "b"), row("b", "a"), row("c", "c")].join("\n"));
}

/// A result whose output is in a file, said to be at this path.
fn stored(path: &str) -> String {
    let said = format!(
        "<persisted-output>\\nOutput too large (9KB). Full output saved to: {path}\\n\\nPreview"
    );
    let block = format!(r#"{{"type":"tool_result","tool_use_id":"t1","content":"{said}"}}"#);
    let common = r#""parentUuid":null,"isSidechain":false,"sessionId":"s","timestamp":"2026-06-01T10:00:00.000Z""#;
    format!(
        r#"{{{common},"type":"user","uuid":"u1","message":{{"role":"user","content":[{block}]}}}}"#
    )
}

/// The output that was added to the only row.
fn added(row: &str, file: &str, output: &str) -> Option<String> {
    let sources = MemorySources::new();
    sources.put("p/s.jsonl", row);
    sources.put(file, output);
    let rows = gathered_from(&sources, "p/s.jsonl")?;
    let row = Json::parse(rows.first()?).unwrap().into_owned();
    Some(row.get("storedOutput")?.get("t1")?.as_str()?.to_owned())
}

#[test]
fn long_output_is_taken_from_the_sessions_own_directory() {
    let whole = "line\n\"quoted\" \u{1}\n".repeat(1_000);
    let row = stored("/elsewhere/x/tool-results/b1.txt");
    assert_eq!(added(&row, "p/s/tool-results/b1.txt", &whole), Some(whole.clone()));
    assert_eq!(added(&row, "p/s/tool-results/other.txt", &whole), None);
    assert_eq!(added(&row, "p/other/tool-results/b1.txt", &whole), None, "of another session");
    assert_eq!(added(&stored("/etc/passwd"), "p/s/tool-results/b1.txt", &whole), None);
    let long = "x".repeat(crate::limits::Reading::standard().stored_output_bytes + 1);
    assert_eq!(added(&row, "p/s/tool-results/b1.txt", &long), None);
}

#[test]
fn a_session_with_too_many_rows_says_that_copies_are_not_recognised() {
    let row = stored("x");
    let rows = format!("{row}\n").repeat(super::survey::MOST_ROWS + 1);
    let gathered = gathered("s.jsonl", &rows).unwrap();
    assert_eq!(gathered.first().unwrap(), r#"{"type":"rows-not-sorted","limit":4000}"#);
}
