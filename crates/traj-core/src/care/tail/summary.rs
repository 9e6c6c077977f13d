//! Summarises the facts of a row as one event.

use super::event::{Severity, TailEvent};
use crate::dialect::Dialect;
use crate::json::Json;
use crate::run::words::{LONGEST_PREVIEW, members, preview};
use crate::run::{
    ApprovalOutcome, EndStatus, Fact, ModelCall, Outcome, Place, UsageScope, command_of, one_line,
};

/// The preview as a whole is truncated to this many characters.
const LONGEST: usize = 2 * LONGEST_PREVIEW;

/// Fills in an event from its redacted row.
pub(super) fn fill(event: &mut TailEvent, dialect: Dialect, row: &Json<'_>) {
    let mut summary = Summary::default();
    event.kind = dialect.type_name(row).map(|kind| short(&kind)).unwrap_or_default();
    event.session = dialect.session_of(row).map(short).unwrap_or_default();
    dialect.decode(row, Place::default(), &mut |stated| {
        event.severity = event.severity.max(severity(&stated.fact));
        note(event, &stated.fact);
        match &stated.fact {
            Fact::Other { name, .. } if *name == event.kind => {
                summary.said.extend(dialect.body_of(row).map(members));
            }
            fact => summary.add(fact),
        }
    });
    event.preview = one_line(&summary.finish(), LONGEST);
}

/// Pieces of a preview, by kind.
#[derive(Default)]
struct Summary {
    said: Vec<String>,
    calls: Vec<String>,
    thought: Option<String>,
    model: Option<String>,
    /// Whether the preview always includes the model's name.
    is_turn: bool,
}

impl Summary {
    fn add(&mut self, fact: &Fact<'_>) {
        let words = preview(fact);
        match fact {
            // Errors are shown in their own field.
            Fact::Error(_) => {}
            _ if words.is_empty() => {}
            Fact::ToolCall(_) => self.calls.push(words),
            Fact::Reasoning(_) => self.thought = self.thought.take().or(Some(words)),
            Fact::ModelCall(call) => {
                self.is_turn = call.scope == UsageScope::Turn;
                self.model = Some(words);
            }
            _ => self.said.push(words),
        }
    }

    fn finish(self) -> String {
        let is_reply = self.model.is_some() || !self.said.is_empty();
        let calls = self.calls.into_iter();
        let calls = calls.map(|call| if is_reply { format!("→ {call}") } else { call });
        let said: Vec<String> = self.said.into_iter().chain(calls).collect();
        let said = said.join(" ");
        match (self.model, self.thought) {
            (Some(model), _) if self.is_turn && !said.is_empty() => format!("{model}: {said}"),
            (_, Some(thought)) if said.is_empty() => format!("thinking: {thought}"),
            (Some(model), _) if said.is_empty() => model,
            _ => said,
        }
    }
}

/// Takes over the parts of a fact that are not in its preview.
fn note(event: &mut TailEvent, fact: &Fact<'_>) {
    let error = match fact {
        Fact::ToolCall(call) => {
            event.call_id = event.call_id.take().or_else(|| call.id.map(short));
            let command = || command_of(call).map(|command| short(&command));
            event.command = event.command.take().or_else(command);
            None
        }
        Fact::ToolResult(result) => {
            event.call_id = event.call_id.take().or_else(|| result.id.map(short));
            // The first failed result counts, else the first one.
            if event.outcome.is_none() || (!event.is_failed && result.outcome.is_failure()) {
                event.outcome = Some(result.outcome.name());
                event.exit_code = result.outcome.exit_code();
                event.is_failed = result.outcome.is_failure();
            }
            event.duration = event.duration.max(result.duration);
            match &result.outcome {
                Outcome::Failed(failure) => failure.error.as_ref(),
                _ => None,
            }
        }
        Fact::ModelCall(call) => {
            event.duration = event.duration.max(call.latency);
            event.tokens = tokens(call).or(event.tokens);
            call.error.as_ref()
        }
        Fact::SessionEnded(ended) | Fact::TurnEnded(ended) => ended.error.as_ref(),
        Fact::Error(error) => Some(&error.text),
        _ => None,
    };
    if let Some(error) = error.filter(|_| event.error.is_none()) {
        event.error = Some(short(error));
    }
}

fn short(text: &str) -> String {
    one_line(text, LONGEST_PREVIEW)
}

/// Input and output tokens of the model calls that the row is about. The reading
/// of a counter is not what this row used.
fn tokens(call: &ModelCall<'_>) -> Option<(u64, u64)> {
    let usage = match call.scope {
        UsageScope::Counter => call.last,
        // A sum of calls that other rows state.
        UsageScope::Session => None,
        UsageScope::Call | UsageScope::Turn => call.usage,
    };
    usage.map(|usage| (usage.input, usage.output))
}

fn severity(fact: &Fact<'_>) -> Severity {
    match fact {
        Fact::ToolResult(result) => of_outcome(&result.outcome),
        Fact::Hook(hook) => of_outcome(&hook.outcome),
        Fact::ModelCall(call) => match call.stop_reason.as_deref() {
            _ if call.error.is_some() => Severity::Error,
            Some("timeout" | "error") => Severity::Error,
            Some("aborted") => Severity::Warning,
            _ => Severity::Normal,
        },
        Fact::SessionEnded(ended) | Fact::TurnEnded(ended) => match ended.status {
            EndStatus::Error => Severity::Error,
            EndStatus::Interrupted => Severity::Warning,
            _ if ended.error.is_some() => Severity::Error,
            _ => Severity::Normal,
        },
        Fact::Error(error) if error.is_recovered => Severity::Warning,
        Fact::Error(_) => Severity::Error,
        Fact::Prompt(prompt) if prompt.skipped.is_some() => Severity::Warning,
        Fact::ApprovalDecided(approval) if approval.decision == Some(ApprovalOutcome::Denied) => {
            Severity::Warning
        }
        Fact::ModelChanged(change) if change.reason.is_some() => Severity::Warning,
        Fact::Lost(_) => Severity::Warning,
        _ => Severity::Normal,
    }
}

fn of_outcome(outcome: &Outcome<'_>) -> Severity {
    match outcome {
        Outcome::Ok => Severity::Normal,
        outcome if outcome.is_failure() => Severity::Error,
        _ => Severity::Warning,
    }
}
