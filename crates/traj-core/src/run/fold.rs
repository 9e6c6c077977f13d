//! Turns events into a run: totals and examples, in bounded memory.
//!
//! - `taken`: what one event adds to a run.
//! - `calls`, `approvals`, `models`: things that are counted once, however many
//!   witnesses state them.
//! - `names`, `examples`, `moments`: the selections that are kept.
//! - `time_split`: how a run spent its time.

mod approvals;
mod calls;
mod endings;
mod examples;
mod models;
mod moments;
mod names;
mod own_counts;
mod rest;
mod seen_texts;
mod taken;
mod time_split;

use self::approvals::Approvals;
use self::calls::Calls;
use self::models::Models;
use self::moments::{Moments, is_moment};
use self::seen_texts::SeenTexts;
use self::time_split::Stopwatch;
use super::prices::RememberedPrices;
use super::{
    AgentCall, AgentStart, Content, ErrorFact, Fact, FirstFailure, ModelCall, Moment, Origin,
    Place, Prices, Run, RunEvent, RunState, SessionStart, Thread, one_line,
};
use crate::timestamp::UnixMillis;

pub use calls::CallTotals;
pub use examples::CallExample;
pub use models::{ContextPoint, ModelTotals};
pub use names::NameCounts;
pub use taken::{ApprovalState, CallKey, CallState, CountedCall, Taken};
pub use time_split::TimeSplit;

/// How many characters of an error are kept.
const LONGEST_ERROR: usize = 300;

/// The calls that started at most this many sub-agents are remembered, if their ids have
/// at most this many bytes.
const MOST_AGENT_CALLS: usize = 10_000;
const LONGEST_ID: usize = 500;

/// Takes the events of all witnesses in chronological order, and produces a [`Run`].
///
/// ```
/// use traj_core::dialect::Dialect;
/// use traj_core::json::Json;
/// use traj_core::run::{Fold, Place, Prices};
///
/// let rows = [
///     r#"{"type":"message","id":"a","timestamp":1000,"message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"shell","arguments":{"command":"make"}}]}}"#,
///     r#"{"type":"message","id":"b","timestamp":3000,"message":{"role":"toolResult","toolCallId":"c","details":{"exitCode":2},"content":[]}}"#,
/// ];
/// let mut fold = Fold::new(Prices::shipped());
/// for (line, row) in (1..).zip(rows) {
///     let row = Json::parse(row)?;
///     Dialect::OpenClaw.decode(&row, Place::line(line), &mut |event| fold.push(&event));
/// }
/// let run = fold.finish();
/// assert_eq!((run.calls.failed, run.slowest[0].millis), (1, Some(2_000)));
/// # Ok::<(), traj_core::json::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fold {
    run: Run,
    prices: RememberedPrices,
    calls: Calls,
    approvals: Approvals,
    models: Models,
    /// `None` if they are not wanted.
    moments: Option<Moments>,
    stopwatch: Stopwatch,
    /// The state of the recorder's runs and the agent's turns.
    runtime_state: Option<RunState>,
    turn_state: Option<RunState>,
    /// The status that the artifacts state, used if nothing else states one.
    artifacts: Option<RunState>,
    /// Whether the turn has a prompt, and nothing was said since.
    awaits_answer: bool,
    first_error: Option<(u64, Option<UnixMillis>, String)>,
    provider: Option<String>,
    /// How many prompts each origin states. The larger number counts.
    prompts: [u64; 2],
    texts: SeenTexts,
    last_place: Option<(Origin, Place)>,
}

impl Fold {
    /// A fold that computes costs with these prices.
    #[must_use]
    pub fn new(prices: Prices) -> Self {
        Self {
            run: Run::default(),
            prices: RememberedPrices::new(prices),
            calls: Calls::default(),
            approvals: Approvals::default(),
            models: Models::default(),
            moments: Some(Moments::default()),
            stopwatch: Stopwatch::default(),
            runtime_state: None,
            turn_state: None,
            artifacts: None,
            awaits_answer: false,
            first_error: None,
            provider: None,
            prompts: [0; 2],
            texts: SeenTexts::default(),
            last_place: None,
        }
    }

    /// Leaves [`Run::moments`] empty: for listings, which do not show them.
    #[must_use]
    pub fn without_moments(mut self) -> Self {
        self.moments = None;
        self
    }

    /// Takes the next event.
    pub fn push(&mut self, event: &RunEvent<'_>) {
        self.read(event);
    }

