//! A run that is exported and read back is the same run.

use std::collections::BTreeMap;

use serde_json::Value;
use traj_core::dialect::Dialect;
use traj_core::json::Json;
use traj_core::memory::{MemoryBundle, MemoryBundleSource, MemorySources};
use traj_core::port::{BundleFile, Sources as _};
use traj_core::run::{Fold, Prices, Run, SessionFiles};
use traj_export::{Selection, read_run};
use traj_tests::export_fixture::{Exported, export_from, request};
use traj_tests::rows::{self, HEADER, message, user};
use traj_tests::session_fixtures;
use traj_tests::session_fixtures::agent_files::AGENT_FILES;

/// The rollouts of `tests/fixtures/rollouts`.
pub(crate) const ROLLOUTS: [(&str, &str); 11] = [
    ("old-plain", include_str!("../../fixtures/rollouts/old-plain.jsonl")),
    ("old-fork", include_str!("../../fixtures/rollouts/old-fork.jsonl")),
    ("old-compaction", include_str!("../../fixtures/rollouts/old-compaction.jsonl")),
    ("old-approvals", include_str!("../../fixtures/rollouts/old-approvals.jsonl")),
    ("new-plain", include_str!("../../fixtures/rollouts/new-plain.jsonl")),
    ("new-fork", include_str!("../../fixtures/rollouts/new-fork.jsonl")),
    ("new-compaction", include_str!("../../fixtures/rollouts/new-compaction.jsonl")),
    ("new-approvals", include_str!("../../fixtures/rollouts/new-approvals.jsonl")),
    ("new-code-mode", include_str!("../../fixtures/rollouts/new-code-mode.jsonl")),
    ("new-sub-agent", include_str!("../../fixtures/rollouts/new-sub-agent.jsonl")),
    ("new-parent", include_str!("../../fixtures/rollouts/new-parent.jsonl")),
];

/// The sessions of `tests/fixtures/claude-code` whose times do not go back, as
/// those of a fork do.
pub(crate) const CLAUDE: [(&str, &str); 6] = [
    ("every-kind", include_str!("../../fixtures/claude-code/every-kind.jsonl")),
    ("v1-0-side-chain", include_str!("../../fixtures/claude-code/v1-0-side-chain.jsonl")),
    ("v1-0-resumed", include_str!("../../fixtures/claude-code/v1-0-resumed.jsonl")),
    ("v2-0-parent", include_str!("../../fixtures/claude-code/v2-0-parent.jsonl")),
    ("v2-1-branches", include_str!("../../fixtures/claude-code/v2-1-branches.jsonl")),
    ("v2-1-requests", include_str!("../../fixtures/claude-code/v2-1-requests.jsonl")),
];

fn sources_of(session: &str, sidecar: &str) -> MemorySources {
    let sources = MemorySources::new();
    sources.put("s.jsonl", session);
    if !sidecar.is_empty() {
        sources.put("s.trajectory.jsonl", sidecar);
    }
    sources
}

/// The run of a session file and its sidecar.
fn run_of_files(session: &str, sidecar: &str) -> Run {
    let sources = sources_of(session, sidecar);
    let transcript = sources.open("s.jsonl").unwrap();
    let recorded = sources.open("s.trajectory.jsonl").ok();
    let id = Dialect::stated_session(session.as_bytes()).unwrap();
    let files = SessionFiles {
        transcript: Some(&*transcript),
        sidecar: recorded.as_deref(),
        session: &id,
        longest_row: traj_core::limits::Reading::standard().session_line_bytes,
    };
    let read = files.fold_with(&|| Fold::new(Prices::shipped())).unwrap();
    let mut listed = files.fold(Prices::shipped()).unwrap();
    listed.run.moments.clone_from(&read.run.moments);
    listed.run.moments_omitted = read.run.moments_omitted;
    assert_eq!(listed, read, "moments make no other difference");
    read.run
}

/// The run of a bundle.
fn run_of_bundle(files: &MemoryBundle) -> Run {
    let (run, too_long) = read_run(&MemoryBundleSource::of(files), Prices::shipped()).unwrap();
    assert_eq!(too_long, 0);
    run
}

