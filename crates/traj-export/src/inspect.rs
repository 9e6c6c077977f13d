//! Summarises a bundle.
//!
//! - `report`: the parts of a summary;
//! - `checked`: verifies a bundle from elsewhere before it is summarised;
//! - `run_events`: reads the events of a bundle.

mod checked;
mod report;
pub(crate) mod run_events;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::ops::ControlFlow;

use serde::Serialize;
use traj_core::dialect::{Dialect, decode_manifest};
use traj_core::json::Json;
use traj_core::port::{BundleFile, BundleSource, BundleSourceError};
use traj_core::run::{Fold, Place, Prices, Run, RunState};
use traj_core::timestamp::UnixMillis;

pub use checked::{InspectError, check_before_reading, inspect_checked};
pub use report::{
    CallSummary, ContextSummary, FailureSummary, TimeSummary, TimelineRow, ToolSummary,
    UsageSummary,
};

use crate::bundle::schema::{self, Manifest, ManifestSummary};
use crate::inspect::run_events::{EventRow, for_each_row};
use crate::json_stream::long_rows;
use crate::verify::{BundleProblem, ContentReader, LARGE_MANIFEST, MAX_MANIFEST_BYTES};
use crate::warning::Warning;

/// What a bundle tells at a glance. Texts come from a redacted bundle.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Summary {
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The key it ran under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// When the bundle was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated_at: Option<String>,
    /// The program that ran the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The format of the session file that the bundle was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// How the run ended; `open` when it began and did not end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What went wrong first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<FailureSummary>,
    /// The first instant of an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// The last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// The time between them.
    pub duration_millis: i64,
    /// Where that time went.
    pub time: TimeSummary,
    /// Prompts.
    pub turns: u64,
    /// What became of all tool calls.
    pub calls: ToolSummary,
    /// The slowest calls.
    pub slowest: Vec<CallSummary>,
    /// The first calls that failed.
    pub failed: Vec<CallSummary>,
    /// How the context grew.
    pub context: ContextSummary,
    /// How often somebody was asked to allow something.
    pub approvals_asked: u64,
    /// How often that was denied.
    pub approvals_denied: u64,
    /// Branches of the session that are not in the bundle.
    pub other_branches: u64,
    /// How many entries those have.
    pub other_branch_entries: u64,
    /// What sub-agents stated, by the id that the source gives each.
    pub sub_runs: BTreeMap<String, u64>,
    /// Events that a recorder states to be missing.
    pub lost_events: u64,
    /// All events.
    pub events: u64,
    /// Events by kind, of the first kinds.
    pub kinds: BTreeMap<String, u64>,
    /// Events of kinds beyond those.
    pub other_kinds: u64,
    /// Models and how many of their calls are recorded, of the first models.
    pub models: BTreeMap<String, u64>,
    /// Calls of models beyond those.
    pub other_models: u64,
    /// Tokens and cost of each model, of the first models.
    pub usage_by_model: BTreeMap<String, UsageSummary>,
    /// Tools and what became of their calls, of the first tools.
    pub tools: BTreeMap<String, ToolSummary>,
    /// Calls of tools beyond those.
    pub other_tools: u64,
    /// Tokens and cost, where they are known.
    pub usage: UsageSummary,
    /// What happened, in order, each thing once; of a long session the first
    /// and the last of it.
    pub timeline: Vec<TimelineRow>,
    /// How many rows there were between those.
    pub timeline_omitted: u64,
    /// What went wrong, each once, in order.
    pub errors: Vec<String>,
    /// How many errors came after those.
    pub other_errors: u64,
    /// How the runs ended, the first ones.
    pub endings: Vec<String>,
    /// How many came after those.
    pub other_endings: u64,
    /// Events of types that are not known, by type.
    pub unknown: BTreeMap<String, u64>,
    /// What was hidden, if the bundle says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redaction: Option<ManifestSummary>,
    /// What was skipped, and what else is worth knowing.
    pub warnings: Vec<Warning>,
    /// What is damaged, as far as a look shows; `verify` tells all of it.
    pub problems: Vec<BundleProblem>,
    /// How many more places are.
    pub problems_omitted: u64,
}

