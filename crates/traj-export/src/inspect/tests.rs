//! Tests of `inspect`: the content of a summary.

use traj_core::memory::MemoryBundleSource;
use traj_core::run::Prices;

use super::inspect;
use crate::verify::{LARGE_MANIFEST, MAX_MANIFEST_BYTES};

#[test]
fn calls_usage_and_models_are_added_up() {
    let mut bundle = MemoryBundleSource::default();
    let event = |seq: u64, ts: &str, kind: &str, rest: &str| {
        format!(r#"{{"type":"{kind}","ts":"2026-06-01T10:00:{ts}Z","seq":{seq},{rest}}}"#) + "\n"
    };
    let lines = [
        event(
            1,
            "00",
            "prompt.submitted",
            r#""modelId":"m","provider":"p","data":{"prompt":"do  it\nnow"}"#,
        ),
        event(2, "01", "tool.call", r#""data":{"toolCallId":"a","name":"read"}"#),
        // The sidecar and the transcript report the same call.
        event(3, "01", "tool.call", r#""data":{"toolCallId":"a","name":"read"}"#),
        event(
            4,
            "03",
            "tool.result",
            r#""data":{"message":{"role":"toolResult","toolCallId":"a","toolName":"read","isError":true}}"#,
        ),
        event(5, "04", "tool.call", r#""data":{"toolCallId":"b","name":"bash"}"#),
        event(6, "05", "model.completed", r#""data":{"usage":{"inputTokens":9}}"#),
        event(
            7,
            "06",
            "assistant.message",
            r#""data":{"message":{"role":"assistant","provider":"p","model":"m","usage":{"input":10,"output":5,"cost":{"total":0.5}}}}"#,
        ),
        event(8, "07", "session.ended", r#""data":{"status":"success"}"#),
    ];
    bundle.push("events.jsonl", lines.concat());
    let summary = inspect(&bundle, Prices::shipped()).unwrap();
    assert_eq!((summary.events, summary.duration_millis), (8, 7_000));
    let read = &summary.tools["read"];
    assert_eq!((read.calls, read.errors, read.total_millis), (1, 1, 2_000));
    assert_eq!(summary.tools["bash"].unanswered, 1);
    assert_eq!((summary.usage.input_tokens, summary.usage.cost), (10, Some(0.5)));
    assert_eq!(summary.models["p/m"], 1);
    assert_eq!(summary.timeline[0].about, "do it now");
    assert_eq!(summary.endings, ["success"]);
}

#[test]
fn a_result_before_its_call_is_counted() {
    let mut bundle = MemoryBundleSource::default();
    bundle.push(
        "events.jsonl",
        r#"{"type":"tool.result","ts":"2026-06-01T10:00:05Z","seq":1,"data":{"toolCallId":"a","isError":true}}
{"type":"tool.call","ts":"2026-06-01T10:00:09Z","seq":2,"data":{"toolCallId":"a","name":"read"}}
"#,
    );
    let read = inspect(&bundle, Prices::shipped()).unwrap().tools["read"].clone();
    assert_eq!((read.calls, read.errors, read.unanswered, read.total_millis), (1, 1, 0, 0));
}

#[test]
fn an_endless_manifest_is_not_read_to_its_end() {
    let mut bundle = MemoryBundleSource::default();
    bundle.push("manifest.json", " ".repeat(MAX_MANIFEST_BYTES + 1));
    let problems = inspect(&bundle, Prices::shipped()).unwrap().problems;
    assert!(problems.iter().any(|problem| problem.problem == LARGE_MANIFEST), "{problems:?}");
}

#[test]
fn a_long_timeline_reports_how_many_rows_are_left_out() {
    let mut bundle = MemoryBundleSource::default();
    let line = |seq: u32| {
        format!(r#"{{"type":"x","ts":"2026-06-01T10:00:00Z","seq":{seq},"data":{{}}}}"#) + "\n"
    };
    bundle.push("events.jsonl", (1..=1_000).map(line).collect::<String>());
    let summary = inspect(&bundle, Prices::shipped()).unwrap();
    assert_eq!(summary.events, 1_000);
    assert_eq!(summary.timeline.len() as u64 + summary.timeline_omitted, 1_000);
    assert!(summary.timeline_omitted > 0);
    let seq = |at: usize| summary.timeline[at].seq;
    assert_eq!((seq(0), seq(summary.timeline.len() - 1)), (1, 1_000), "from both ends");
}

#[test]
fn sums_saturate() {
    let mut bundle = MemoryBundleSource::default();
    let most = u64::MAX;
    let usage = format!(
        r#"{{"type":"model.completed","data":{{"usage":{{"input":{most},"output":{most},"cacheRead":{most}}}}}}}"#
    );
    let calls = (0..600).flat_map(|id| {
        [("tool.call", "-271000"), ("tool.result", "+275000")].map(|(kind, year)| {
            format!(
                r#"{{"type":"{kind}","ts":"{year}-01-01T00:00:00Z","data":{{"toolCallId":"{id}","name":"x"}}}}"#
            )
        })
    });
    let lines: Vec<String> = calls.chain([usage.clone(), usage]).collect();
    bundle.push("events.jsonl", lines.join("\n") + "\n");
    let summary = inspect(&bundle, Prices::shipped()).unwrap();
    let usage = &summary.usage;
    assert_eq!([usage.input_tokens, usage.output_tokens, usage.cached_tokens], [u64::MAX; 3]);
    assert_eq!((summary.tools["x"].calls, summary.tools["x"].total_millis), (600, i64::MAX));
}

#[test]
fn many_long_names_are_cut_and_counted() {
    let mut bundle = MemoryBundleSource::default();
    let lines = (0..1_000).flat_map(|number| {
        let name = format!("{number}{}", "x".repeat(10_000));
        let event = |kind: &str, data: &str| {
            format!(r#"{{"type":"{kind}","modelId":"{name}","ts":"{name}","seq":1,"data":{data}}}"#)
        };
        [
            event(&name, "{}"),
            event("tool.call", &format!(r#"{{"toolCallId":"{name}","name":"{name}"}}"#)),
            event("session.ended", &format!(r#"{{"status":"{name}"}}"#)),
            event("model.completed", r#"{"usage":{"input":1}}"#),
        ]
    });
    let lines: Vec<String> = lines.collect();
    bundle.push("events.jsonl", lines.join("\n") + "\n");
    let summary = inspect(&bundle, Prices::shipped()).unwrap();
    assert_eq!(summary.kinds.values().sum::<u64>() + summary.other_kinds, summary.events);
    assert_eq!((summary.models.len(), summary.other_models), (200, 800));
    assert_eq!((summary.tools.len(), summary.other_tools), (200, 800));
    assert_eq!((summary.endings.len(), summary.other_endings), (200, 800));
    let told = serde_json::to_string(&summary).unwrap();
    assert!(told.len() < 300_000, "{}", told.len());
}

#[test]
fn the_causes_of_a_failed_run_are_reported() {
    let mut bundle = MemoryBundleSource::default();
    let event = |seq: u32, kind: &str, data: &str| {
        format!(r#"{{"type":"{kind}","ts":"2026-06-01T10:00:0{seq}Z","seq":{seq},"data":{data}}}"#)
            + "\n"
    };
    let lines = [
        r#"{"type":"x","ts":"1970-01-01T00:00:00.000Z","seq":0,"data":{}}"#.to_owned() + "\n",
        event(1, "tool.timeout", r#"{"name":"shell","timeoutMs":1000}"#),
        event(
            2,
            "model.completed",
            r#"{"timedOut":true,"promptError":"429  overloaded","usage":{"input":900}}"#,
        ),
        event(
            3,
            "assistant.message",
            r#"{"message":{"role":"assistant","errorMessage":"429 overloaded","usage":{"input":200}}}"#,
        ),
        event(
            4,
            "trace.artifacts",
            r#"{"finalStatus":"error","terminalError":{"message":"gave up"}}"#,
        ),
        event(5, "trace.truncated", "{}"),
        event(6, "x", r#"{"message":"run failed","error":"no quota"}"#),
    ];
    bundle.push("events.jsonl", lines.concat());
    let summary = inspect(&bundle, Prices::shipped()).unwrap();
    let about: Vec<&str> = summary.timeline.iter().map(|moment| moment.about.as_str()).collect();
    assert_eq!(
        about,
        ["x", "shell timed out", "timeout: 429 overloaded", "events are missing", "no quota"]
    );
    assert_eq!(summary.errors, ["429 overloaded", "gave up", "no quota"]);
    assert_eq!(summary.endings, ["error"]);
    assert_eq!(summary.usage.input_tokens, 900, "the transcript states fewer turns");
    assert_eq!(summary.duration_millis, 5_000, "an unreadable time does not count");
}
