//! Reads a bundle: summarises it, and lists what happened step by step.
//!
//! - `report`: the parts of a summary;
//! - `checked`: verifies an untrusted bundle before it is summarised;
//! - `run_events`: reads the events of a bundle;
//! - `context_rows`: reads the rows that contexts are built from;
//! - `in_words`: figures for people;
//! - `agent_calls`: which call started a sub-agent;
//! - `story`: the events as steps of a conversation.

pub(crate) mod agent_calls;
mod checked;
pub(crate) mod context_rows;
mod in_words;
pub(crate) mod report;
pub(crate) mod run_events;
pub(crate) mod story;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde::Serialize;
use traj_core::dialect::Dialect;
use traj_core::json::Json;
use traj_core::port::{BundleFile, BundleSource, BundleSourceError};
use traj_core::run::{Fold, Place, Prices, Run, RunState};
use traj_core::timestamp::UnixMillis;

pub use checked::{InspectError, check_before_reading, inspect_checked};
pub use in_words::{cost_in_words, counted, duration_in_words, grouped, usage_in_words};
pub use report::{
    ApprovalSummary, CallSummary, ContextSummary, FailureSummary, TimeSummary, TimelineRow,
    ToolSummary, UsageSummary,
};

use crate::bundle::schema::{self, Manifest, ManifestSummary};
use crate::inspect::run_events::{EventsFileRow, for_each_row, manifest_bytes, manifest_facts};
use crate::verify::{BundleProblem, LARGE_MANIFEST};
use crate::warning::Warning;

/// The summary of a bundle. Its strings come from a redacted bundle.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Summary {
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The session's key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// When the bundle was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated_at: Option<String>,
    /// The program that ran the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The format of the exported session file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// How the run ended; `open` if it began and did not end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The first failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<FailureSummary>,
    /// The earliest time of an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// The latest time of an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// The time between them.
    pub duration_millis: i64,
    /// Where that time went.
    pub time: TimeSummary,
    /// The number of prompts.
    pub turns: u64,
    /// Totals of all tool calls.
    pub calls: ToolSummary,
    /// The slowest calls.
    pub slowest: Vec<CallSummary>,
    /// The first calls that failed.
    pub failed: Vec<CallSummary>,
    /// How the context grew.
    pub context: ContextSummary,
    /// How often an approval was requested.
    pub approvals_asked: u64,
    /// How often an approval was denied.
    pub approvals_denied: u64,
    /// The first approvals that were decided, and who decided.
    pub approvals: Vec<ApprovalSummary>,
    /// The number of branches that were not exported.
    pub other_branches: u64,
    /// The number of entries on those branches.
    pub other_branch_entries: u64,
    /// The number of events of each sub-agent, by its id in the source.
    pub sub_runs: BTreeMap<String, u64>,
    /// The number of events that recorders reported as lost.
    pub lost_events: u64,
    /// What is missing or unknown, in words: the first reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
    /// The number of events.
    pub events: u64,
    /// The number of events of each kind, for the first kinds.
    pub kinds: BTreeMap<String, u64>,
    /// The number of events of other kinds.
    pub other_kinds: u64,
    /// The number of recorded calls of each model, for the first models.
    pub models: BTreeMap<String, u64>,
    /// The number of calls of other models.
    pub other_models: u64,
    /// Tokens and cost of each model, for the first models.
    pub usage_by_model: BTreeMap<String, UsageSummary>,
    /// Totals of each tool's calls, for the first tools.
    pub tools: BTreeMap<String, ToolSummary>,
    /// The number of calls of other tools.
    pub other_tools: u64,
    /// Tokens and cost, where known.
    pub usage: UsageSummary,
    /// What happened, in order, without repetitions. A long timeline has only
    /// its beginning and end.
    pub timeline: Vec<TimelineRow>,
    /// The number of rows left out between those.
    pub timeline_omitted: u64,
    /// The distinct errors, in order.
    pub errors: Vec<String>,
    /// The number of further errors.
    pub other_errors: u64,
    /// How the first runs ended.
    pub endings: Vec<String>,
    /// The number of further runs that ended.
    pub other_endings: u64,
    /// The number of events of each unknown type.
    pub unknown: BTreeMap<String, u64>,
    /// How much was redacted, if the bundle states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redaction: Option<ManifestSummary>,
    /// Warnings and notices of the export.
    pub warnings: Vec<Warning>,
    /// Damage that was found while reading; `verify` checks everything.
    pub problems: Vec<BundleProblem>,
    /// The number of further problems.
    pub problems_omitted: u64,
}

/// Summarises a bundle that you trust; use [`inspect_checked`] for others.
/// `prices` give the cost of calls whose source states none.
///
/// # Errors
/// If the bundle cannot be read, or is an archive that is not safe to read.
pub fn inspect(bundle: &dyn BundleSource, prices: Prices) -> Result<Summary, BundleSourceError> {
    look_through(bundle, prices, true).map(|(summary, _)| summary)
}