/// Summarises a bundle that you trust; use [`inspect_checked`] for those of
/// others. `prices` give the cost of calls whose source states none.
///
/// # Errors
/// If the bundle cannot be read, or is an archive that is not safe to read.
pub fn inspect(bundle: &dyn BundleSource, prices: Prices) -> Result<Summary, BundleSourceError> {
    look_through(bundle, prices, true)
}

/// Summarises a bundle, with or without its events.
fn look_through(
    bundle: &dyn BundleSource,
    prices: Prices,
    shows_events: bool,
) -> Result<Summary, BundleSourceError> {
    let mut summary = Summary::default();
    let mut reader = EventReader::new(prices);
    let (mut stated, mut has_manifest, mut has_events) = (None, false, false);
    bundle.visit(&mut |path, content| {
        match BundleFile::parse(path) {
            Some(BundleFile::Manifest) => {
                has_manifest = true;
                let mut bytes = Vec::new();
                let limit = MAX_MANIFEST_BYTES as u64 + 1;
                let read = ContentReader(content).take(limit).read_to_end(&mut bytes);
                read.map_err(|error| BundleSourceError::Damaged { source: error.into() })?;
                if bytes.len() > MAX_MANIFEST_BYTES {
                    summary.add_problem(path, None, LARGE_MANIFEST);
                    return Ok(());
                }
                match schema::read::<Manifest>(&bytes) {
                    Some(manifest) => {
                        stated = Some(manifest.event_count);
                        reader.take_manifest(&bytes);
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
    reader.finish(&mut summary);
    for (file, is_there) in [(BundleFile::Manifest, has_manifest), (BundleFile::Events, has_events)]
    {
        if !is_there {
            summary.add_problem(&file.to_string(), None, "is missing");
        }
    }
    if let Some(stated) = stated.filter(|stated| shows_events && *stated != summary.events) {
        let problem = format!("states {stated} events, there are {}", summary.events);
        summary.add_problem(&BundleFile::Manifest.to_string(), None, &problem);
    }
    Ok(summary)
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

/// How many kinds of events are distinguished, and how much of a name is kept.
const MOST_KINDS: usize = 200;
const LONGEST_KIND: usize = 100;

/// Takes events one by one.
#[derive(Debug)]
struct EventReader {
    fold: Fold,
    /// Whether a line that is not an event was reported; one is enough.
    is_told: bool,
}

impl EventReader {
    fn new(prices: Prices) -> Self {
        Self { fold: Fold::new(prices), is_told: false }
    }

    /// Takes the facts that the manifest states about the run.
    fn take_manifest(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let manifest = Some(bytes).filter(|bytes| !long_rows::is_bomb(bytes));
        if let Some(Ok(manifest)) = manifest.map(|_| Json::parse(&text)) {
            decode_manifest(&manifest, &mut |event| self.fold.push(&event));
        }
    }

    fn take_row(&mut self, number: u64, row: EventRow<'_>, summary: &mut Summary) {
        match row {
            EventRow::Event(event) => self.take(number, event, summary),
            // `verify` checks it.
            EventRow::TooLong => summary.events += 1,
            EventRow::Damaged(problem) if !self.is_told => {
                self.is_told = true;
                summary.add_problem(&BundleFile::Events.to_string(), Some(number), problem);
            }
            EventRow::Damaged(_) => {}
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

    fn finish(self, summary: &mut Summary) {
        summary.take_run(self.fold.finish());
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
        (self.other_branches, self.other_branch_entries) = (run.branches, run.branch_entries);
        self.sub_runs.clone_from(&run.sub_runs);
        self.lost_events = run.lost_events;
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
