//! Turns facts into steps: a call with its result, an approval with its decision,
//! each once. The fold decides which facts belong together; the story only holds
//! steps back until they are complete.
//!
//! - `detail`: how much a reader wants to know;
//! - `step`: what is shown;
//! - `excerpt`: a string, shortened in the middle;
//! - `approvals`: a request for permission and its decision as one step;
//! - `queue`: holds steps back until they are complete.

mod approvals;
mod detail;
mod excerpt;
mod queue;
mod step;

use traj_core::run::{
    CallKey, EndStatus, Fact, FirstFailure, Fold, ModelCall, ModelTotals, Outcome, Prices, Prompt,
    Run, RunEvent, SessionEnd, Taken, Thread, ToolCallFact, ToolResultFact, UsageScope, command_of,
    one_line, words,
};
use traj_core::timestamp::UnixMillis;

use crate::inspect::report::UsageSummary;
use queue::{StepHold, StepQueue};
use step::usage_of_one;

pub use detail::{StepNotes, StoryDetail, TextAmount};
pub use excerpt::Excerpt;
pub use step::{ModelUse, ShownCall, StoryStep, What};

/// How many lines of a message are shown, unless all are.
const TEXT_LINES: usize = 200;

/// How many lines of an output are shown, unless all are.
const OUTPUT_LINES: usize = 12;

/// How many characters of a one-line string are shown.
const SHORT: usize = 500;

/// The first failure, in the form in which a step can be compared with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstFailureKey {
    Call(u64),
    Error(u64),
    Nothing,
}

/// A run as a conversation, shown step by step while its events are read. Steps
/// that are not complete yet hold back those after them, within limits.
#[derive(Debug)]
pub struct Story<S: StepNotes = ()> {
    fold: Fold,
    detail: StoryDetail,
    notes: S,
    first_failure: FirstFailureKey,
    /// The kind of record from which model calls are counted.
    scope: UsageScope,
    queue: StepQueue<S::Note>,
    /// How many calls were shown before their results came.
    late_results: u64,
    /// The number of the last call that became a step.
    last_call: u64,
    turn: Turn,
    /// How the run ended according to its artifacts, if nothing else states it.
    artifacts: Option<StoryStep<S::Note>>,
}

/// The current turn.
#[derive(Debug, Default)]
struct Turn {
    number: u64,
    began: Option<UnixMillis>,
    last: Option<UnixMillis>,
    totals: ModelTotals,
}

impl Story {
    /// The story of a run that was already read once.
    #[must_use]
    pub fn new(run: &Run, prices: Prices, detail: StoryDetail) -> Self {
        Self::with_notes(run, prices, detail, ())
    }
}

impl<S: StepNotes> Story<S> {
    /// As [`Story::new`], with notes for each step.
    #[must_use]
    pub fn with_notes(run: &Run, prices: Prices, detail: StoryDetail, notes: S) -> Self {
        let first_failure = match &run.first_failure {
            Some(FirstFailure::Call(call)) => FirstFailureKey::Call(call.number),
            Some(FirstFailure::Error { seq, .. }) => FirstFailureKey::Error(*seq),
            _ => FirstFailureKey::Nothing,
        };
        Self {
            fold: Fold::new(prices),
            detail,
            notes,
            first_failure,
            scope: run.usage_scope,
            queue: StepQueue::new(S::bytes),
            late_results: 0,
            last_call: 0,
            turn: Turn::default(),
            artifacts: None,
        }
    }

    /// Takes an event, and shows the steps that are complete.
    pub fn take(&mut self, event: &RunEvent<'_>, show: &mut dyn FnMut(StoryStep<S::Note>)) {
        let taken = self.fold.read(event);
        if taken.turn != self.turn.number {
            self.end_turn();
            self.turn = Turn { number: taken.turn, began: event.at, ..Turn::default() };
        }
        match &event.fact {
            Fact::ToolCall(call) => self.call(call, event, &taken),
            Fact::ToolResult(result) => self.result(result, event, &taken),
            Fact::ModelCall(call) => self.model_call(call, event, &taken),
            Fact::ApprovalAsked(approval) | Fact::ApprovalDecided(approval) => {
                self.approval(approval, event, &taken);
            }
            Fact::SessionEnded(ended) => self.ended(ended, event, &taken),
            _ if !taken.is_new => {}
            Fact::Prompt(prompt) => self.prompt(prompt, event),
            fact => self.plain(fact, event, &taken),
        }
        self.turn.last = self.turn.last.max(event.at);
        self.queue.release(show);
    }

    /// How many calls were shown as unanswered, because their results came too late to
    /// wait for.
    #[must_use]
    pub const fn late_results(&self) -> u64 {
        self.late_results
    }