/// Summarises a bundle, with or without its events. Also returns its run.
pub(crate) fn look_through(
    bundle: &dyn BundleSource,
    prices: Prices,
    shows_events: bool,
) -> Result<(Summary, Run), BundleSourceError> {
    let mut summary = Summary::default();
    let mut reader = EventReader::new(prices);
    let (mut stated, mut has_manifest, mut has_events) = (None, false, false);
    bundle.visit(&mut |path, content| {
        match BundleFile::parse(path) {
            Some(BundleFile::Manifest) => {
                has_manifest = true;
                let Some(bytes) = manifest_bytes(content)? else {
                    summary.add_problem(path, None, LARGE_MANIFEST);
                    return Ok(());
                };
                match schema::read::<Manifest>(&bytes) {
                    Some(manifest) => {
                        stated = Some(manifest.event_count);
                        manifest_facts(&bytes, &mut |event| reader.fold.push(event));
                        summary.take_manifest(manifest);
                    }
                    None => summary.add_problem(path, None, "does not match its schema"),
                }
            }
            Some(BundleFile::Events) => {
                has_events = true;
                if !shows_events {
                    return Ok(());
                }
                for_each_row(content, &mut |number, row| {
                    reader.take_row(number, row, &mut summary);
                    ControlFlow::Continue(())
                })?;
            }
            _ => {}
        }
        Ok(())
    })?;
    let run = reader.fold.finish();
    summary.take_run(run.clone());
    for (file, is_there) in [(BundleFile::Manifest, has_manifest), (BundleFile::Events, has_events)]
    {
        if !is_there {
            summary.add_problem(&file.to_string(), None, "is missing");
        }
    }
    if let Some(stated) = stated.filter(|stated| shows_events && *stated != summary.events) {
        let problem = format!("states {stated} as the number of events, not {}", summary.events);
        summary.add_problem(&BundleFile::Manifest.to_string(), None, &problem);
    }
    Ok((summary, run))
}

impl Summary {
    fn take_manifest(&mut self, manifest: Manifest) {
        self.session_id = Some(manifest.session_id);
        self.session_key = manifest.session_key;
        self.generated_at = Some(manifest.generated_at);
        self.dialect = manifest.dialect;
        self.redaction = manifest.redaction;
        self.warnings = manifest.warnings;
        self.warnings.extend(manifest.notices);
    }

    fn add_problem(&mut self, file: &str, line: Option<u64>, problem: &str) {
        let (file, problem) = (file.to_owned(), problem.to_owned());
        self.problems.push(BundleProblem { file, line, problem });
    }
}

/// How many kinds of events are counted separately, and how many characters of
/// a kind are kept.
const MOST_KINDS: usize = 200;
const LONGEST_KIND: usize = 100;

/// Collects the summary, event by event.
#[derive(Debug)]
struct EventReader {
    fold: Fold,
    /// Whether a line that is not an event was reported; one is enough.
    is_reported: bool,
}

impl EventReader {
    fn new(prices: Prices) -> Self {
        Self { fold: Fold::new(prices), is_reported: false }
    }

    fn take_row(&mut self, number: u64, row: EventsFileRow<'_>, summary: &mut Summary) {
        match row {
            EventsFileRow::Event(event) => self.take(number, event, summary),
            // Counted only; `verify` checks it.
            EventsFileRow::TooLong => summary.events += 1,
            EventsFileRow::Damaged(problem) if !self.is_reported => {
                self.is_reported = true;
                summary.add_problem(&BundleFile::Events.to_string(), Some(number), problem);
            }
            EventsFileRow::Damaged(_) => {}
        }
    }

    fn take(&mut self, number: u64, event: &Json<'_>, summary: &mut Summary) {
        summary.events += 1;
        let kind = Dialect::Bundle.type_name(event).unwrap_or_default();
        let kind = traj_core::run::cut(&kind, LONGEST_KIND);
        if summary.kinds.len() < MOST_KINDS || summary.kinds.contains_key(&kind) {
            *summary.kinds.entry(kind).or_default() += 1;
        } else {
            summary.other_kinds += 1;
        }
        let place = Place::line(number);
        Dialect::Bundle.decode(event, place, &mut |event| self.fold.push(&event));
    }
}

impl Summary {
    fn take_run(&mut self, run: Run) {
        self.agent.clone_from(&run.agent);
        self.status = run.status.as_ref().map(RunState::as_str).map(str::to_owned);
        self.first_failure = run.first_failure.as_ref().map(FailureSummary::of);
        self.started_at = run.started_at.map(UnixMillis::to_iso);
        self.ended_at = run.ended_at.map(UnixMillis::to_iso);
        self.duration_millis = run.time.wall;
        self.time = TimeSummary::of(&run.time);
        self.turns = run.turns;
        self.calls = ToolSummary::of(&run.calls);
        self.slowest = run.slowest.iter().map(CallSummary::of).collect();
        self.failed = run.failed.iter().map(CallSummary::of).collect();
        self.context = ContextSummary::of(&run);
        (self.approvals_asked, self.approvals_denied) = (run.approvals_asked, run.approvals_denied);
        self.approvals = run.approvals.iter().map(ApprovalSummary::of).collect();
        (self.other_branches, self.other_branch_entries) = (run.branches, run.branch_entries);
        self.sub_runs.clone_from(&run.sub_runs);
        self.lost_events = run.lost_events;
        self.gaps.clone_from(&run.gaps);
        self.usage = UsageSummary::of(&run.models);
        let by_model = run.by_model.iter();
        self.models = by_model.clone().map(|(name, model)| (name.clone(), model.calls)).collect();
        self.usage_by_model =
            by_model.map(|(name, model)| (name.clone(), UsageSummary::of(model))).collect();
        self.other_models = run.other_models;
        self.tools =
            run.tools.iter().map(|(name, tool)| (name.clone(), ToolSummary::of(tool))).collect();
        self.other_tools = run.other_tools.calls;
        self.timeline = run.moments.iter().map(TimelineRow::of).collect();
        self.timeline_omitted = run.moments_omitted;
        (self.errors, self.other_errors) = (run.errors, run.other_errors);
        (self.endings, self.other_endings) = (run.endings, run.other_endings);
        self.unknown = run.unknown;
    }
}

#[cfg(test)]
mod tests;
