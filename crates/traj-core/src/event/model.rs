//! Model responses and fallbacks.

use super::{Event, EventKind};
use crate::json::{Json, Object};

/// Data of `model.completed`.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a literal with `..Default::default()` is the constructor"
)]
pub struct ModelCompleted {
    /// The thread on the app-server.
    pub thread_id: Option<String>,
    /// The turn that completed.
    pub turn_id: Option<String>,
    /// Whether a timeout ended it.
    pub timed_out: bool,
    /// Whether the model yielded to another run.
    pub yield_detected: bool,
    /// Whether it was aborted.
    pub aborted: bool,
    /// The error of the prompt; `None` is written as null.
    pub prompt_error: Option<String>,
    /// Tokens and cost, as the provider reports them.
    pub usage: Option<Object<'static>>,
    /// The assistant's texts.
    pub assistant_texts: Vec<String>,
    /// The conversation at that point.
    pub messages_snapshot: Option<Vec<Json<'static>>>,
}

impl ModelCompleted {
    /// The event.
    #[must_use]
    pub fn event(self) -> Event {
        let mut data = Object::new();
        data.push_some("threadId", self.thread_id);
        data.push_some("turnId", self.turn_id);
        data.push("timedOut", self.timed_out);
        data.push("yieldDetected", self.yield_detected);
        data.push("aborted", self.aborted);
        data.push("promptError", self.prompt_error.map_or(Json::Null, Json::from));
        data.push_some("usage", self.usage);
        data.push("assistantTexts", self.assistant_texts);
        data.push_some("messagesSnapshot", self.messages_snapshot);
        Event::new(EventKind::ModelCompleted, Some(data))
    }
}

/// The state of the model chain after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FallbackOutcome {
    /// The next model is tried.
    NextFallback,
    /// A model answered.
    Succeeded,
    /// No model is left.
    ChainExhausted,
}

impl FallbackOutcome {
    const fn as_str(self) -> &'static str {
        match self {
            Self::NextFallback => "next_fallback",
            Self::Succeeded => "succeeded",
            Self::ChainExhausted => "chain_exhausted",
        }
    }
}

/// Data of `model.fallback_step`. Models are written `provider/model`.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "every field is required")]
pub struct FallbackStep {
    /// The model that failed.
    pub from_model: String,
    /// The model that is tried next.
    pub to_model: Option<String>,
    /// The reason for the failure, as a single word.
    pub failure_reason: Option<String>,
    /// The reason for the failure, as a sentence.
    pub failure_detail: Option<String>,
    /// The position in the chain.
    pub chain_position: Option<u64>,
    /// The state of the chain after this step.
    pub outcome: FallbackOutcome,
}

impl FallbackStep {
    /// The event.
    #[must_use]
    pub fn event(self) -> Event {
        let mut data = Object::new();
        data.push("fallbackStepType", "fallback_step");
        data.push("fallbackStepFromModel", self.from_model);
        data.push_some("fallbackStepToModel", self.to_model);
        data.push_some("fallbackStepFromFailureReason", self.failure_reason);
        data.push_some("fallbackStepFromFailureDetail", self.failure_detail);
        data.push_some("fallbackStepChainPosition", self.chain_position);
        data.push("fallbackStepFinalOutcome", self.outcome.as_str());
        Event::new(EventKind::ModelFallbackStep, Some(data))
    }
}
