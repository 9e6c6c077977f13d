//! Every format has the calls that the run counts, each with the outcome that it counts,
//! whatever the rows of a session look like.

use std::collections::BTreeMap;

use serde_json::Value;
use traj_core::memory::MemoryBundle;
use traj_core::memory::{MemoryBundleSource, MemoryScratch};
use traj_core::run::{CallTotals, Prices};
use traj_export::{
    Conversion, ConvertFormat, ConvertOptions, ConvertReport, ConvertTable, read_run,
};
use traj_tests::dice::Dice;
use traj_tests::rows::{self, Row, assistant, message, tool_result, user};

use super::round_trip::{bundle_of, gathered};

/// How many sessions are tried.
const SESSIONS: u64 = 25;

/// How often each outcome occurs.
type Outcomes = BTreeMap<String, u64>;

fn converted(bundle: &MemoryBundle, options: ConvertOptions) -> (Vec<u8>, ConvertReport) {
    let mut written = Vec::new();
    let [parts, texts] = [(), ()].map(|()| Box::new(MemoryScratch::default()));
    let mut conversion = Conversion::new(options, parts, texts, &mut written).unwrap();
    conversion.add(&MemoryBundleSource::of(bundle)).unwrap();
    let report = conversion.finish().unwrap();
    (written, report)
}

fn text_in(bundle: &MemoryBundle, format: ConvertFormat) -> String {
    String::from_utf8(converted(bundle, ConvertOptions::new(format)).0).unwrap()
}

fn counted<'v>(outcomes: impl Iterator<Item = &'v str>) -> Outcomes {
    let mut counts = Outcomes::new();
    for outcome in outcomes {
        *counts.entry(outcome.to_owned()).or_default() += 1;
    }
    counts
}

/// What the run counts.
fn wanted(totals: &CallTotals) -> Outcomes {
    let all = [
        ("ok", totals.ok),
        ("failed", totals.failed),
        ("timedOut", totals.timed_out),
        ("declined", totals.declined),
        ("interrupted", totals.interrupted),
        ("unanswered", totals.unanswered),
    ];
    let some = all.into_iter().filter(|(_, count)| *count > 0);
    some.map(|(name, count)| (name.to_owned(), count)).collect()
}

fn in_jsonl(bundle: &MemoryBundle) -> Outcomes {
    let text = text_in(bundle, ConvertFormat::Jsonl);
    let rows: Vec<Value> = text.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    counted(rows.iter().map(|row| row["outcome"].as_str().unwrap()))
}

fn in_csv(bundle: &MemoryBundle) -> Outcomes {
    let text = text_in(bundle, ConvertFormat::Csv);
    let mut rows = text.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let names = rows.next().unwrap();
    let column = names.iter().position(|name| *name == "outcome").unwrap();
    counted(rows.map(|row| row[column]))
}

fn in_atif(bundle: &MemoryBundle) -> Outcomes {
    let document: Value = serde_json::from_str(&text_in(bundle, ConvertFormat::Atif)).unwrap();
    let inner = document["subagent_trajectories"].as_array().into_iter().flatten();
    let mut outcomes = Vec::new();
    for step in std::iter::once(&document).chain(inner).flat_map(|one| one["steps"].as_array()) {
        for step in step {
            let results = step["observation"]["results"].as_array();
            for call in step["tool_calls"].as_array().into_iter().flatten() {
                let mut results = results.into_iter().flatten();
                let result = results.find(|one| one["source_call_id"] == call["tool_call_id"]);
                let outcome = result.map(|result| result["extra"]["outcome"].as_str().unwrap());
                outcomes.push(outcome.unwrap_or("unanswered"));
            }
        }
    }
    counted(outcomes.into_iter())
}

fn in_otlp(bundle: &MemoryBundle) -> Outcomes {
    let text = text_in(bundle, ConvertFormat::OtlpJson);
    let mut outcomes = Vec::new();
    for request in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let spans = request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
        for attribute in spans.iter().flat_map(|span| span["attributes"].as_array().unwrap()) {
            if attribute["key"] == "traj.tool.outcome" {
                outcomes.push(attribute["value"]["stringValue"].as_str().unwrap().to_owned());
            }
        }
    }
    counted(outcomes.iter().map(String::as_str))
}

