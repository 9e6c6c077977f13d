//! Groups steps into messages: what a model call said and asked for belongs
//! together.
//!
//! Programs write this in different orders. OpenClaw states the text, the
//! usage and the calls of a message in one entry; Codex writes the usage after
//! the calls. Where a program gives no ids, a message ends at the usage that
//! follows its content, at the first text after its calls, or at a call that
//! begins after the answer to the one before.

use std::collections::BTreeMap;

use traj_core::timestamp::UnixMillis;

use super::notes::FactNote;
use super::pieces::{Call, Message, ModelPart, Piece, Step};
use crate::inspect::story::What;

/// At most this many conversations have an unfinished message.
const MOST_OPEN: usize = 64;

/// A message with its calls is complete at this many.
const MOST_CALLS: usize = 512;

/// A message with its calls is complete at this many bytes of outputs and arguments.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// Groups the steps of a run and of its sub-agents.
#[derive(Debug, Default)]
pub(super) struct Grouping {
    open: BTreeMap<Option<String>, OpenMessage>,
}

/// A message that may continue.
#[derive(Debug, Default)]
struct OpenMessage {
    message: Message,
    entry: Option<String>,
    /// Whether it had text or calls before its usage.
    has_content_before_usage: bool,
    /// How many bytes its calls have.
    bytes: usize,
}

impl OpenMessage {
    /// Whether a step of this entry belongs to the same message for certain.
    fn is_same_entry(&self, note: &FactNote) -> bool {
        self.entry.is_some() && self.entry == note.entry
    }

    /// Whether a call belongs to this message.
    fn takes_call(&self, note: &FactNote, at: Option<UnixMillis>) -> bool {
        let is_full = self.message.calls.len() >= MOST_CALLS || self.bytes >= MOST_BYTES;
        let is_open = match self.message.model {
            Some(_) => !self.has_content_before_usage,
            None => !self.is_answered_before(at),
        };
        !is_full && (is_open || self.is_same_entry(note))
    }

    /// Whether the last call ended before this time: the model saw its result.
    fn is_answered_before(&self, at: Option<UnixMillis>) -> bool {
        let ended = self.message.calls.last().and_then(Call::ended);
        ended.zip(at).is_some_and(|(ended, at)| ended < at)
    }

    /// Whether a text belongs to this message.
    fn takes_text(&self, note: &FactNote) -> bool {
        let has_calls = !self.message.calls.is_empty();
        self.is_same_entry(note) || (!has_calls && self.takes_call(note, None))
    }
}

impl Grouping {
    /// Takes a step, and passes on what is complete. Returns whether `pass`
    /// wants more.
    pub(super) fn take(&mut self, step: Step, pass: &mut dyn FnMut(Piece) -> bool) -> bool {
        let thread = step.sub_agent.clone();
        let open = self.open.get(&thread);
        let goes_on = match &step.what {
            What::Text { .. } | What::Reasoning { .. } => {
                open.is_none_or(|open| open.takes_text(&step.note))
            }
            What::Call(_) => open.is_none_or(|open| open.takes_call(&step.note, step.at)),
            What::ModelCall(_) => open.is_none_or(|open| open.message.model.is_none()),
            _ => false,
        };
        if !goes_on && !self.close(&thread, pass) {
            return false;
        }
        let is_part = matches!(
            step.what,
            What::Text { .. } | What::Reasoning { .. } | What::Call(_) | What::ModelCall(_)
        );
        if !is_part {
            return pass(Piece::Step(step));
        }
        if self.open.len() >= MOST_OPEN && !self.open.contains_key(&thread) && !self.finish(pass) {
            return false;
        }
        self.open.entry(thread).or_default().add(step);
        true
    }

    /// Passes on what is left. Returns whether `pass` wants more.
    pub(super) fn finish(&mut self, pass: &mut dyn FnMut(Piece) -> bool) -> bool {
        let mut open: Vec<_> = std::mem::take(&mut self.open).into_values().collect();
        open.sort_by_key(|open| open.message.seq);
        open.into_iter().all(|open| pass(Piece::Message(open.message)))
    }

    #[expect(clippy::ref_option, reason = "it is a key of the map")]
    fn close(&mut self, thread: &Option<String>, pass: &mut dyn FnMut(Piece) -> bool) -> bool {
        match self.open.remove(thread) {
            Some(open) if !open.message.is_empty() => pass(Piece::Message(open.message)),
            _ => true,
        }
    }
}

impl OpenMessage {
    fn add(&mut self, step: Step) {
        let Step { turn, at, sub_agent, note, what, .. } = step;
        let message = &mut self.message;
        if message.is_empty() {
            message.seq = note.seq;
            (message.turn, message.sub_agent) = (turn, sub_agent);
            self.entry.clone_from(&note.entry);
        }
        message.at = message.at.or(at);
        match what {
            What::Text { text } => message.texts.push(text.text),
            What::Reasoning { text } => message.reasoning.push(text.text),
            What::Call(shown) => {
                self.bytes += shown.output.bytes() + note.arguments.bytes();
                message.calls.push(Call { turn, at, shown, note });
            }
            What::ModelCall(usage) => {
                self.has_content_before_usage = !message.is_empty();
                message.model = Some(ModelPart { at, usage, note });
            }
            _ => {}
        }
    }
}
