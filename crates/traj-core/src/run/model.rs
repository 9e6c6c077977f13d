//! A run at a glance: totals, and a limited number of examples.

use std::collections::BTreeMap;

use super::{
    CallExample, CallTotals, ContextPoint, Cost, ModelTotals, TimeSplit, Usage, UsageScope,
};
use crate::timestamp::UnixMillis;

/// What became of a run, in bounded memory however long it was.
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
    /// The first time of an event.
    pub started_at: Option<UnixMillis>,
    /// The last one.
    pub ended_at: Option<UnixMillis>,
    /// How the run ended; `None` when nothing states it.
    pub status: Option<RunState>,
    /// The error that ended it.
    pub end_error: Option<String>,
    /// How runs of the session ended, the first ones.
    pub endings: Vec<String>,
    /// How many came after those.
    pub other_endings: u64,
    /// Events, as a bundle counts them: a row may give several.
    pub events: u64,
    /// Prompts.
    pub turns: u64,
    /// What became of all calls.
    pub calls: CallTotals,
    /// What became of the calls of each tool, of the first tools.
    pub tools: BTreeMap<String, CallTotals>,
    /// What became of the calls of tools beyond those.
    pub other_tools: CallTotals,
    /// The slowest calls.
    pub slowest: Vec<CallExample>,
    /// The first calls that failed.
    pub failed: Vec<CallExample>,
    /// What went wrong first.
    pub first_failure: Option<FirstFailure>,
    /// Model calls.
    pub models: ModelTotals,
    /// Which kind of record they are counted by: others state them again.
    pub usage_scope: UsageScope,
    /// Model calls by model, of the first models.
    pub by_model: BTreeMap<String, ModelTotals>,
    /// Calls of models beyond those.
    pub other_models: u64,
    /// The largest context.
    pub context_peak: Option<ContextPoint>,
    /// Context sizes, evenly spread over the run.
    pub context: Vec<ContextPoint>,
    /// Where the time went.
    pub time: TimeSplit,
    /// How often the conversation was replaced by a summary.
    pub compactions: u64,
    /// How often an approval was requested.
    pub approvals_asked: u64,
    /// How often that was denied.
    pub approvals_denied: u64,
    /// How often the conversation went back.
    pub rewinds: u64,
    /// How many branches of the conversation were left: the run covers the
    /// other one.
    pub branches: u64,
    /// How many entries those have.
    pub branch_entries: u64,
    /// What sub-agents stated, of the first of them, by the id that the source
    /// gives each.
    pub sub_runs: BTreeMap<String, u64>,
    /// What those beyond stated.
    pub other_sub_runs: u64,
    /// What went wrong, each once, in order.
    pub errors: Vec<String>,
    /// How many errors came after those.
    pub other_errors: u64,
    /// Events that are known to be missing.
    pub lost_events: u64,
    /// How often a recorder stated that something is missing.
    pub losses: u64,
    /// Rows of unknown types.
    pub unknown: BTreeMap<String, u64>,
    /// Rows of types beyond those.
    pub other_unknown: u64,
    /// What happened, each thing once; of a long run the beginning and the
    /// end.
    pub moments: Vec<Moment>,
    /// How many moments there were between those.
    pub moments_omitted: u64,
}

impl Run {
    /// The tokens of all model calls.
    #[must_use]
    pub const fn usage(&self) -> &Usage {
        &self.models.usage
    }

    /// The cost of all model calls; `None` when a price is not known.
    #[must_use]
    pub fn cost(&self) -> Option<Cost> {
        self.models.cost()
    }
}

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunState {
    /// It began and did not end: it goes on, or was killed.
    Open,
    /// It ended, with this status.
    Ended(String),
}

impl RunState {
    /// The word for it in `--json`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Open => "open",
            Self::Ended(status) => status,
        }
    }
}

/// What went wrong first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FirstFailure {
    /// A call.
    Call(CallExample),
    /// An error outside a tool.
    Error {
        /// Its position among the events.
        seq: u64,
        /// When.
        at: Option<UnixMillis>,
        /// What, in the source's words.
        text: String,
    },
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moment {
    /// Its position among the events.
    pub seq: u64,
    /// When.
    pub at: Option<UnixMillis>,
    /// What kind of thing.
    pub kind: &'static str,
    /// What it was about.
    pub about: String,
}