fn in_perfetto(bundle: &MemoryBundle) -> Outcomes {
    let trace: Value = serde_json::from_str(&text_in(bundle, ConvertFormat::Perfetto)).unwrap();
    let slices = trace["traceEvents"].as_array().unwrap().iter();
    let calls = slices.filter(|slice| slice["ph"] == "X" && slice["cat"] == "tool");
    counted(calls.map(|slice| slice["args"]["outcome"].as_str().unwrap()))
}

/// Compares every format with the run.
fn compare(name: &str, session: &str, sidecar: &str) -> CallTotals {
    let bundle = bundle_of(session, sidecar);
    let (run, _) = read_run(&MemoryBundleSource::of(&bundle), Prices::shipped()).unwrap();
    let wanted = wanted(&run.calls);
    for (format, told) in [
        ("jsonl", in_jsonl(&bundle)),
        ("csv", in_csv(&bundle)),
        ("atif", in_atif(&bundle)),
        ("otlp", in_otlp(&bundle)),
        ("perfetto", in_perfetto(&bundle)),
    ] {
        assert_eq!(told, wanted, "{name}: {format}");
    }
    let mut options = ConvertOptions::new(ConvertFormat::Parquet);
    options.table = ConvertTable::Calls;
    let (_, report) = converted(&bundle, options);
    assert_eq!((report.records, report.calls), (run.calls.calls, run.calls.calls), "{name}");
    assert!(report.notices.iter().all(|notice| !notice.is_gap), "{name}: {:?}", report.notices);
    for (format, read_back) in [
        (ConvertFormat::Atif, text_in(&bundle, ConvertFormat::Atif)),
        (ConvertFormat::OtlpJson, text_in(&bundle, ConvertFormat::OtlpJson)),
    ] {
        let again = bundle_of(&gathered(&read_back), "");
        let (again, _) = read_run(&MemoryBundleSource::of(&again), Prices::shipped()).unwrap();
        assert_eq!(self::wanted(&again.calls), wanted, "{name}: {format:?} read back");
    }
    run.calls
}

