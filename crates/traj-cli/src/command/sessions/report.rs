//! A listing as `--json` prints it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use traj_core::run::{FirstFailure, Run};
use traj_core::timestamp::UnixMillis;
use traj_export::{ToolSummary, UsageSummary};

/// The listing.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Report")]
pub(super) struct SessionsReport {
    pub(super) sessions: Vec<SessionRow>,
    /// Files that could not be read.
    pub(super) problems: Vec<ListingProblem>,
    /// The number of files that are not sessions.
    pub(super) unrecognised: u64,
    /// How many older sessions there may be: they were not read.
    pub(super) not_read: u64,
    /// The totals of the listed sessions.
    pub(super) totals: Totals,
}

/// Totals of several sessions. What a fork repeats is not counted again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Totals {
    /// How many sessions there are. Several keys may point to one.
    pub(super) sessions: u64,
    /// Their size, with what belongs to them.
    pub(super) bytes: u64,
    /// Tool calls.
    pub(super) calls: u64,
    /// Tool calls that failed or timed out.
    pub(super) failed_calls: u64,
    /// Model calls.
    pub(super) model_calls: u64,
    /// Input tokens, including cached ones.
    pub(super) input_tokens: u64,
    /// Output tokens, including reasoning.
    pub(super) output_tokens: u64,
    /// The cost of the sessions whose cost is known, by currency.
    pub(super) cost: BTreeMap<String, f64>,
    /// How many sessions with model calls have no known cost.
    pub(super) without_cost: u64,
}

impl Totals {
    /// The totals of these sessions, each file once.
    pub(super) fn of(sessions: &[SessionRow]) -> Self {
        let mut totals = Self::default();
        let mut seen = HashSet::new();
        let files = |session: &SessionRow| {
            (session.session_file.clone(), session.trajectory.clone(), session.session_id.clone())
        };
        for session in sessions.iter().filter(|session| seen.insert(files(session))) {
            let (calls, usage) = (&session.calls, &session.usage);
            let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
            add(&mut totals.sessions, 1);
            add(&mut totals.bytes, session.bytes);
            add(&mut totals.bytes, session.trajectory_bytes.unwrap_or_default());
            add(&mut totals.calls, calls.calls);
            add(&mut totals.failed_calls, calls.errors);
            add(&mut totals.model_calls, usage.calls);
            add(&mut totals.input_tokens, usage.input_tokens);
            add(&mut totals.output_tokens, usage.output_tokens);
            match (&usage.cost, &usage.currency) {
                (Some(cost), Some(currency)) => {
                    *totals.cost.entry(currency.clone()).or_default() += cost;
                }
                _ => add(&mut totals.without_cost, u64::from(usage.calls > 0)),
            }
        }
        totals
    }
}

/// The keys of the stores.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Keys {
    pub(super) keys: Vec<String>,
}

/// A file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(super) struct ListingProblem {
    pub(super) file: String,
    pub(super) problem: String,
}

/// One session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Session")]
pub(super) struct SessionRow {
    pub(super) key: Option<String>,
    pub(super) session_id: String,
    pub(super) session_file: String,
    pub(super) exists: bool,
    pub(super) updated_at: Option<String>,
    pub(super) bytes: u64,
    pub(super) events: Option<u64>,
    pub(super) model: Option<String>,
    pub(super) status: Option<String>,
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) trajectory: Option<String>,
    pub(super) trajectory_bytes: Option<u64>,
    pub(super) agent: Option<String>,
    pub(super) dialect: Option<Cow<'static, str>>,
    pub(super) running: bool,
    pub(super) started_at: Option<String>,
    pub(super) ended_at: Option<String>,
    pub(super) turns: u64,
    pub(super) calls: ToolSummary,
    pub(super) usage: UsageSummary,
    pub(super) error_count: u64,
    pub(super) first_failure: Option<Failure>,
    /// What it is about: the title it was given, else the beginning of the first
    /// prompt.
    pub(super) title: Option<String>,
    /// The directory that the agent works in.
    pub(super) workspace: Option<String>,
    /// When it last changed, for sorting.
    #[serde(skip)]
    pub(super) updated: Option<UnixMillis>,
}

/// The first failure, without its text, which may contain anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Failure {
    /// When.
    pub(super) at: Option<String>,
    /// The tool that was called; missing for an error outside a tool.
    pub(super) tool: Option<String>,
    pub(super) outcome: Option<Cow<'static, str>>,
    pub(super) exit_code: Option<i64>,
}

impl SessionRow {
    /// Fills in the values of a run.
    pub(super) fn take_run(&mut self, run: &Run, shown: &dyn Fn(&str) -> String) {
        let of = |text: &Option<String>| text.as_deref().map(shown);
        self.agent = of(&run.agent).or(self.agent.take());
        self.model = of(&run.model);
        self.status = run.status.as_ref().map(|state| shown(state.as_str()));
        self.started_at = run.started_at.map(UnixMillis::to_iso);
        self.ended_at = run.ended_at.map(UnixMillis::to_iso);
        self.workspace = of(&run.workspace).or(self.workspace.take());
        self.turns = run.turns;
        self.calls = ToolSummary::of(&run.calls);
        self.usage = UsageSummary::of(&run.models);
        if run.models.calls > 0 {
            self.input_tokens = Some(self.usage.input_tokens);
            self.output_tokens = Some(self.usage.output_tokens);
        }
        self.error_count = (run.errors.len() as u64).saturating_add(run.other_errors);
        self.first_failure = run.first_failure.as_ref().map(|failure| match failure {
            FirstFailure::Call(call) => Failure {
                at: call.started_at.map(UnixMillis::to_iso),
                tool: Some(shown(&call.tool)),
                outcome: Some(call.outcome.into()),
                exit_code: call.exit_code,
            },
            FirstFailure::Error { at, .. } => {
                let at = at.map(UnixMillis::to_iso);
                Failure { at, tool: None, outcome: None, exit_code: None }
            }
            _ => Failure { at: None, tool: None, outcome: None, exit_code: None },
        });
    }

    /// The status for people: an open run may still be running.
    pub(super) fn status_shown(&self) -> Option<&str> {
        match self.status.as_deref() {
            None | Some("open") if self.running => Some("running"),
            status => status,
        }
    }
}
