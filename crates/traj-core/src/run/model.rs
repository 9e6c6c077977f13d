//! A run at a glance: totals, and a limited number of examples.

use std::collections::BTreeMap;

use super::{
    ApprovalOutcome, CallExample, CallTotals, ContextPoint, Cost, ModelTotals, TimeSplit, Usage,
    UsageScope,
};
use crate::timestamp::UnixMillis;

/// The summary of a run, in bounded memory, however long it was.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Run {
    /// The program that ran the agent.
    pub agent: Option<String>,
    /// Its version.
    pub agent_version: Option<String>,
    /// The session's id, as the source states it.
    pub session: Option<String>,
    /// The directory that the agent worked in.
    pub workspace: Option<String>,
    /// The model that answered last.
    pub model: Option<String>,
    /// The time of the first event.
    pub started_at: Option<UnixMillis>,
    /// The time of the last event.
    pub ended_at: Option<UnixMillis>,
    /// Whether and how the run ended; `None` if nothing states it.
    pub status: Option<RunState>,
    /// The error that ended it.
    pub end_error: Option<String>,
    /// How the first runs of the session ended.
    pub endings: Vec<String>,
    /// How many further runs ended.
    pub other_endings: u64,
    /// The number of events, as a bundle counts them: a row may give several.
    pub events: u64,
    /// The number of prompts.
    pub turns: u64,
    /// All calls by outcome.
    pub calls: CallTotals,
    /// Calls by outcome for each of the first tools.
    pub tools: BTreeMap<String, CallTotals>,
    /// Calls by outcome for all other tools.
    pub other_tools: CallTotals,
    /// The slowest calls.
    pub slowest: Vec<CallExample>,
    /// The first calls that failed.
    pub failed: Vec<CallExample>,
    /// The first failure, of a call or outside one.
    pub first_failure: Option<FirstFailure>,
    /// Totals of all model calls.
    pub models: ModelTotals,
    /// The kind of record that the model calls are counted by; other kinds repeat
    /// them.
    pub usage_scope: UsageScope,
    /// Totals of each of the first models.
    pub by_model: BTreeMap<String, ModelTotals>,
    /// How many calls all other models had.
    pub other_models: u64,
    /// The largest context.
    pub context_peak: Option<ContextPoint>,
    /// Context sizes, spread evenly over the run.
    pub context: Vec<ContextPoint>,
    /// How it spent its time.
    pub time: TimeSplit,
    /// How often the conversation was replaced by a summary.
    pub compactions: u64,
    /// How often an approval was requested.
    pub approvals_asked: u64,
    /// How often an approval was denied.
    pub approvals_denied: u64,
    /// The first approvals that were decided, in order.
    pub approvals: Vec<DecidedApproval>,
    /// How often the conversation returned to an earlier point.
    pub rewinds: u64,
    /// How many branches of the conversation were left. The run covers only the
    /// active one.
    pub branches: u64,
    /// How many entries they have.
    pub branch_entries: u64,
    /// How many facts each of the first sub-agents stated, by the id in the
    /// source.
    pub sub_runs: BTreeMap<String, u64>,
    /// How many facts the other sub-agents stated.
    pub other_sub_runs: u64,
    /// The calls that started sub-agents, by the id of the sub-agent.
    pub agent_calls: BTreeMap<String, AgentCall>,
    /// The first errors, each once, in order.
    pub errors: Vec<String>,
    /// How many further errors there were.
    pub other_errors: u64,
    /// The number of events known to be missing.
    pub lost_events: u64,
    /// How often a recorder stated that something is missing.
    pub losses: u64,
    /// What is missing or unknown, in words: the first reasons, each once.
    pub gaps: Vec<String>,
    /// How many rows have each of the first unknown types.
    pub unknown: BTreeMap<String, u64>,
    /// How many rows have other unknown types.
    pub other_unknown: u64,
    /// What happened, each thing once. The middle of a long run is omitted.
    pub moments: Vec<Moment>,
    /// How many moments were omitted.
    pub moments_omitted: u64,
}

/// The call that started a sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentCall {
    /// The id of the call. Other calls may have the same.
    pub call: String,
    /// The number of the event that says so. It is not before the call.
    pub seq: u64,
}

impl Run {
    /// The tokens of all model calls.
    #[must_use]
    pub const fn usage(&self) -> &Usage {
        &self.models.usage
    }

    /// The cost of all model calls; `None` if a price is unknown.
    #[must_use]
    pub fn cost(&self) -> Option<Cost> {
        self.models.cost()
    }
}

/// An approval with its decision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecidedApproval {
    /// The number of the event that states the decision.
    pub seq: u64,
    /// What it is about; else the id of the call.
    pub subject: Option<String>,
    /// The decision, if it is known.
    pub decision: Option<ApprovalOutcome>,
    /// Who decided, in words.
    pub decider: Option<String>,
    /// How long the permission lasts.
    pub scope: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunState {
    /// It began and has not ended: it is still going, or was killed.
    Open,
    /// It ended, with this status.
    Ended(String),
}

impl RunState {
    /// Its name in `--json`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Open => "open",
            Self::Ended(status) => status,
        }
    }
}

/// The first failure of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FirstFailure {
    /// A failed call.
    Call(CallExample),
    /// An error outside a tool.
    Error {
        /// Its position among the events.
        seq: u64,
        /// When it happened.
        at: Option<UnixMillis>,
        /// The message, in the source's words.
        text: String,
    },
}

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moment {
    /// Its position among the events.
    pub seq: u64,
    /// When it happened.
    pub at: Option<UnixMillis>,
    /// What kind of thing it was, in one word.
    pub kind: &'static str,
    /// What it was about.
    pub about: String,
}