fn exported(session: &str, sidecar: &str) -> Exported {
    let sources = sources_of(session, sidecar);
    let mut request = request();
    request.selection = Selection::file("s.jsonl");
    export_from(&sources, &request).unwrap()
}

/// Asserts that the files and their bundle have the same run, apart from the
/// workspace, whose path is redacted. Returns the run.
fn assert_same_run(name: &str, session: &str, sidecar: &str) -> Run {
    let mut from_files = run_of_files(session, sidecar);
    let exported = exported(session, sidecar);
    let mut from_bundle = run_of_bundle(&exported.files);
    assert_eq!(from_bundle.events, exported.report.event_count, "{name}");
    (from_files.workspace, from_bundle.workspace) = (None, None);
    assert_eq!(from_files, from_bundle, "{name}");
    from_bundle
}

#[test]
fn rollouts_of_both_generations_are_the_same_run_in_a_bundle() {
    insta::assert_snapshot!(ROLLOUTS.map(reported).join("\n"));
}

#[test]
fn sessions_of_claude_code_are_the_same_run_in_a_bundle() {
    insta::assert_snapshot!(CLAUDE.map(reported).join("\n"));
}

/// The run of a file, which its bundle must repeat, in a line.
fn reported((name, rollout): (&str, &str)) -> String {
    let run = assert_same_run(name, rollout, "");
    let calls = run.calls;
    format!(
        "{name}: {} {:?}, turns {}, calls {} (failed {}, declined {}, interrupted {}, \
             unanswered {}), tokens {}, compactions {}, rewinds {}, approvals {}, sub-agents {:?}",
        run.session.as_deref().unwrap_or("-"),
        run.status,
        run.turns,
        calls.calls,
        calls.failed,
        calls.declined,
        calls.interrupted,
        calls.unanswered,
        run.usage().total(),
        run.compactions,
        run.rewinds,
        run.approvals_asked,
        run.sub_runs,
    )
}

#[test]
fn files_of_other_agents_are_the_same_run_in_a_bundle() {
    let reported: Vec<String> = AGENT_FILES
        .iter()
        .map(|file| {
            let name = file.name;
            for line in file.content.lines() {
                let row = Json::parse(line).unwrap();
                let dialect = Dialect::of_row(&row).unwrap();
                // Only the header says which program's transcript it is.
                let is_entry = dialect == Dialect::OpenClaw && file.dialect == Dialect::Pi.as_str();
                assert!(is_entry || dialect.as_str() == file.dialect, "{name}: {line}");
            }
            let run = assert_same_run(name, file.content, "");
            assert_eq!((&run.unknown, run.other_unknown), (&BTreeMap::new(), 0), "{name}");
            let (calls, usage) = (run.calls, run.usage());
            format!(
                "{name}: {} {} {:?} {:?}, turns {}, calls {} (failed {}, declined {}, unanswered \
                 {}), model calls {}, tokens {} ({} cached) {} ({} reasoning), compactions {}, \
                 rewinds {}, approvals {}/{}, sub-agents {:?}, errors {:?}",
                run.agent.as_deref().unwrap_or("-"),
                run.agent_version.as_deref().unwrap_or("-"),
                run.model,
                run.status,
                run.turns,
                calls.calls,
                calls.failed,
                calls.declined,
                calls.unanswered,
                run.models.calls,
                usage.input,
                usage.cached,
                usage.output,
                usage.reasoning,
                run.compactions,
                run.rewinds,
                run.approvals_denied,
                run.approvals_asked,
                run.sub_runs,
                run.errors,
            )
        })
        .collect();
    insta::assert_snapshot!(reported.join("\n"));
}

