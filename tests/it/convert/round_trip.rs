//! A run that is converted to a format that traj reads is the same run when it is
//! read back.

use std::collections::BTreeSet;

use serde_json::Value;
use traj_core::memory::{MemoryBundle, MemoryBundleSource, MemoryScratch, MemorySources};
use traj_core::run::{Prices, Run};
use traj_export::{Conversion, ConvertFormat, ConvertOptions, Selection, read_run};
use traj_tests::export_fixture::{export_from, request};
use traj_tests::rows::{self, message, user};
use traj_tests::session_fixtures;
use traj_tests::session_fixtures::agent_files::AGENT_FILES;
use traj_tests::session_fixtures::gathered::rows_of;

use crate::reading::run_law::{CLAUDE, ROLLOUTS};

/// A bundle of a session and its sidecar.
pub(super) fn bundle_of(session: &str, sidecar: &str) -> MemoryBundle {
    let sources = MemorySources::new();
    sources.put("s.jsonl", session);
    if !sidecar.is_empty() {
        sources.put("s.trajectory.jsonl", sidecar);
    }
    let mut request = request();
    request.selection = Selection::file("s.jsonl");
    export_from(&sources, &request).unwrap().files
}

/// A bundle in a format.
fn converted(bundle: &MemoryBundle, format: ConvertFormat) -> String {
    let mut options = ConvertOptions::new(format);
    options.has_content = true;
    let mut written = Vec::new();
    let [parts, texts] = [(), ()].map(|()| Box::new(MemoryScratch::default()));
    let mut conversion = Conversion::new(options, parts, texts, &mut written).unwrap();
    conversion.add(&MemoryBundleSource::of(bundle)).unwrap();
    conversion.finish().unwrap();
    String::from_utf8(written).unwrap()
}

/// The rows of a file that cannot be read directly.
pub(super) fn gathered(content: &str) -> String {
    rows_of(content).unwrap().expect("it is recognised")
}

/// What a run and its calls are, as far as each format states it.
#[derive(Debug, PartialEq)]
struct Told {
    calls: [u64; 7],
    tokens: [u64; 5],
    cost: Option<String>,
    models: Vec<(String, u64)>,
    sub_agents: BTreeSet<String>,
    /// The calls that started them.
    starters: Vec<(String, String)>,
    status: Option<String>,
    /// Sub-agent, tool, outcome, exit code, error and size of each call.
    rows: Vec<String>,
}

fn told(bundle: &MemoryBundle) -> (Told, Run) {
    let (run, _) = read_run(&MemoryBundleSource::of(bundle), Prices::shipped()).unwrap();
    let calls = run.calls;
    let usage = run.usage();
    let mut rows: Vec<String> = converted(bundle, ConvertFormat::Jsonl)
        .lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            let cells = ["sub_agent", "tool", "command", "outcome", "exit_code", "output_bytes"];
            cells.map(|cell| row[cell].to_string()).join(" ")
        })
        .collect();
    // Calls that began at the same time may swap places.
    rows.sort();
    let models = run.by_model.iter().map(|(name, totals)| (name.clone(), totals.usage.total()));
    let has_rows = |agent: &&String| run.sub_runs.contains_key(*agent);
    let starters = run.agent_calls.keys().filter(has_rows);
    let starters = starters.map(|agent| (agent.clone(), run.agent_calls[agent].call.clone()));
    let told = Told {
        calls: [
            calls.calls,
            calls.ok,
            calls.failed,
            calls.timed_out,
            calls.declined,
            calls.interrupted,
            calls.unanswered,
        ],
        tokens: [usage.input, usage.cached, usage.cache_write, usage.output, usage.reasoning],
        // Sums of computed costs are rounded at each call.
        cost: run.cost().map(|cost| format!("{:.6} {}", cost.amount(), cost.currency)),
        models: models.collect(),
        sub_agents: run.sub_runs.keys().cloned().collect(),
        starters: starters.collect(),
        status: run.status.as_ref().map(|status| status.as_str().to_owned()),
        rows,
    };
    (told, run)
}

/// Every fixture: its name, its session and its sidecar.
fn fixtures() -> Vec<(String, String, String)> {
    let plain =
        |(name, session): &(&str, &str)| ((*name).to_owned(), (*session).to_owned(), String::new());
    let agents = AGENT_FILES
        .iter()
        .map(|file| (file.name.to_owned(), file.content.to_owned(), String::new()));
    let made = session_fixtures::all()
        .into_iter()
        .map(|made| (made.name.to_owned(), made.transcript.join("\n"), made.sidecar.join("\n")));
    ROLLOUTS.iter().chain(&CLAUDE).map(plain).chain(agents).chain(made).collect()
}

