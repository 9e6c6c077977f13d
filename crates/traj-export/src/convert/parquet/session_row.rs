//! A session so far, as a row of a table.

use std::collections::BTreeMap;

use serde::Serialize;
use traj_core::run::{CostOrigin, FirstFailure, ModelTotals, Run, RunState};
use traj_core::timestamp::UnixMillis;

use super::event_row::{SCHEMA_VERSION, count, session_id, trace_id};

/// The totals of a session up to one of its events. What the source does not
/// state is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "callers add what they know, such as the host")]
pub struct SessionRow {
    /// The version of the columns.
    pub schema_version: i32,
    /// Names the session across hosts: 32 hexadecimal digits.
    pub trace_id: String,
    /// The session.
    pub session_id: String,
    /// The program.
    pub agent: Option<String>,
    /// Its version.
    pub agent_version: Option<String>,
    /// The salted hash of the host's name.
    pub host_id: Option<String>,
    /// The number of the first event that this row adds to the one before.
    pub first_seq: i64,
    /// The number of the last event that the totals contain.
    pub last_seq: i64,
    /// Whether and how the run ended.
    pub status: Option<String>,
    /// The time of the first event.
    pub started_at: Option<UnixMillis>,
    /// The time of the last event.
    pub ended_at: Option<UnixMillis>,
    /// The number of events.
    pub events: i64,
    /// The number of prompts.
    pub turns: i64,
    /// The number of tool calls.
    pub calls: i64,
    /// Calls that failed or timed out.
    pub call_errors: i64,
    /// Calls that timed out.
    pub calls_timed_out: i64,
    /// Calls that a person or a policy declined.
    pub calls_declined: i64,
    /// Calls that somebody stopped.
    pub calls_interrupted: i64,
    /// Calls without a recorded result.
    pub calls_unanswered: i64,
    /// The time of all calls, in microseconds.
    pub calls_duration_micros: i64,
    /// The model that answered last.
    pub model: Option<String>,
    /// Calls, tokens and cost of each model, as JSON.
    pub models: String,
    /// The number of model calls.
    pub model_calls: i64,
    /// Tokens that models read: cached ones included.
    pub input_tokens: i64,
    /// Tokens that models wrote, reasoning included.
    pub output_tokens: i64,
    /// Tokens read from a cache.
    pub cache_read_tokens: i64,
    /// Tokens written to a cache.
    pub cache_write_tokens: i64,
    /// Tokens of reasoning.
    pub reasoning_tokens: i64,
    /// The cost in billionths of the currency; `None` if a price is unknown.
    pub cost_nanos: Option<i128>,
    /// The currency.
    pub currency: Option<String>,
    /// Whether the cost is `stated` or `computed`.
    pub cost_origin: Option<&'static str>,
    /// The number of different errors.
    pub errors: i64,
    /// The event of the first failure.
    pub first_failure_seq: Option<i64>,
    /// When it happened.
    pub first_failure_at: Option<UnixMillis>,
    /// The tool that failed; `None` for an error outside a tool.
    pub first_failure_tool: Option<String>,
    /// How the call ended.
    pub first_failure_outcome: Option<&'static str>,
    /// Its exit code.
    pub first_failure_exit_code: Option<i64>,
    /// How often the conversation was replaced by a summary.
    pub compactions: i64,
    /// How often an approval was requested.
    pub approvals_asked: i64,
    /// How often one was denied.
    pub approvals_denied: i64,
    /// The number of sub-agents.
    pub subagents: i64,
    /// The largest context of a model call, in tokens.
    pub context_peak_tokens: Option<i64>,
    /// Events that are known to be missing.
    pub lost_events: i64,
    /// The directory that the agent worked in.
    pub workspace: Option<String>,
    /// What the caller wants to find it by.
    pub labels: BTreeMap<String, String>,
    /// The revision of its segment, in a shared data set.
    pub revision: Option<i32>,
}