/// A transcript with an abandoned branch, a failed command, a compaction, a model
/// change and a rewind. The times of the sidecar's events are in between.
fn conversation() -> String {
    let entry = |kind: &str, id: &str, parent: &str, second: u32, members: &str| {
        rows::entry(kind, id, Some(parent), second).verbatim(members).json()
    };
    let call = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I run them."},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"make test"}},{"type":"toolCall","id":"c2","name":"read","arguments":{"path":"a.txt"}}],"provider":"openai","model":"gpt-5.4","usage":{"input":100,"cacheRead":20,"output":9},"stopReason":"toolUse"}"#;
    let left = r#"{"role":"assistant","content":[{"type":"toolCall","id":"c9","name":"bash","arguments":{"command":"rm x"}}],"provider":"openai","model":"gpt-5.4","usage":{"input":7,"output":7}}"#;
    let failed = r#"{"role":"toolResult","toolCallId":"c1","toolName":"bash","isError":false,"details":{"exitCode":2},"content":[{"type":"text","text":"1 failed"}]}"#;
    let read = r#"{"role":"toolResult","toolCallId":"c2","toolName":"read","isError":false,"content":[{"type":"text","text":"a"}]}"#;
    let broken = r#"{"role":"assistant","content":[],"provider":"openai","model":"gpt-5.5","stopReason":"error","errorMessage":"overloaded"}"#;
    [
        HEADER.to_owned(),
        message("a", None, 1, user("make the tests pass")),
        message("b", Some("a"), 4, call),
        message("c", Some("b"), 9, failed),
        message("d", Some("c"), 10, read),
        message("x", Some("d"), 12, left),
        message("y", Some("x"), 13, user("no, not that")),
        message("z", Some("d"), 14, user("another way")),
        entry("branch_summary", "e", "d", 15, r#""fromId":"y","summary":"It was removed.""#),
        entry("model_change", "f", "e", 16, r#""provider":"openai","modelId":"gpt-5.5""#),
        entry("thinking_level_change", "g", "f", 17, r#""thinkingLevel":"high""#),
        entry("compaction", "h", "g", 18, r#""summary":"One fails.","tokensBefore":900"#),
        message("i", Some("h"), 20, user("try again")),
        message("j", Some("i"), 25, broken),
        entry("label", "k", "j", 26, r#""targetId":"j","label":"bad""#),
    ]
    .join("\n")
}

/// The same run as a recorder wrote it, with approvals.
fn recorded() -> String {
    let at = |second: u32| format!("2026-06-01T10:00:{second:02}.500Z");
    let event = |kind: &str, second: u32, data: &str| {
        rows::event(kind, &at(second), second).text("runId", "r1").with("data", data).json()
    };
    [
        event("session.started", 0, r#"{"trigger":"user"}"#),
        event("trace.metadata", 0, r#"{"harness":{"type":"openclaw","version":"2026.6.1"}}"#),
        event("prompt.submitted", 1, r#"{"prompt":"make the tests pass"}"#),
        event("tool.call", 4, r#"{"toolCallId":"c1","name":"bash","arguments":{"command":"make test"}}"#),
        event("approval.asked", 5, r#"{"approvalId":"p1","toolCallId":"c1","subject":"make test"}"#),
        event("approval.decided", 6, r#"{"approvalId":"p1","decision":"approved"}"#),
        event("tool.result", 8, r#"{"toolCallId":"c1","name":"bash","success":false,"durationMs":2000}"#),
        event("approval.asked", 11, r#"{"approvalId":"p2","toolCallId":"c7","subject":"rm -r build"}"#),
        event("approval.decided", 12, r#"{"approvalId":"p2","decision":"denied","reason":"no"}"#),
        event("trace.truncated", 13, r#"{"reason":"limit","droppedEvents":3}"#),
        event("tool.timeout", 21, r#"{"toolCallId":"c8","name":"web","timeoutMs":500}"#),
        event("brand.new", 22, r#"{"a":1}"#),
        event("model.completed", 26, r#"{"usage":{"input":100,"cacheRead":20,"output":9},"assistantTexts":["I run them."],"promptError":"overloaded"}"#),
        event("session.ended", 27, r#"{"status":"error"}"#),
    ]
    .join("\n")
}

#[test]
fn transcripts_and_sidecars_are_the_same_run_in_a_bundle() {
    let run = assert_same_run("both", &conversation(), &recorded());
    assert_eq!((run.approvals_asked, run.approvals_denied), (2, 1));
    assert_eq!((run.branches, run.branch_entries), (2, 3));
    assert_eq!((run.agent.as_deref(), run.session.as_deref()), (Some("openclaw"), Some("s1")));
    let alone = assert_same_run("transcript", &conversation(), "");
    assert_eq!(alone.agent.as_deref(), Some("openclaw"));
    assert_eq!((alone.branches, alone.calls.calls, alone.calls.failed), (2, 2, 1));
    assert_same_run("sidecar", HEADER, &recorded());
    let listed =
        conversation().replace("\"version\":3,", "").lines().take(5).collect::<Vec<_>>().join("\n");
    assert_eq!(assert_same_run("version 1", &listed, "").calls.calls, 2);
}

#[test]
fn rows_of_unknown_types_are_counted_in_the_manifest() {
    let fixtures = session_fixtures::all();
    let named = |fixture: &&session_fixtures::SessionFixture| fixture.name.contains("nobody");
    let fixture = fixtures.iter().find(named).unwrap();
    let session = fixture.transcript.join("\n");
    let run = assert_same_run(fixture.name, &session, "");
    let counts: Vec<_> = run.unknown.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(counts, [("mystery", 2), ("riddle", 1)]);
    let manifest = exported(&session, "").json(BundleFile::Manifest).unwrap();
    let types = serde_json::json!([
        {"type": "mystery", "count": 2},
        {"type": "riddle", "count": 1},
    ]);
    assert_eq!(manifest["unknownEntries"], serde_json::json!({"count": 3, "types": types}));

    // More types than the manifest lists by name.
    let entry = |number: u32| {
        let (kind, parent) = (number % 250, number - 1);
        rows::entry(&format!("type{kind}"), &format!("e{number}"), Some(&format!("e{parent}")), 0)
            .with("timestamp", 1_790_000_000_000_u64)
            .json()
    };
    let prompt = message("e0", None, 1, user("go"));
    let rows = [HEADER.to_owned(), prompt].into_iter().chain((1..=600).map(entry));
    let rows: Vec<String> = rows.collect();
    let run = assert_same_run("many types", &rows.join("\n"), "");
    assert_eq!((run.unknown.len(), run.other_unknown), (200, 100));
}

#[test]
fn every_fixture_is_the_same_run_in_a_bundle() {
    for fixture in session_fixtures::all() {
        let (session, sidecar) = (fixture.transcript.join("\n"), fixture.sidecar.join("\n"));
        let run = assert_same_run(fixture.name, &session, &sidecar);
        assert_eq!(run.branches == 0, fixture.is_straight, "{}", fixture.name);
    }
}

/// The sidecar that a recorder writes for the shipped example.
fn example_sidecar() -> String {
    let events = include_str!("../../../examples/run/events.jsonl").lines();
    let rows = (1..).zip(events).map(|(number, event)| {
        let mut row: Value = serde_json::from_str(event).unwrap();
        let envelope = serde_json::json!({
            "traceSchema": "openclaw-trajectory", "schemaVersion": 1, "traceId": "nightly-import",
            "source": "runtime", "seq": number, "sessionId": "nightly-import",
        });
        row.as_object_mut().unwrap().extend(envelope.as_object().unwrap().clone());
        row.to_string()
    });
    rows.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_shipped_example_is_the_same_run_in_a_bundle() {
    let session = include_str!("../../../examples/run/session.jsonl");
    assert_same_run("example", session, "");
    let run = assert_same_run("example with its sidecar", session, &example_sidecar());
    assert!(run.calls.calls > 0 && run.status.is_some(), "{run:?}");
}

#[test]
fn the_agent_that_wrote_the_session_is_named() {
    let named = |session: &str, sidecar: &str| {
        let manifest = exported(session, sidecar).json(BundleFile::Manifest).unwrap();
        (manifest["agent"].clone(), manifest["dialect"].clone())
    };
    assert_eq!(named(&conversation(), ""), ("openclaw".into(), "openclaw".into()));
    assert_eq!(named(ROLLOUTS[0].1, ""), ("codex".into(), "codex-rollout".into()));
    assert_eq!(named("", &recorded()), (Value::Null, Value::Null));
    let sources = MemorySources::new();
    sources.put("s1.trajectory.jsonl", recorded());
    let alone = export_from(&sources, &request()).unwrap().json(BundleFile::Manifest).unwrap();
    assert_eq!((&alone["agent"], &alone["dialect"]), (&Value::Null, &"sidecar".into()));
}