    /// Shows the steps that were held back, at the end of the run, and returns the
    /// notes.
    pub fn finish(mut self, show: &mut dyn FnMut(StoryStep<S::Note>)) -> S {
        self.end_turn();
        self.queue.release_all(show);
        if let Some(step) = self.artifacts {
            show(step);
        }
        self.notes
    }

    fn step(&mut self, event: &RunEvent<'_>, what: What) -> StoryStep<S::Note> {
        let sub_agent = match event.thread {
            Thread::SubAgent(name) => Some(one_line(name, SHORT)),
            _ => None,
        };
        let is_error = matches!(&what, What::Error { .. } | What::Ended { error: Some(_), .. });
        let is_first_failure =
            is_error && self.first_failure == FirstFailureKey::Error(event.place.line);
        let entry = event.entry.map(str::to_owned);
        let (turn, note) = (self.turn.number, self.notes.begin(event));
        StoryStep { turn, at: event.at, sub_agent, entry, is_first_failure, note, what }
    }

    fn push(&mut self, event: &RunEvent<'_>, what: What) {
        let step = self.step(event, what);
        self.queue.push(step, StepHold::Nothing);
    }

    fn text(&self, content: &traj_core::run::Content<'_>, lines: usize) -> Excerpt {
        match self.detail.texts {
            TextAmount::Excerpt => Excerpt::of(content, Some(lines)),
            TextAmount::Full => Excerpt::of(content, None),
            TextAmount::Nothing => Excerpt::default(),
        }
    }

    /// Adds the end of a turn, with its duration and usage, before the next one.
    fn end_turn(&mut self) {
        let turn = std::mem::take(&mut self.turn);
        self.turn.number = turn.number;
        let has_nothing = turn.totals.calls == 0 && turn.began.is_none();
        if turn.number == 0 || has_nothing {
            return;
        }
        let took = turn.began.zip(turn.last).map(|(began, last)| {
            last.as_millis().saturating_sub(began.as_millis()).max(0).unsigned_abs()
        });
        let what = What::Turn { duration_millis: took, usage: UsageSummary::of(&turn.totals) };
        self.queue.push(StoryStep::new(turn.number, turn.last, what), StepHold::Nothing);
    }

    fn prompt(&mut self, prompt: &Prompt<'_>, event: &RunEvent<'_>) {
        let text = self.text(&prompt.content, TEXT_LINES);
        let skipped = prompt.skipped.map(str::to_owned);
        self.push(event, What::Prompt { text, images: prompt.images, skipped });
    }

    fn model_call(&mut self, call: &ModelCall<'_>, event: &RunEvent<'_>, taken: &Taken) {
        let counted = taken.model_call.as_ref().filter(|_| call.scope == self.scope);
        if let Some(counted) = counted.filter(|counted| !counted.usage.is_zero()) {
            self.turn.totals.add(&counted.usage, counted.cost.as_ref());
            // A record of a whole turn is shown at the end of the turn.
            if call.scope != UsageScope::Turn || self.detail.is_complete {
                let model = Some(&counted.model).filter(|model| !model.is_empty());
                let what = What::ModelCall(ModelUse {
                    model: model.map(|model| one_line(model, SHORT)),
                    context: counted.usage.total(),
                    duration_millis: call.latency,
                    usage: usage_of_one(counted),
                });
                self.push(event, what);
            }
        }
        if let Some(error) = call.error.as_ref().filter(|_| taken.is_new_error) {
            let text = error.clone().into_owned();
            self.push(event, What::Error { text, is_recovered: false });
        }
    }

    fn ended(&mut self, ended: &SessionEnd<'_>, event: &RunEvent<'_>, taken: &Taken) {
        let error = ended.error.as_deref().filter(|_| taken.is_new_error).map(str::to_owned);
        let is_failure = ended.status == EndStatus::Error || ended.error.is_some();
        let status = one_line(ended.status.as_str(), SHORT);
        if ended.is_final {
            self.artifacts = None;
            self.turn.last = self.turn.last.max(event.at);
            self.end_turn();
            self.push(event, What::Ended { status, error, is_failure });
            return;
        }
        // The error is shown where it is stated first.
        if let Some(text) = error {
            self.push(event, What::Error { text, is_recovered: false });
        }
        self.artifacts = Some(self.step(event, What::Ended { status, error: None, is_failure }));
    }

