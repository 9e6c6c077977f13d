//! What rows of each version state.

use super::*;
use crate::run::words::{about, label};

fn facts(rows: &str) -> Vec<String> {
    let mut facts = Vec::new();
    for (line, row) in (1..).zip(rows.lines()) {
        let row = Json::parse(row).unwrap();
        assert_eq!(Dialect::of_row(&row), Some(Dialect::ClaudeCode), "line {line}");
        decode(&row, Place::line(line), &mut |event| {
            let thread = match event.thread {
                Thread::Main => String::new(),
                Thread::SubAgent(id) => format!("[{id}] "),
            };
            let about = about(&event.fact);
            facts.push(format!("{line} {thread}{} {about}", label(&event.fact)).trim().to_owned());
        });
    }
    facts
}

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../../../../tests/fixtures/claude-code/", $name, ".jsonl"))
    };
}

#[test]
fn every_kind_of_row_is_a_fact_or_known() {
    let rows = fixture!("every-kind");
    for row in rows.lines() {
        let row = Json::parse(row).unwrap();
        decode(&row, Place::line(1), &mut |event| {
            let is_unknown = matches!(&event.fact, Fact::Other { is_known: false, .. });
            assert!(!is_unknown, "{:?}", event.fact);
        });
    }
    insta::assert_snapshot!(facts(rows).join("\n"));
}

#[test]
fn old_versions_write_sub_agents_between_the_other_rows() {
    insta::assert_snapshot!(facts(fixture!("v1-0-side-chain")).join("\n"));
}

#[test]
fn refusals_interruptions_and_compactions_are_facts() {
    insta::assert_snapshot!(facts(fixture!("v2-1-branches")).join("\n"));
}

#[test]
fn requests_do_not_repeat_the_conversation() {
    insta::assert_snapshot!(facts(fixture!("v2-1-requests")).join("\n"));
}

#[test]
fn unknown_rows_notices_and_attachments_are_named() {
    let row = |kind: &str, members: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"u","parentUuid":"p","isSidechain":false,"sessionId":"s"{members}}}"#
        )
    };
    let names = |row: String| {
        let row = Json::parse(&row).unwrap();
        let mut names = Vec::new();
        decode(&row, Place::line(1), &mut |event| {
            if let Fact::Other { name, is_known: false } = event.fact {
                names.push(name.into_owned());
            }
        });
        names
    };
    assert_eq!(names(row("hologram", "")), ["hologram"]);
    assert_eq!(names(row("system", r#","subtype":"weather""#)), ["system/weather"]);
    assert_eq!(names(row("attachment", r#","attachment":{"type":"smell"}"#)), ["attachment/smell"]);
    let block = r#","message":{"role":"assistant","content":[{"type":"dance"}]}"#;
    assert_eq!(names(row("assistant", block)), ["assistant/dance"]);
}

#[test]
fn a_row_of_another_program_is_not_recognised() {
    for row in [
        r#"{"type":"user","uuid":"u","timestamp":"2026-06-01T10:00:00Z"}"#,
        r#"{"type":"mode","mode":"normal"}"#,
        r#"{"type":"message","id":"a","timestamp":1,"message":{"role":"user"}}"#,
        r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"role":"user","parts":[]}}"#,
    ] {
        assert!(!recognises(&Json::parse(row).unwrap()), "{row}");
    }
}