/// A session whose calls are recorded in any way: by one witness or both, with and
/// without ids, with ids that were used before, answered late, twice, or never.
fn session(dice: &mut Dice) -> (String, String) {
    let (mut transcript, mut sidecar) = (vec![rows::HEADER.to_owned()], Vec::new());
    let mut parent: Option<String> = None;
    let mut waiting: Vec<String> = Vec::new();
    let (mut second, mut has_ids) = (0, true);
    let mut entry = |transcript: &mut Vec<String>, content: Row| {
        let id = format!("e{}", transcript.len());
        second = (second + 1) % 60;
        transcript.push(message(&id, parent.as_deref(), second, &content));
        parent = Some(id);
    };
    let event = |kind: &str, number: usize, data: String| {
        let at = format!("2026-06-01T10:{:02}:{:02}.500Z", number / 60 % 60, number % 60);
        rows::event(kind, &at, 1).text("runId", "r1").with("data", data).json()
    };
    entry(&mut transcript, user("go"));
    for number in 0..20 + usize::try_from(dice.below(60)).unwrap() {
        // Some models number their calls anew, others give no ids.
        let id = format!("c{}", if dice.below(4) == 0 { number % 5 } else { number });
        has_ids = if dice.below(12) == 0 { !has_ids } else { has_ids };
        let named = if has_ids { format!(r#""toolCallId":"{id}","#) } else { String::new() };
        match dice.below(8) {
            0 | 1 => {
                let call = format!(
                    r#"{{"type":"toolCall","id":"{id}","name":"shell","arguments":{{"command":"make {number}"}}}}"#
                );
                entry(&mut transcript, assistant(&call));
                waiting.push(id);
            }
            2 if !waiting.is_empty() => {
                let place = dice.below(waiting.len() as u64);
                let id = waiting.remove(usize::try_from(place).unwrap());
                entry(&mut transcript, tool_result(&id, "shell", "made"));
            }
            3 => entry(&mut transcript, tool_result(&id, "shell", "nobody asked")),
            4 => {
                let data = format!(r#"{{{named}"name":"shell","arguments":{{"n":{number}}}}}"#);
                sidecar.push(event("tool.call", number, data));
            }
            5 => {
                let success = dice.below(2) == 0;
                let data = format!(r#"{{{named}"name":"shell","success":{success}}}"#);
                sidecar.push(event("tool.result", number, data));
            }
            6 => {
                let data = format!(r#"{{{named}"name":"web","timeoutMs":500}}"#);
                sidecar.push(event("tool.timeout", number, data));
            }
            _ => entry(&mut transcript, user("go on")),
        }
    }
    (transcript.join("\n"), sidecar.join("\n"))
}

#[test]
fn every_format_has_the_calls_that_the_run_counts() {
    let mut dice = Dice::random();
    let mut all = 0;
    for number in 0..SESSIONS {
        let (session, sidecar) = session(&mut dice);
        all += compare(&format!("session {number}"), &session, &sidecar).calls;
    }
    assert!(all > SESSIONS, "{all} calls are too few to prove anything");
}

/// A session of Claude Code 1.0 whose only sub-agent makes this many calls before the call
/// that started it is answered.
fn long_sub_agent(calls: u64) -> String {
    let id = |number: u64| format!("00000000-0000-4000-8000-{number:012}");
    let row = |number: u64, parent: Option<u64>, is_side: bool, kind: &str, content: &str| {
        let parent = parent.map_or("null".to_owned(), |parent| format!("\"{}\"", id(parent)));
        let (minute, second) = (number / 60 % 60, number % 60);
        let rest = match kind {
            "user" => r#""role":"user""#.to_owned(),
            _ => format!(
                r#""id":"m{number}","role":"assistant","model":"claude-sonnet-4-5","usage":{{"input_tokens":2,"output_tokens":1}}"#
            ),
        };
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":{is_side},"cwd":"/srv","sessionId":"s","version":"1.0.100","type":"{kind}","message":{{{rest},"content":{content}}},"uuid":"{}","timestamp":"2026-06-01T10:{minute:02}:{second:02}.000Z"}}"#,
            id(number)
        )
    };
    let used = |id: &str, name: &str, input: &str| {
        format!(r#"[{{"type":"tool_use","id":"{id}","name":"{name}","input":{{{input}}}}}]"#)
    };
    let answer =
        |id: &str| format!(r#"[{{"type":"tool_result","tool_use_id":"{id}","content":"3"}}]"#);
    let mut rows = vec![
        row(1, None, false, "user", "\"go\""),
        row(2, Some(1), false, "assistant", &used("task", "Task", r#""prompt":"count""#)),
        row(3, None, true, "user", "\"count\""),
    ];
    let mut number = 3;
    for call in 0..calls {
        let (name, command) = (format!("c{call}"), format!(r#""command":"ls {call}""#));
        rows.push(row(number + 1, Some(number), true, "assistant", &used(&name, "Bash", &command)));
        rows.push(row(number + 2, Some(number + 1), true, "user", &answer(&name)));
        number += 2;
    }
    rows.push(row(number + 1, Some(2), false, "user", &answer("task")));
    rows.join("\n")
}

#[test]
fn a_call_is_answered_after_all_that_its_sub_agent_did() {
    let session = gathered(&long_sub_agent(400));
    let totals = compare("a long sub-agent", &session, "");
    assert_eq!((totals.calls, totals.ok), (401, 401));
}

#[test]
fn a_sub_agent_is_below_the_call_that_started_it() {
    let bundle = bundle_of(&gathered(&long_sub_agent(1)), "");
    let text = text_in(&bundle, ConvertFormat::OtlpJson);
    let request: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let spans = request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    let of = |name: &str| spans.iter().find(|span| span["name"] == name).unwrap();
    let sub_agent = of("invoke_agent 00000000");
    assert_eq!(sub_agent["parentSpanId"], of("execute_tool Task")["spanId"]);
    assert_eq!(of("execute_tool Bash")["parentSpanId"], sub_agent["spanId"]);
    let document: Value = serde_json::from_str(&text_in(&bundle, ConvertFormat::Atif)).unwrap();
    let mut steps = document["steps"].as_array().unwrap().iter();
    let result = steps.find_map(|step| step["observation"]["results"].get(0)).unwrap();
    assert_eq!(result["subagent_trajectory_ref"][0]["trajectory_id"], "00000000");
}