    fn call(&mut self, call: &ToolCallFact<'_>, event: &RunEvent<'_>, taken: &Taken) {
        let Some(key) = taken.call else { return };
        let command = command_of(call);
        if key.number <= self.last_call {
            // The other file stated it too, or a result came first. The longer
            // text wins.
            let notes = &mut self.notes;
            self.queue.change(StepHold::Call(key.number), |step| {
                notes.join(&mut step.note, event);
                if let What::Call(shown) = &mut step.what
                    && shown.command.as_ref().map_or(0, String::len)
                        < command.as_ref().map_or(0, String::len)
                {
                    shown.command = command;
                }
            });
            if let Some(entry) = event.entry {
                self.queue.move_after_entry(StepHold::Call(key.number), entry);
            }
        } else {
            self.last_call = key.number;
            let mut shown = ShownCall {
                number: key.number,
                id: call.id.map(str::to_owned),
                tool: one_line(call.name, SHORT),
                command,
                ..ShownCall::default()
            };
            shown.set_outcome(&Outcome::Unanswered);
            self.push_call(shown, event, key);
        }
        self.update(key);
    }

    fn push_call(&mut self, call: ShownCall, event: &RunEvent<'_>, key: CallKey) {
        let mut step = self.step(event, What::Call(call));
        step.is_first_failure = self.first_failure == FirstFailureKey::Call(key.number);
        self.queue.push(step, StepHold::Call(key.number));
    }

    fn result(&mut self, result: &ToolResultFact<'_>, event: &RunEvent<'_>, taken: &Taken) {
        let Some(key) = taken.call else { return };
        let output = self.text(&result.content, OUTPUT_LINES);
        if key.number <= self.last_call {
            let notes = &mut self.notes;
            let is_there = self.queue.change(StepHold::Call(key.number), |step| {
                notes.join(&mut step.note, event);
                if let What::Call(shown) = &mut step.what {
                    if output.is_longer_than(&shown.output) {
                        shown.output = output;
                    }
                    shown.is_truncated |= result.is_truncated;
                }
            });
            if !is_there && self.queue.take_shown(key.number) {
                self.late_results += 1;
            }
            self.update(key);
            return;
        }
        // The call of this result was not recorded, or comes later.
        self.last_call = key.number;
        let mut shown = ShownCall {
            number: key.number,
            id: result.id.map(str::to_owned),
            tool: one_line(result.name.unwrap_or("tool"), SHORT),
            duration_millis: result.duration,
            output,
            is_truncated: result.is_truncated,
            ..ShownCall::default()
        };
        shown.set_outcome(&result.outcome);
        self.push_call(shown, event, key);
        self.queue.settle(StepHold::Call(key.number));
    }

    /// Updates the step of a call from the fold.
    fn update(&mut self, key: CallKey) {
        let Some(state) = self.fold.call(key) else { return };
        self.queue.change(StepHold::Call(key.number), |step| {
            if let What::Call(shown) = &mut step.what {
                if let Some(outcome) = state.outcome {
                    shown.set_outcome(outcome);
                }
                shown.duration_millis = state.millis.and_then(|millis| u64::try_from(millis).ok());
            }
        });
        if state.is_settled {
            self.queue.settle(StepHold::Call(key.number));
        }
    }

    /// Adds the step of a fact that stands alone.
    fn plain(&mut self, fact: &Fact<'_>, event: &RunEvent<'_>, taken: &Taken) {
        let what = match fact {
            Fact::AssistantText(text) if !text.is_blank() => {
                What::Text { text: self.text(text, TEXT_LINES) }
            }
            Fact::Reasoning(text) if self.detail.has_reasoning && !text.is_blank() => {
                What::Reasoning { text: self.text(text, TEXT_LINES) }
            }
            Fact::Compaction(compaction) => What::Compaction {
                tokens_before: compaction.tokens_before,
                summary: self.text(&compaction.summary, OUTPUT_LINES),
            },
            Fact::SessionStarted(started) if started.begins_run && taken.turn > 0 => {
                What::Changed { about: words::preview(fact) }
            }
            Fact::TurnEnded(ended) => match (&ended.error, &ended.status) {
                (Some(error), _) if taken.is_new_error => {
                    What::Error { text: error.clone().into_owned(), is_recovered: false }
                }
                (None, status) if *status != EndStatus::Success => {
                    What::Changed { about: format!("turn {}", words::about(fact)) }
                }
                _ => return,
            },
            Fact::ModelChanged(_) | Fact::ModeChanged(_) | Fact::Rewind(_) => {
                What::Changed { about: words::preview(fact) }
            }
            Fact::Error(error) => What::Error {
                text: error.text.clone().into_owned(),
                is_recovered: error.is_recovered,
            },
            Fact::Lost(_) => What::Lost { about: words::about(fact) },
            Fact::SessionStarted(_)
            | Fact::ContextCompiled(_)
            | Fact::Branches(_)
            | Fact::Attachment(_)
            | Fact::Hook(_)
                if self.detail.is_complete =>
            {
                What::Aside { about: words::about(fact) }
            }
            _ => return,
        };
        self.push(event, what);
    }
}

#[cfg(test)]
mod tests;
