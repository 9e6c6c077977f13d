//! The pieces of a conversation: what a person said, what the model answered
//! and did, and everything else.

use traj_core::timestamp::UnixMillis;

use super::notes::FactNote;
use crate::inspect::story::{ModelUse, ShownCall, StoryStep};

/// A step with its notes.
pub(super) type Step = StoryStep<FactNote>;

/// A piece of a conversation.
#[derive(Debug)]
pub(super) enum Piece {
    /// A message of the model, with the calls that it asked for.
    Message(Message),
    /// A prompt, an error, an approval, or another step.
    Step(Step),
}

/// What one model call led to.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// The number of its first event.
    pub(super) seq: u64,
    /// The turn.
    pub(super) turn: u64,
    /// The time of its first event.
    pub(super) at: Option<UnixMillis>,
    /// The sub-agent whose message it is.
    pub(super) sub_agent: Option<String>,
    /// What the model thought.
    pub(super) reasoning: Vec<String>,
    /// What it said.
    pub(super) texts: Vec<String>,
    /// The calls that it asked for.
    pub(super) calls: Vec<Call>,
    /// The model call.
    pub(super) model: Option<ModelPart>,
}

/// A model call.
#[derive(Debug)]
pub(super) struct ModelPart {
    /// When it was recorded: usually at its end.
    pub(super) at: Option<UnixMillis>,
    pub(super) usage: ModelUse,
    pub(super) note: FactNote,
}

/// A tool call with its result.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) turn: u64,
    pub(super) at: Option<UnixMillis>,
    pub(super) shown: ShownCall,
    pub(super) note: FactNote,
}

impl Call {
    /// When it ended.
    pub(super) fn ended(&self) -> Option<UnixMillis> {
        let took = i64::try_from(self.shown.duration_millis?).ok()?;
        Some(self.at?.plus_millis(took))
    }
}

impl Message {
    /// What the model said.
    pub(super) fn text(&self) -> String {
        self.texts.join("\n\n")
    }

    /// Whether there is nothing in it.
    pub(super) const fn is_empty(&self) -> bool {
        self.reasoning.is_empty()
            && self.texts.is_empty()
            && self.calls.is_empty()
            && self.model.is_none()
    }
}