/// A model in [`SessionRow::models`].
#[derive(Serialize)]
struct ModelOfSession<'m> {
    model: &'m str,
    calls: u64,
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    reasoning_tokens: u64,
    /// In billionths, so that sums are exact.
    cost_nanos: Option<u64>,
    currency: Option<String>,
}

impl<'m> ModelOfSession<'m> {
    fn of(model: &'m str, totals: &ModelTotals) -> Self {
        let (usage, cost) = (&totals.usage, totals.cost());
        Self {
            model,
            calls: totals.calls,
            input_tokens: usage.input,
            output_tokens: usage.output,
            cache_read_tokens: usage.cached,
            cache_write_tokens: usage.cache_write,
            reasoning_tokens: usage.reasoning,
            cost_nanos: cost.as_ref().and_then(|cost| u64::try_from(cost.nanos).ok()),
            currency: cost.map(|cost| cost.currency),
        }
    }
}

impl SessionRow {
    /// The totals of a run that was read from its first event to `last_seq`.
    #[must_use]
    pub fn of(run: &Run, first_seq: u64, last_seq: u64) -> Self {
        let session_id = session_id(run);
        let (calls, usage, cost) = (&run.calls, run.usage(), run.cost());
        let models = run.by_model.iter().map(|(name, totals)| ModelOfSession::of(name, totals));
        let models: Vec<ModelOfSession<'_>> = models.collect();
        let row = Self {
            schema_version: SCHEMA_VERSION,
            trace_id: trace_id(run.agent.as_deref(), &session_id),
            session_id,
            agent: run.agent.clone(),
            agent_version: run.agent_version.clone(),
            first_seq: count(first_seq),
            last_seq: count(last_seq),
            status: run.status.as_ref().map(RunState::as_str).map(str::to_owned),
            started_at: run.started_at,
            ended_at: run.ended_at,
            events: count(run.events),
            turns: count(run.turns),
            calls: count(calls.calls),
            call_errors: count(calls.errors()),
            calls_timed_out: count(calls.timed_out),
            calls_declined: count(calls.declined),
            calls_interrupted: count(calls.interrupted),
            calls_unanswered: count(calls.unanswered),
            calls_duration_micros: calls.total_millis.saturating_mul(1_000),
            model: run.model.clone(),
            // Names and numbers always have a JSON form.
            models: serde_json::to_string(&models).unwrap_or_default(),
            model_calls: count(run.models.calls),
            input_tokens: count(usage.input),
            output_tokens: count(usage.output),
            cache_read_tokens: count(usage.cached),
            cache_write_tokens: count(usage.cache_write),
            reasoning_tokens: count(usage.reasoning),
            cost_nanos: cost.as_ref().and_then(|cost| i128::try_from(cost.nanos).ok()),
            cost_origin: cost.as_ref().map(|cost| CostOrigin::as_str(cost.origin)),
            currency: cost.map(|cost| cost.currency),
            errors: count((run.errors.len() as u64).saturating_add(run.other_errors)),
            compactions: count(run.compactions),
            approvals_asked: count(run.approvals_asked),
            approvals_denied: count(run.approvals_denied),
            subagents: count(run.sub_runs.len() as u64),
            context_peak_tokens: run.context_peak.map(|peak| count(peak.usage.total())),
            lost_events: count(run.lost_events),
            workspace: run.workspace.clone(),
            ..Self::default()
        };
        row.with_first_failure(run.first_failure.as_ref())
    }

    fn with_first_failure(mut self, failure: Option<&FirstFailure>) -> Self {
        match failure {
            Some(FirstFailure::Call(call)) => {
                self.first_failure_seq = Some(count(call.seq));
                self.first_failure_at = call.started_at;
                self.first_failure_tool = Some(call.tool.clone());
                self.first_failure_outcome = Some(call.outcome);
                self.first_failure_exit_code = call.exit_code;
            }
            Some(FirstFailure::Error { seq, at, .. }) => {
                self.first_failure_seq = Some(count(*seq));
                self.first_failure_at = *at;
            }
            _ => {}
        }
        self
    }

    /// The approximate size.
    pub(super) fn bytes(&self) -> usize {
        self.models.len() + 512
    }
}
