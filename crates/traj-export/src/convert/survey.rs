//! What is known of a run before its first byte is written.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use traj_core::json::Json;
use traj_core::port::{BundleSource, BundleSourceError};
use traj_core::run::{Content, Fact, Fold, Outcome, Prices, Run, RunEvent, Taken, Thread};
use traj_core::timestamp::UnixMillis;

use super::pieces::Step;
use crate::inspect::agent_calls::AgentCalls;
use crate::inspect::run_events::{EventTexts, MOST_RESTORED, RowTexts, read_facts_with};
use crate::inspect::story::What;

/// System prompts and tool lists are kept up to this many bytes: as much as an event
/// can have.
const LONGEST_CONTEXT: usize = 2 * MOST_RESTORED;

/// The times of at most this many sub-agents are kept.
const MOST_SUB_AGENTS: usize = 10_000;

/// The second results of at most this many calls are kept.
const MOST_OUTCOMES: usize = 65_536;

/// A run at a glance.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) run: Run,
    /// The session, or a name for a run without one.
    pub(super) session: String,
    /// The first compiled context.
    pub(super) system: Option<String>,
    pub(super) tools: Option<Json<'static>>,
    /// When each sub-agent did something.
    pub(super) sub_agents: BTreeMap<String, Span>,
    /// Calls whose outcome may be known only from a second result, by their numbers.
    pub(super) outcomes: BTreeMap<u64, Outcome<'static>>,
    /// How many events are too long to read.
    pub(super) too_long: u64,
    /// Whether events refer to long texts.
    pub(super) has_long_texts: bool,
}

/// The first and the last time of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) first: Option<UnixMillis>,
    pub(super) last: Option<UnixMillis>,
}

impl Span {
    /// Extends it to this time.
    pub(super) fn add(&mut self, at: Option<UnixMillis>) {
        if let Some(at) = at {
            self.first = Some(self.first.map_or(at, |first| first.min(at)));
            self.last = self.last.max(Some(at));
        }
    }
}

impl Survey {
    /// Reads a bundle once, and once more if it has long texts, which `texts` then
    /// keeps.
    pub(super) fn of(
        bundle: &dyn BundleSource,
        prices: &Prices,
        texts: &mut EventTexts,
    ) -> Result<Self, BundleSourceError> {
        let survey = Self::read(bundle, prices, None)?;
        if !survey.has_long_texts {
            return Ok(survey);
        }
        texts.gather(bundle)?;
        let survey = Self::read(bundle, prices, Some(texts));
        // They are counted when the run is written.
        let _lacking = texts.take_lacking();
        survey
    }

    fn read(
        bundle: &dyn BundleSource,
        prices: &Prices,
        texts: Option<&mut dyn RowTexts>,
    ) -> Result<Self, BundleSourceError> {
        let mut survey = Self::default();
        let mut fold = Fold::new(prices.clone()).without_moments();
        let counts = read_facts_with(bundle, texts, &mut |event| {
            let taken = fold.read(event);
            survey.take(event);
            if let Some(key) = taken.call.filter(|_| is_late_word(event, &taken))
                && let Some(outcome) = fold.call(key).and_then(|state| state.outcome)
                && *outcome != Outcome::Ok
                && survey.outcomes.len() < MOST_OUTCOMES
            {
                survey.outcomes.insert(key.number, outcome.clone().into_owned());
            }
            ControlFlow::Continue(())
        })?;
        survey.too_long = counts.too_long;
        survey.has_long_texts = counts.with_long_texts > 0;
        survey.run = fold.finish();
        survey.session = survey.run.session.clone().unwrap_or_else(|| "run".to_owned());
        Ok(survey)
    }

    /// Gives a call the outcome that the run counts: its second result may come when its
    /// step is complete.
    pub(super) fn settle(&self, step: &mut Step) {
        if let What::Call(call) = &mut step.what
            && let Some(outcome) = self.outcomes.get(&call.number)
        {
            call.set_outcome(outcome);
        }
    }

    /// The calls that started its sub-agents.
    pub(super) fn agent_calls(&self) -> AgentCalls {
        AgentCalls::of(&self.run, self.sub_agents.keys().map(String::as_str))
    }

    fn take(&mut self, event: &RunEvent<'_>) {
        if let Fact::ContextCompiled(context) = &event.fact {
            if self.system.is_none() && !matches!(context.system, Content::None) {
                let text = context.system.to_text();
                self.system = Some(text).filter(|text| text.len() <= LONGEST_CONTEXT);
            }
            if let (None, Some(tools)) = (&self.tools, context.tools)
                && tools.to_line().len() <= LONGEST_CONTEXT
            {
                self.tools = Some(tools.clone().into_owned());
            }
        }
        if let Thread::SubAgent(id) = event.thread {
            if let Some(span) = self.sub_agents.get_mut(id) {
                span.add(event.at);
            } else if self.sub_agents.len() < MOST_SUB_AGENTS {
                let mut span = Span::default();
                span.add(event.at);
                self.sub_agents.insert(id.to_owned(), span);
            }
        }
    }
}

/// Whether an event may change the outcome of a call that has one: another result, or a
/// call whose results came first.
fn is_late_word(event: &RunEvent<'_>, taken: &Taken) -> bool {
    match event.fact {
        Fact::ToolResult(_) => !taken.is_new,
        Fact::ToolCall(_) => true,
        _ => false,
    }
}
