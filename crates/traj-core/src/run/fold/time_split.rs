//! How a run spent its time.

use crate::run::{Fact, Origin};
use crate::timestamp::UnixMillis;

/// How a run spent its time, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimeSplit {
    /// From the first event to the last.
    pub wall: i64,
    /// Waiting for the model.
    pub model: i64,
    /// Waiting for tools.
    pub tool: i64,
    /// Waiting for a person: for a prompt, or for an approval.
    pub person: i64,
    /// Everything else.
    pub idle: i64,
}

/// What the run waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WaitsFor {
    #[default]
    Nobody,
    Model,
    Person,
}

/// Attributes the time between two events to what the run waited for.
#[derive(Clone, Debug, Default)]
pub(super) struct Stopwatch {
    split: TimeSplit,
    first: Option<UnixMillis>,
    last: Option<UnixMillis>,
    waiting: WaitsFor,
    open_calls: u64,
    open_approvals: u64,
}

impl Stopwatch {
    /// Takes an event. `is_new` is false if another witness has stated it
    /// already.
    pub(super) fn take(
        &mut self,
        at: Option<UnixMillis>,
        fact: &Fact<'_>,
        origin: Origin,
        is_new: bool,
    ) {
        if let Some(at) = at {
            self.pass(at, fact);
        }
        if !is_new {
            return;
        }
        match fact {
            Fact::ToolCall(_) => self.open_calls += 1,
            Fact::ToolResult(_) => {
                self.open_calls = self.open_calls.saturating_sub(1);
                self.waiting = WaitsFor::Model;
            }
            Fact::ApprovalAsked(_) => self.open_approvals += 1,
            Fact::ApprovalDecided(_) => self.open_approvals = self.open_approvals.saturating_sub(1),
            Fact::Prompt(_) | Fact::TurnStarted => {
                (self.open_calls, self.open_approvals) = (0, 0);
                self.waiting = WaitsFor::Model;
            }
            Fact::AssistantText(_) if origin == Origin::Transcript => {
                self.waiting = WaitsFor::Person;
            }
            Fact::SessionEnded(_) | Fact::TurnEnded(_) => {
                (self.open_calls, self.open_approvals) = (0, 0);
                self.waiting = WaitsFor::Person;
            }
            _ => {}
        }
    }

    fn pass(&mut self, at: UnixMillis, fact: &Fact<'_>) {
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        let last = self.last.map_or(at, |last| last.max(at));
        let passed =
            self.last.map_or(0, |before| last.as_millis().saturating_sub(before.as_millis()));
        self.last = Some(last);
        let share = if self.open_approvals > 0 {
            &mut self.split.person
        } else if self.open_calls > 0 {
            &mut self.split.tool
        } else {
            match (self.waiting, fact) {
                (WaitsFor::Model, _) => &mut self.split.model,
                // After its text, the model may continue with a call.
                (
                    WaitsFor::Person,
                    Fact::Prompt(_) | Fact::TurnStarted | Fact::SessionStarted(_),
                ) => &mut self.split.person,
                (WaitsFor::Person, Fact::ToolCall(_) | Fact::AssistantText(_)) => {
                    &mut self.split.model
                }
                _ => &mut self.split.idle,
            }
        };
        *share = share.saturating_add(passed);
    }

    pub(super) const fn bounds(&self) -> (Option<UnixMillis>, Option<UnixMillis>) {
        (self.first, self.last)
    }

    pub(super) fn finish(self) -> TimeSplit {
        let wall = match (self.first, self.last) {
            (Some(first), Some(last)) => last.as_millis().saturating_sub(first.as_millis()),
            _ => 0,
        };
        TimeSplit { wall, ..self.split }
    }
}