    /// Takes the next event; returns what it adds to the earlier ones.
    pub fn read(&mut self, event: &RunEvent<'_>) -> Taken {
        let place = Some((event.origin, event.place));
        // Facts from a manifest are not on a line.
        if self.last_place != place && event.place.line > 0 {
            self.run.events += 1;
            self.last_place = place;
        }
        if let Thread::SubAgent(id) = event.thread {
            names::count(&mut self.run.sub_runs, &mut self.run.other_sub_runs, id);
        }
        if let Some(start) = event.agent_start {
            self.note_agent_call(start, event.place.line);
        }
        let seq = event.place.line;
        let mut taken = Taken { is_new: true, ..Taken::default() };
        self.take(event, seq, &mut taken);
        taken.turn = self.run.turns;
        // A header states when the file was created, not that something happened.
        let at = event.at.filter(|_| !is_header(event));
        self.stopwatch.take(at, &event.fact, event.origin, taken.is_new);
        let is_shown = taken.is_new && is_moment(&event.fact);
        if let Some(moments) = self.moments.as_mut().filter(|_| is_shown) {
            moments.push(Moment::of(event));
        }
        taken
    }

    /// What is known so far about a call; `None` if it is no longer remembered,
    /// or if only a result of it was seen.
    #[must_use]
    pub fn call(&self, call: CallKey) -> Option<CallState<'_>> {
        self.calls.state(call)
    }

    /// Remembers which call started a sub-agent. What is stated first counts.
    fn note_agent_call(&mut self, start: AgentStart<'_>, seq: u64) {
        let calls = &mut self.run.agent_calls;
        let is_short = start.agent.len() <= LONGEST_ID && start.call.len() <= LONGEST_ID;
        if is_short && calls.len() < MOST_AGENT_CALLS && !calls.contains_key(start.agent) {
            let call = AgentCall { call: start.call.to_owned(), seq };
            calls.insert(start.agent.to_owned(), call);
        }
    }

    fn take(&mut self, event: &RunEvent<'_>, seq: u64, taken: &mut Taken) {
        let (origin, at) = (event.origin, event.at);
        let is_main = event.thread == Thread::Main;
        match &event.fact {
            Fact::SessionStarted(started) => self.describe_run(started, origin),
            Fact::SessionEnded(ended) => taken.is_new_error = self.end_run(ended, seq, at),
            Fact::TurnStarted if is_main => {
                self.turn_state = Some(RunState::Open);
                self.awaits_answer = false;
            }
            Fact::TurnEnded(ended) => {
                taken.is_new_error = self.end_turn(ended, is_main, seq, at);
            }
            // Its parent prompts a sub-agent, not a person.
            Fact::Prompt(prompt) if !is_main => {
                taken.is_new = !self.texts.is_repeated(&prompt.content, origin, b'p');
            }
            Fact::Prompt(prompt) => taken.is_new = self.take_prompt(prompt.content, origin),
            Fact::AssistantText(text) => {
                self.awaits_answer &= !is_main;
                taken.is_new = !self.texts.is_repeated(text, origin, b't');
            }
            Fact::ToolCall(call) => {
                let (is_new, key) = self.calls.start(origin, call, at, seq);
                (taken.is_new, taken.call) = (is_new, Some(key));
            }
            Fact::ToolResult(result) => {
                let (is_new, key) = self.calls.end(origin, result, at, seq);
                (taken.is_new, taken.call) = (is_new, Some(key));
            }
            Fact::ModelCall(call) => {
                if let Some(error) = &call.error {
                    taken.is_new_error = self.note_error(error, seq, at);
                    taken.is_new = taken.is_new_error;
                }
                [taken.model_call, taken.more_of_call] =
                    self.take_model_call(call, event.thread, at);
            }
            Fact::ApprovalAsked(approval) => {
                let (is_new, state) = self.approvals.ask(origin, approval, at);
                (taken.is_new, taken.approval) = (is_new, Some(state));
                self.run.approvals_asked += u64::from(is_new);
            }
            Fact::ApprovalDecided(approval) => {
                let (is_new, state) = self.approvals.decide(origin, approval, at);
                (taken.is_new, taken.approval) = (is_new, Some(state));
                if is_new {
                    approvals::count_decision(&mut self.run, approval, seq);
                }
            }
            Fact::Compaction(_) => self.run.compactions += 1,
            Fact::ModelChanged(change) => {
                self.run.model = change.model.map(names::short).or(self.run.model.take());
                self.provider = change.provider.map(names::short).or(self.provider.take());
            }
            Fact::Error(error) => {
                taken.is_new_error = self.take_error(error, seq, at);
                taken.is_new = taken.is_new_error;
            }
            fact => self.count_rest(fact),
        }
    }

    fn describe_run(&mut self, started: &SessionStart<'_>, origin: Origin) {
        let run = &mut self.run;
        let fill = |slot: &mut Option<String>, value: Option<&str>| {
            if slot.is_none() {
                *slot = value.map(names::short);
            }
        };
        fill(&mut run.agent, started.agent.as_deref());
        fill(&mut run.agent_version, started.agent_version);
        fill(&mut run.session, started.session);
        fill(&mut run.workspace, started.workspace);
        if started.model.is_some() {
            run.model = started.model.map(names::short);
        }
        if started.provider.is_some() {
            self.provider = started.provider.map(names::short);
        }
        if started.begins_run && origin == Origin::Runtime {
            self.runtime_state = Some(RunState::Open);
        }
    }

    fn take_model_call(
        &mut self,
        call: &ModelCall<'_>,
        thread: Thread<'_>,
        at: Option<UnixMillis>,
    ) -> [Option<CountedCall>; 2] {
        // The run's model is that of its own conversation.
        if let Some(model) = call.model.filter(|_| thread == Thread::Main) {
            self.run.model = Some(names::short(model));
            self.provider = call.provider.map(names::short).or(self.provider.take());
        }
        let name = call.model.map(str::to_owned).or_else(|| self.run.model.clone());
        self.models.take(call, thread, &name.unwrap_or_default(), at, &mut self.prices)
    }

    /// Takes a prompt; returns whether it is the first time that it is stated.
    /// The witness that states more prompts determines the number of turns.
    fn take_prompt(&mut self, content: Content<'_>, origin: Origin) -> bool {
        let slot = match origin {
            Origin::Runtime => {
                self.runtime_state.get_or_insert(RunState::Open);
                0
            }
            Origin::Transcript => 1,
        };
        if let Some(count) = self.prompts.get_mut(slot) {
            *count += 1;
        }
        self.awaits_answer = true;
        let is_first = !self.texts.is_repeated(&content, origin, b'p');
        self.run.turns = self.prompts.into_iter().max().unwrap_or_default();
        is_first
    }

    /// Takes an error outside a tool. A run that recovers has not failed.
    fn take_error(&mut self, error: &ErrorFact<'_>, seq: u64, at: Option<UnixMillis>) -> bool {
        let failed_at = self.first_error.take();
        let is_new = self.note_error(&error.text, seq, at);
        if error.is_recovered || failed_at.is_some() {
            self.first_error = failed_at;
        }
        is_new
    }

    /// Takes an error; returns whether it is the first time that it is stated.
    fn note_error(&mut self, text: &str, seq: u64, at: Option<UnixMillis>) -> bool {
        let text = one_line(text, LONGEST_ERROR);
        if self.first_error.is_none() {
            self.first_error = Some((seq, at, text.clone()));
        }
        // The sidecar and the transcript state the same errors.
        let is_new = !self.run.errors.contains(&text);
        if is_new {
            names::list(&mut self.run.errors, &mut self.run.other_errors, text);
        }
        is_new
    }

    /// The run so far. Costs about as much as copying all totals.
    #[must_use]
    pub fn so_far(&self) -> Run {
        self.clone().finish()
    }

    /// The resulting run.
    #[must_use]
    pub fn finish(self) -> Run {
        let Self { mut run, mut calls, models, moments, stopwatch, .. } = self;
        calls.finish();
        let (scope, models) = models.settle(run.compactions);
        (run.started_at, run.ended_at) = stopwatch.bounds();
        run.time = stopwatch.finish();
        (run.moments, run.moments_omitted) = moments.unwrap_or_default().finish();
        run.status = self.runtime_state.or(self.turn_state).or_else(|| self.artifacts.clone());
        if run.endings.is_empty()
            && let Some(RunState::Ended(status)) = &self.artifacts
        {
            run.endings.push(status.clone());
        }
        let failed_call = calls.examples.failed.first().cloned();
        let error = self
            .first_error
            .filter(|(seq, ..)| failed_call.as_ref().is_none_or(|call| *seq < call.failed_at));
        run.first_failure = match (error, failed_call) {
            (Some((seq, at, text)), _) => Some(FirstFailure::Error { seq, at, text }),
            (None, Some(call)) => Some(FirstFailure::Call(call)),
            (None, None) => None,
        };
        run.calls = calls.totals;
        (run.tools, run.other_tools) = (calls.tools, calls.others);
        (run.slowest, run.failed) = (calls.examples.slowest, calls.examples.failed);
        (run.models, run.by_model) = (models.totals, models.models);
        (run.other_models, run.usage_scope) = (models.other_models, scope);
        (run.context_peak, run.context) = (models.peak, models.points);
        if let (Some(provider), Some(model)) = (&self.provider, &run.model)
            && !model.contains('/')
        {
            run.model = Some(format!("{provider}/{model}"));
        }
        run
    }
}

/// Whether an event is a transcript's header, which only describes the run.
fn is_header(event: &RunEvent<'_>) -> bool {
    let describes = matches!(&event.fact, Fact::SessionStarted(started) if !started.begins_run);
    describes && event.origin == Origin::Transcript
}

#[cfg(test)]
mod tests;
