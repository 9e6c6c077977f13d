//! How a turn ended: as a document, as notes, and as an error.

use codex_binding::{BoundTurn, HowOpened, LostHistory, TurnOutcome};
use serde::Serialize;
use serde_json::Value;
use traj_core::binding::CarryOver;
use traj_core::timestamp::UnixMillis;

use super::super::provider::ProviderReport;
use super::approvals::DeclinedRequest;
use crate::command_error::{CommandError, ErrorKind};
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Report")]
pub(super) struct TurnDocument {
    /// `completed`, `interrupted`, `timed-out` or `failed`.
    outcome: &'static str,
    /// The reply.
    pub(super) text: String,
    /// The thread.
    thread_id: String,
    /// The turn.
    turn_id: String,
    /// `started`, `resumed`, `rotated`, `replaced` or `transient`.
    thread: &'static str,
    /// The history that was lost with the previous thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<Lost>,
    /// Why the thread was replaced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<&'static str>,
    /// What changed although the thread was kept, and has the policy `warn`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<&'static str>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Tokens of the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Value>,
    /// The requests of Codex that were not granted, in order.
    declined: Vec<DeclinedRequest>,
    /// What happened, in order.
    events: Vec<Value>,
}

/// A lost history.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Lost {
    /// The thread.
    thread_id: String,
    /// The number of its turns.
    turns: u64,
    /// It contained messages up to this time.
    covered_through: Option<String>,
    /// What the new thread got of it: `nothing`, `summary` or `history`.
    carried_over: &'static str,
}

impl From<&LostHistory> for Lost {
    fn from(lost: &LostHistory) -> Self {
        Self {
            thread_id: lost.thread.as_str().to_owned(),
            turns: lost.turns,
            covered_through: lost.covered_through.map(UnixMillis::to_iso),
            carried_over: lost.carried.as_str(),
        }
    }
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<TurnDocument>("codex-turn");

/// Reports a change of thread on standard error, even if only the reply is wanted.
pub(super) fn announce(turn: &BoundTurn, output: &CommandOutput) {
    turn.ready.notices().iter().for_each(|notice| output.note(notice));
    if let HowOpened::Rotated { lost, .. } = &turn.ready.how
        && lost.carried == CarryOver::Nothing
        && lost.turns > 0
    {
        output.note(
            "hint: with --carry-over summary or history, a new thread gets the messages of \
             the old one; --on-change keeps the old one",
        );
    }
}

pub(super) fn report(
    turn: &BoundTurn,
    declined: Vec<DeclinedRequest>,
    events: Vec<Value>,
) -> TurnDocument {
    let report = &turn.report;
    let (lost, reasons) = match &turn.ready.how {
        HowOpened::Replaced { lost } => (Some(Lost::from(lost)), vec![]),
        HowOpened::Rotated { lost, reasons } => {
            (Some(Lost::from(lost)), reasons.iter().map(|reason| reason.as_str()).collect())
        }
        _ => (None, vec![]),
    };
    let message = match &report.outcome {
        TurnOutcome::Failed { message } => message.clone(),
        _ => None,
    };
    TurnDocument {
        outcome: outcome_name(&report.outcome),
        text: report.text.clone(),
        thread_id: turn.ready.thread().as_str().to_owned(),
        turn_id: report.turn.as_str().to_owned(),
        thread: turn.ready.how.as_str(),
        lost,
        reasons,
        warnings: turn.ready.warnings.iter().map(|changed| changed.as_str()).collect(),
        message,
        usage: report.usage.map(|usage| {
            serde_json::json!({
                "input": usage.input, "cachedInput": usage.cached_input, "output": usage.output,
                "reasoning": usage.reasoning, "total": usage.total,
            })
        }),
        declined,
        events,
    }
}

const fn outcome_name(outcome: &TurnOutcome) -> &'static str {
    match outcome {
        TurnOutcome::Completed => "completed",
        TurnOutcome::Interrupted => "interrupted",
        TurnOutcome::TimedOut { .. } => "timed-out",
        _ => "failed",
    }
}

/// The error for a turn that a signal ended.
pub(super) fn interrupted(signal: u8) -> CommandError {
    let message = format!("the turn was interrupted by signal {signal}");
    CommandError::new(ErrorKind::Interrupted { signal }, message)
        .hint("the thread still exists; the next turn resumes it")
}

/// The error for a turn that did not complete, even if it has a reply.
pub(super) fn failure(
    turn: &BoundTurn,
    signal: Option<u8>,
    provider: &ProviderReport,
) -> Option<CommandError> {
    if let (Some(signal), false) = (signal, turn.report.outcome == TurnOutcome::Completed) {
        return Some(interrupted(signal));
    }
    Some(match &turn.report.outcome {
        TurnOutcome::Completed => return None,
        TurnOutcome::Interrupted => CommandError::failure("the turn was interrupted"),
        TurnOutcome::TimedOut { confirmed: true } => {
            CommandError::failure("the turn took too long and was interrupted")
        }
        TurnOutcome::TimedOut { confirmed: false } => CommandError::failure(
            "the turn took too long, and Codex did not confirm the interruption",
        ),
        TurnOutcome::Failed { message } => {
            let failed = CommandError::failure("the turn failed");
            let message = message.as_deref().unwrap_or("no reason given");
            let failed = failed.hint(format!("Codex says: {message}"));
            let missing = provider
                .missing()
                .map(|name| format!("{name} is not set; the provider {} needs it", provider.name));
            let failed = missing.fold(failed, CommandError::hint);
            if message.contains("environment variable") {
                failed.hint("pass further variables to Codex with --env NAME")
            } else {
                failed
            }
        }
        _ => CommandError::failure("the turn did not complete"),
    })
}
