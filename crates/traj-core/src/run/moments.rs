//! What happened, in a few words each.

use std::collections::VecDeque;

use super::model::Moment;
use super::{Fact, Outcome, command_of, one_line};

/// How many moments of a long run are kept, from its start and from its end:
/// where something broke is mostly the end.
const FIRST: usize = 300;
const LAST: usize = 100;

/// How many characters a moment has at most.
const LONGEST: usize = 160;

/// The moments of a run, without those in the middle of a long one.
#[derive(Debug, Default)]
pub(super) struct Moments {
    first: Vec<Moment>,
    last: VecDeque<Moment>,
    omitted: u64,
}

impl Moments {
    pub(super) fn push(&mut self, moment: Moment) {
        if self.first.len() < FIRST {
            self.first.push(moment);
            return;
        }
        if self.last.len() == LAST {
            self.last.pop_front();
            self.omitted += 1;
        }
        self.last.push_back(moment);
    }

    /// All that were kept, and how many were not.
    pub(super) fn finish(mut self) -> (Vec<Moment>, u64) {
        self.first.extend(self.last);
        (self.first, self.omitted)
    }
}

/// What kind of thing a fact is, and what it is about; `None` for what only
/// describes a run.
pub(super) fn describe(fact: &Fact<'_>) -> Option<(&'static str, String)> {
    let short = |text: &str| one_line(text, LONGEST);
    Some(match fact {
        Fact::SessionStarted(started) if started.begins_run => ("started", String::new()),
        Fact::SessionStarted(_) | Fact::ContextCompiled(_) | Fact::TurnStarted => return None,
        Fact::SessionEnded(ended) if !ended.is_final => return None,
        Fact::SessionEnded(ended) | Fact::TurnEnded(ended) => {
            let status = ended.status.as_str();
            let text = ended
                .error
                .as_ref()
                .map_or_else(|| status.to_owned(), |error| format!("{status}: {error}"));
            ("ended", short(&text))
        }
        Fact::Prompt(prompt) => match prompt.skipped {
            Some(reason) => ("skipped", short(reason)),
            None => ("prompt", short(prompt.content.first_text().unwrap_or_default())),
        },
        Fact::AssistantText(text) => ("reply", short(text.first_text()?)),
        Fact::Reasoning(_) => return None,
        Fact::ToolCall(call) => {
            let command = command_of(call).unwrap_or_default();
            ("call", short(&format!("{} {command}", call.name)))
        }
        Fact::ToolResult(result) => {
            let words = result_in_words(&result.outcome);
            ("result", short(&format!("{} {words}", result.name.unwrap_or_default())))
        }
        Fact::ModelCall(call) => {
            let error = call.error.as_ref()?;
            let stopped = call.stop_reason.as_deref();
            let stopped = stopped.filter(|stop| matches!(*stop, "timeout" | "aborted"));
            let text = stopped.map_or_else(|| error.to_string(), |stop| format!("{stop}: {error}"));
            ("error", short(&text))
        }
        Fact::ApprovalAsked(approval) => {
            ("asked", short(approval.subject.as_deref().unwrap_or_default()))
        }
        Fact::ApprovalDecided(approval) => {
            ("decided", approval.decision.map_or("", |decision| decision.as_str()).to_owned())
        }
        Fact::Compaction(compaction) => {
            ("compacted", short(compaction.summary.first_text().unwrap_or_default()))
        }
        Fact::ModelChanged(change) => {
            let names: Vec<&str> = [change.provider, change.model].into_iter().flatten().collect();
            ("model", short(&names.join("/")))
        }
        Fact::ModeChanged(change) => ("mode", short(&format!("{} {}", change.name, change.value))),
        Fact::Rewind(rewind) => {
            let turns = rewind.turns.map(|turns| format!("{turns} turns"));
            ("rewound", turns.unwrap_or_default())
        }
        Fact::Attachment(_) | Fact::Hook(_) => return None,
        Fact::Error(error) => ("error", short(&error.text)),
        Fact::Lost(loss) => ("lost", short(loss.reason.as_deref().unwrap_or("events are missing"))),
        Fact::Other { is_known: true, .. } => return None,
        Fact::Other { name, .. } => ("event", short(name)),
    })
}

/// An outcome in words.
#[must_use]
pub fn result_in_words(outcome: &Outcome<'_>) -> String {
    match outcome {
        Outcome::Ok => "ok".to_owned(),
        Outcome::TimedOut => "timed out".to_owned(),
        Outcome::Declined => "declined".to_owned(),
        Outcome::Interrupted => "interrupted".to_owned(),
        Outcome::Unanswered => "no result".to_owned(),
        Outcome::Failed(failure) => match (failure.exit_code, &failure.signal, &failure.error) {
            (Some(code), ..) => format!("exit {code}"),
            (None, Some(signal), _) => format!("killed by {signal}"),
            (None, None, Some(error)) => format!("failed: {error}"),
            (None, None, None) => "failed".to_owned(),
        },
    }
}
