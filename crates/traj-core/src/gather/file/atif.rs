//! Trajectories in ATIF: one document, in which each part of a step becomes a row.
//!
//! The document lists the steps of sub-agents separately, after those of the run;
//! the rows are in chronological order.

use std::collections::BTreeMap;

use super::super::{GatherError, RowWriter};
use crate::dialect::AtifRow;
use crate::json::{Json, Object};
use crate::timestamp::UnixMillis;

/// More trajectories than this are not read, nor deeper ones.
const MOST_TRAJECTORIES: usize = 10_000;
const DEEPEST: usize = 32;

/// Members whose content becomes separate rows.
const STEPS: &str = "steps";
const SUB_AGENTS: &str = "subagent_trajectories";

/// A trajectory and its agent; the run's own has no name.
struct Trajectory<'d> {
    name: Option<String>,
    document: &'d Json<'d>,
}

/// A row and when it happened, never before the row above it in its trajectory.
struct TimedRow<'d> {
    at: Option<UnixMillis>,
    row: Object<'d>,
}

/// Writes the rows of a document.
pub(super) fn rows(document: &Json<'_>, out: &mut RowWriter<'_>) -> Result<(), GatherError> {
    let mut trajectories = Vec::new();
    collect(document, None, 0, &mut trajectories)?;
    let mut number = 0;
    let mut rows = Vec::new();
    for trajectory in &trajectories {
        rows.extend(TrajectoryReading::of(trajectory, &mut number).rows);
    }
    // A stable sort: each trajectory stays in its order.
    rows.sort_by_key(|row| row.at);
    if let Some(trajectory) = trajectories.first() {
        write_head(trajectory, document, out)?;
    }
    for row in rows {
        out.row(&Json::Object(row.row))?;
    }
    write_end(document, number, out)
}

/// Collects a trajectory and those of its sub-agents.
fn collect<'d>(
    document: &'d Json<'d>,
    name: Option<String>,
    depth: usize,
    found: &mut Vec<Trajectory<'d>>,
) -> Result<(), GatherError> {
    if found.len() >= MOST_TRAJECTORIES || depth > DEEPEST {
        return Err(GatherError::TooLarge);
    }
    found.push(Trajectory { name, document });
    for inner in document.get(SUB_AGENTS).and_then(Json::as_array).unwrap_or_default() {
        let stated = ["trajectory_id", "session_id"].iter().find_map(|name| text(inner, name));
        let name = stated.map_or_else(|| format!("sub-agent-{}", found.len()), str::to_owned);
        collect(inner, Some(name), depth + 1, found)?;
    }
    Ok(())
}

fn text<'d>(value: &'d Json<'_>, name: &str) -> Option<&'d str> {
    value.get(name).and_then(Json::as_str).filter(|text| !text.trim().is_empty())
}

/// The trajectory without the content that becomes separate rows.
fn write_head(
    trajectory: &Trajectory<'_>,
    document: &Json<'_>,
    out: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    let mut row = AtifRow::Trajectory.row(0);
    let first = trajectory.document.get(STEPS).and_then(Json::as_array).unwrap_or_default();
    row.push_some("timestamp", first.iter().find_map(|step| step.get("timestamp")).cloned());
    row.push("trajectory", without_lists(document));
    out.row(&Json::Object(row))
}

fn without_lists<'d>(document: &Json<'d>) -> Json<'d> {
    let members = document.as_object().into_iter().flat_map(Object::iter);
    let kept = members.filter(|(name, _)| ![STEPS, SUB_AGENTS].contains(name));
    Json::Object(kept.map(|(name, value)| (name.to_owned(), value.clone())).collect())
}

/// How the run ended, if no step states it.
fn write_end(document: &Json<'_>, number: u64, out: &mut RowWriter<'_>) -> Result<(), GatherError> {
    let Some(status) = document.get("extra").and_then(|extra| text(extra, "status")) else {
        return Ok(());
    };
    let steps = document.get(STEPS).and_then(Json::as_array).unwrap_or_default();
    let ended = steps.iter().rev().find_map(|step| {
        let extra = step.get("extra").filter(|extra| text(extra, "kind") == Some("ended"))?;
        text(extra, "status")
    });
    if ended == Some(status) {
        return Ok(());
    }
    let mut row = AtifRow::End.row(number + 1);
    row.push("status", status);
    out.row(&Json::Object(row))
}

/// The rows of one trajectory so far.
struct TrajectoryReading<'d, 'n> {
    thread: Option<&'d str>,
    clock: Option<UnixMillis>,
    number: &'n mut u64,
    rows: Vec<TimedRow<'d>>,
}

impl<'d, 'n> TrajectoryReading<'d, 'n> {
    fn of(trajectory: &'d Trajectory<'d>, number: &'n mut u64) -> Self {
        let thread = trajectory.name.as_deref();
        let mut reading = Self { thread, clock: None, number, rows: Vec::new() };
        if thread.is_some() {
            let head = without_lists(trajectory.document);
            reading.push(AtifRow::Trajectory, None, None, [("trajectory", head)]);
        }
        let steps = trajectory.document.get(STEPS).and_then(Json::as_array).unwrap_or_default();
        for (index, step) in (1_u64..).zip(steps) {
            reading.step(index, step);
        }
        reading
    }

    fn push<const N: usize>(
        &mut self,
        kind: AtifRow,
        at: Option<&str>,
        step: Option<u64>,
        members: [(&'static str, Json<'d>); N],
    ) {
        let at = at.and_then(UnixMillis::parse_lenient);
        self.clock = self.clock.max(at);
        *self.number += 1;
        let mut row = kind.row(*self.number);
        row.push_some("timestamp", at.map(UnixMillis::to_iso));
        row.push_some("id", step.map(|step| self.id_of(step)));
        row.push_some("thread", self.thread);
        for (name, value) in members {
            row.push(name, value);
        }
        self.rows.push(TimedRow { at: self.clock, row });
    }

