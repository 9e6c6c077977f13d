//! The parts of a summary, as `--json` prints them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use traj_core::run::{
    ApprovalOutcome, CallExample, CallTotals, Cost, DecidedApproval, FirstFailure, ModelTotals,
    Moment, Outcome, Run, TimeSplit, Usage,
};
use traj_core::timestamp::UnixMillis;

/// Totals of the calls of a tool, or of all tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolSummary {
    /// How often it was called.
    pub calls: u64,
    /// How often it failed or timed out.
    pub errors: u64,
    /// How often it timed out.
    pub timed_out: u64,
    /// How often a person or a policy declined it.
    pub declined: u64,
    /// How often it was interrupted.
    pub interrupted: u64,
    /// How often no result is recorded.
    pub unanswered: u64,
    /// The total duration of all calls whose end is recorded.
    pub total_millis: i64,
    /// The duration of the longest one.
    pub longest_millis: i64,
}

impl ToolSummary {
    /// The totals of a run, or of one tool.
    #[must_use]
    pub const fn of(totals: &CallTotals) -> Self {
        Self {
            calls: totals.calls,
            errors: totals.errors(),
            timed_out: totals.timed_out,
            declined: totals.declined,
            interrupted: totals.interrupted,
            unanswered: totals.unanswered,
            total_millis: totals.total_millis,
            longest_millis: totals.longest_millis,
        }
    }
}

/// An approval with its decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ApprovalSummary {
    /// The number of the event that states the decision.
    pub seq: u64,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The decision, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
    /// Who decided, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decider: Option<String>,
    /// How long the permission lasts: `once`, `turn` or `session`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ApprovalSummary {
    pub(super) fn of(approval: &DecidedApproval) -> Self {
        Self {
            seq: approval.seq,
            subject: approval.subject.clone(),
            decision: approval.decision.map(ApprovalOutcome::as_str),
            decider: approval.decider.clone(),
            scope: approval.scope.clone(),
            reason: approval.reason.clone(),
        }
    }
}

/// Tokens and cost, where known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UsageSummary {
    /// How many model calls are recorded.
    pub calls: u64,
    /// Input tokens, including cached ones.
    pub input_tokens: u64,
    /// Input tokens that were read from a cache.
    pub cached_tokens: u64,
    /// Input tokens that were written to a cache.
    pub cache_write_tokens: u64,
    /// Output tokens, including reasoning.
    pub output_tokens: u64,
    /// Output tokens of reasoning.
    pub reasoning_tokens: u64,
    /// The cost; missing if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Its currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Where the cost comes from: the source, or tokens multiplied by a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_origin: Option<Cow<'static, str>>,
}

impl UsageSummary {
    /// The totals of a run, or of one model.
    #[must_use]
    pub fn of(totals: &ModelTotals) -> Self {
        let Usage { input, cached, cache_write, output, reasoning } = totals.usage;
        let cost = totals.cost();
        Self {
            calls: totals.calls,
            input_tokens: input,
            cached_tokens: cached,
            cache_write_tokens: cache_write,
            output_tokens: output,
            reasoning_tokens: reasoning,
            cost: cost.as_ref().map(Cost::amount),
            cost_origin: cost.as_ref().map(|cost| Cow::Borrowed(cost.origin.as_str())),
            currency: cost.map(|cost| cost.currency),
        }
    }

    /// Input and output tokens together.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// One tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallSummary {
    /// The number of its event.
    pub seq: u64,
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The tool.
    pub tool: String,
    /// The command it ran, or what it worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its outcome.
    pub outcome: &'static str,
    /// Its exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub millis: Option<i64>,
    /// When it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// The last lines of its output, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

impl CallSummary {
    pub(super) fn of(call: &CallExample) -> Self {
        Self {
            seq: call.seq,
            call_id: call.id.clone(),
            tool: call.tool.clone(),
            command: call.command.clone(),
            outcome: call.outcome,
            exit_code: call.exit_code,
            millis: call.millis,
            started_at: call.started_at.map(UnixMillis::to_iso),
            output: call.output.clone(),
        }
    }

    /// The outcome for display, such as `exit 3`.
    #[must_use]
    pub fn outcome_in_words(&self) -> String {
        match (self.outcome, self.exit_code) {
            (_, Some(code)) => format!("exit {code}"),
            (outcome, None) if outcome == Outcome::TimedOut.name() => "timed out".to_owned(),
            (outcome, None) => outcome.to_owned(),
        }
    }
}

/// The first failure: a tool call, or an error outside of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FailureSummary {
    /// The number of its event.
    pub seq: u64,
    /// The call that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallSummary>,
    /// The error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl FailureSummary {
    /// A failure of a run.
    #[must_use]
    pub fn of(failure: &FirstFailure) -> Self {
        match failure {
            FirstFailure::Error { seq, text, .. } => {
                Self { seq: *seq, call: None, error: Some(text.clone()) }
            }
            FirstFailure::Call(call) => {
                Self { seq: call.seq, call: Some(CallSummary::of(call)), error: None }
            }
            _ => Self { seq: 0, call: None, error: None },
        }
    }
}

/// How the duration was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TimeSummary {
    /// Time spent waiting for the model.
    pub model_millis: i64,
    /// Time spent waiting for tools.
    pub tool_millis: i64,
    /// Time spent waiting for a person.
    pub person_millis: i64,
    /// The rest of the time.
    pub idle_millis: i64,
}

impl TimeSummary {
    /// The time of a run.
    #[must_use]
    pub const fn of(time: &TimeSplit) -> Self {
        Self {
            model_millis: time.model,
            tool_millis: time.tool,
            person_millis: time.person,
            idle_millis: time.idle,
        }
    }
}

/// How the context grew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ContextSummary {
    /// Input and output tokens of the first model call.
    pub first_tokens: u64,
    /// Tokens of the largest model call.
    pub peak_tokens: u64,
    /// Tokens of the last model call.
    pub last_tokens: u64,
    /// How often the conversation was replaced by a summary.
    pub compactions: u64,
}

impl ContextSummary {
    /// The context of a run.
    #[must_use]
    pub fn of(run: &Run) -> Self {
        let tokens = |point: Option<&traj_core::run::ContextPoint>| {
            point.map_or(0, |point| point.usage.total())
        };
        Self {
            first_tokens: tokens(run.context.first()),
            peak_tokens: tokens(run.context_peak.as_ref()),
            last_tokens: tokens(run.context.last()),
            compactions: run.compactions,
        }
    }
}

/// One row of a timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct TimelineRow {
    /// The number of its event.
    pub seq: u64,
    /// Its time; empty if the source states no readable one.
    pub ts: String,
    /// The kind of row.
    pub kind: &'static str,
    /// A short description.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
}

impl TimelineRow {
    pub(super) fn of(moment: &Moment) -> Self {
        Self {
            seq: moment.seq,
            ts: moment.at.map(UnixMillis::to_iso).unwrap_or_default(),
            kind: moment.kind,
            about: moment.about.clone(),
        }
    }
}