fn compare(format: ConvertFormat, forget: impl Fn(&mut Told)) {
    let mut differing = Vec::new();
    for (name, session, sidecar) in fixtures() {
        let bundle = bundle_of(&session, &sidecar);
        let (mut before, _) = told(&bundle);
        let again = bundle_of(&gathered(&converted(&bundle, format)), "");
        let (mut after, run) = told(&again);
        assert!(run.unknown.is_empty(), "{name}: {:?}", run.unknown);
        forget(&mut before);
        forget(&mut after);
        if before != after {
            differing.push(format!("{name}\n  {before:?}\n  {after:?}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn a_trajectory_is_the_same_run_when_it_is_read() {
    let starters = std::cell::Cell::new(0);
    compare(ConvertFormat::Atif, |told| starters.set(starters.get() + told.starters.len()));
    assert!(starters.get() >= 12, "sub-agents whose starters are compared: {starters:?}");
}

#[test]
fn a_trace_is_the_same_run_when_it_is_read() {
    compare(ConvertFormat::OtlpJson, |told| {
        // A span has a provider even if its model call does not state one.
        let mut models = std::collections::BTreeMap::new();
        for (name, tokens) in told.models.drain(..) {
            let name = name.rsplit('/').next().unwrap_or_default().to_owned();
            *models.entry(name).or_insert(0) += tokens;
        }
        told.models = models.into_iter().collect();
    });
}

#[test]
fn a_trajectory_of_another_program_is_read() {
    let rows = gathered(include_str!("../../fixtures/atif/plain.json"));
    let (told, run) = told(&bundle_of(&rows, ""));
    assert_eq!(
        (run.agent.as_deref(), run.session.as_deref()),
        (Some("bench-agent"), Some("5d0c2f0e-plain"))
    );
    assert_eq!((told.calls, run.turns), ([3, 2, 0, 0, 0, 0, 1], 1));
    assert_eq!(told.tokens, [260, 20, 0, 12, 0]);
    assert_eq!(told.models, [("gpt-5.4".to_owned(), 272)]);
    assert_eq!(told.sub_agents, ["helper-1".to_owned()].into());
    assert_eq!(told.rows[0], "\"helper-1\" \"grep\" null \"unanswered\" null 0");
    assert_eq!(told.rows[1], "null \"bash\" \"make test\" \"ok\" null 8");
    assert!(run.unknown.is_empty() && run.cost().is_some(), "{run:?}");
}

#[test]
fn a_trace_of_another_program_is_read() {
    let rows = gathered(include_str!("../../fixtures/otlp-json/plain.jsonl"));
    let (told, run) = told(&bundle_of(&rows, ""));
    assert_eq!((run.agent.as_deref(), run.session.as_deref()), (Some("desk"), Some("desk-7")));
    assert_eq!(run.agent_version.as_deref(), Some("2.0"));
    assert_eq!((told.calls, run.turns), ([1, 0, 1, 0, 0, 0, 0], 1));
    assert_eq!(told.tokens, [237, 20, 0, 13, 0]);
    assert_eq!(told.sub_agents, ["helper".to_owned()].into());
    assert_eq!(told.rows, ["null \"bash\" \"make test\" \"failed\" null 8"]);
    assert_eq!(told.status.as_deref(), Some("success"));
    // A span of another conversation, and a damaged line.
    assert_eq!((run.losses, run.lost_events, run.unknown.len()), (2, 2, 0));
}

#[test]
fn there_is_a_row_for_every_call_also_for_one_that_only_its_result_proves() {
    let event = |kind: &str, second: u32, data: &str| {
        let at = format!("2026-06-01T10:00:{second:02}.500Z");
        rows::event(kind, &at, second).text("runId", "r1").with("data", data).json()
    };
    let result = r#"{"toolCallId":"c1","name":"bash","success":false,"durationMs":2000}"#;
    let sidecar = [
        event("tool.result", 1, result),
        event("tool.result", 2, result),
        event("tool.call", 3, r#"{"toolCallId":"c2","name":"bash","arguments":{}}"#),
        event("tool.timeout", 4, r#"{"toolCallId":"c3","name":"web","timeoutMs":500}"#),
    ];
    let session = [rows::HEADER.to_owned(), message("a", None, 1, user("go"))];
    let (told, run) = told(&bundle_of(&session.join("\n"), &sidecar.join("\n")));
    assert_eq!(run.calls.calls, told.rows.len() as u64, "{:?}", told.rows);
    assert_eq!(told.calls, [3, 0, 1, 1, 0, 0, 1]);
}