    /// The id of a step within the run.
    fn id_of(&self, step: u64) -> String {
        self.thread.map_or_else(|| format!("step-{step}"), |thread| format!("{thread}/step-{step}"))
    }

    fn step(&mut self, index: u64, step: &'d Json<'d>) {
        let at = text(step, "timestamp");
        let own = ["tool_calls", "observation", "metrics", "model_name"];
        let members = step.as_object().into_iter().flat_map(Object::iter);
        let said: Object<'d> = members
            .filter(|(name, _)| !own.contains(name))
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect();
        self.push(AtifRow::Step, at, Some(index), [("step", Json::Object(said))]);
        let metrics = step.get("metrics").filter(|metrics| metrics.as_object().is_some());
        let extra = metrics.and_then(|metrics| metrics.get("extra"));
        let ended = extra.and_then(|extra| text(extra, "timestamp")).or(at);
        let is_of_agent = text(step, "source") == Some("agent");
        if is_of_agent && (metrics.is_some() || step.get("model_name").is_some()) {
            let model = step.get("model_name").cloned().unwrap_or_default();
            let metrics = metrics.cloned().unwrap_or_default();
            let members = [("model_name", model), ("metrics", metrics)];
            self.push(AtifRow::Model, ended, Some(index), members);
        }
        self.calls(index, step, at);
    }

    /// The calls of a step, each followed by its result.
    fn calls(&mut self, index: u64, step: &'d Json<'d>, at: Option<&str>) {
        let calls = step.get("tool_calls").and_then(Json::as_array).unwrap_or_default();
        let observation = step.get("observation").and_then(|seen| seen.get("results"));
        let results = observation.and_then(Json::as_array).unwrap_or_default();
        let mut by_call: BTreeMap<&str, Vec<&'d Json<'d>>> = BTreeMap::new();
        let mut others = Vec::new();
        for result in results {
            match text(result, "source_call_id") {
                Some(id) => by_call.entry(id).or_default().push(result),
                // A step with one call has one result.
                None => match (calls, results) {
                    ([call], [_]) => {
                        let id = text(call, "tool_call_id").unwrap_or_default();
                        by_call.entry(id).or_default().push(result);
                    }
                    _ => others.push(result),
                },
            }
        }
        for call in calls {
            let own = call.get("extra").and_then(|extra| text(extra, "timestamp"));
            let began = own.or(at);
            self.push(AtifRow::Call, began, Some(index), [("call", call.clone())]);
            let id = text(call, "tool_call_id").unwrap_or_default();
            for result in by_call.remove(id).unwrap_or_default() {
                self.result(index, began, call, result);
            }
        }
        for result in others.into_iter().chain(by_call.into_values().flatten()) {
            self.push(AtifRow::Result, at, Some(index), [("result", result.clone())]);
        }
    }

    fn result(
        &mut self,
        index: u64,
        began: Option<&str>,
        call: &'d Json<'d>,
        result: &'d Json<'d>,
    ) {
        let took = result.get("extra").and_then(|extra| extra.get("duration_ms")?.as_i64());
        let began = began.and_then(UnixMillis::parse_lenient);
        let ended = began.map(|began| began.plus_millis(took.unwrap_or_default()).to_iso());
        let members = [
            ("call", call.get("tool_call_id").cloned().unwrap_or_default()),
            ("tool", call.get("function_name").cloned().unwrap_or_default()),
            ("result", result.clone()),
        ];
        self.push(AtifRow::Result, ended.as_deref(), Some(index), members);
    }
}

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests {
    use crate::gather::gathered;

    #[test]
    fn the_parts_of_a_step_become_rows_in_order_of_time() {
        let document = r#"{
            "schema_version": "ATIF-v1.8", "session_id": "s", "agent": {"name": "a", "version": "1"},
            "steps": [
                {"step_id": 1, "timestamp": "2026-06-01T10:00:00Z", "source": "user", "message": "go"},
                {"step_id": 2, "timestamp": "2026-06-01T10:00:09Z", "source": "agent", "message": "",
                 "model_name": "m", "metrics": {"prompt_tokens": 5},
                 "tool_calls": [{"tool_call_id": "c", "function_name": "f", "arguments": {}}],
                 "observation": {"results": [{"content": "done"}]}}
            ],
            "subagent_trajectories": [{"trajectory_id": "t", "steps": [
                {"step_id": 1, "timestamp": "2026-06-01T10:00:05Z", "source": "user", "message": "do"}
            ]}]
        }"#;
        let rows = gathered("t.json", document).unwrap();
        let told: Vec<(String, Option<String>)> = rows
            .lines()
            .map(|row| {
                let row = crate::json::Json::parse(row).unwrap();
                let text = |name: &str| row.get(name).and_then(|value| value.as_str());
                (text("type").unwrap().to_owned(), text("thread").map(str::to_owned))
            })
            .collect();
        let of =
            |kind: &str, thread: Option<&str>| (format!("atif/{kind}"), thread.map(str::to_owned));
        let expected = [
            of("trajectory", None),
            of("trajectory", Some("t")),
            of("step", None),
            of("step", Some("t")),
            of("step", None),
            of("model", None),
            of("call", None),
            of("result", None),
        ];
        assert_eq!(told, expected);
        assert!(rows.lines().last().unwrap().contains("\"call\":\"c\""), "it answers the call");
    }
}
