//! What one event adds to a run, for readers that show a run step by step.

use crate::run::{Cost, Origin, Outcome, Usage};

/// What an event adds to a run, returned by [`Fold::read`](super::Fold::read).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Taken {
    /// Whether this is the first statement of the fact; another witness may have
    /// stated it already.
    pub is_new: bool,
    /// The turn that it belongs to, from 1; 0 before the first prompt.
    pub turn: u64,
    /// Whether it names an error that no earlier event did.
    pub is_new_error: bool,
    /// The call that it states or answers.
    pub call: Option<CallKey>,
    /// The approval that it asks for or decides.
    pub approval: Option<ApprovalState>,
    /// The model call that it adds.
    pub model_call: Option<CountedCall>,
    /// What it adds to a model call that is counted already: the first rows of a
    /// streamed response state only the tokens written so far.
    pub more_of_call: Option<CountedCall>,
}

/// A model call that is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CountedCall {
    /// The model; empty if none is named.
    pub model: String,
    /// Its tokens.
    pub usage: Usage,
    /// Its cost; `None` if no price is known.
    pub cost: Option<Cost>,
}

/// Identifies a call. Two witnesses of one call yield the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallKey {
    /// Its number among the calls of the run, in the order of their first
    /// statements.
    pub number: u64,
    /// Where it is remembered: its group, and its index there. A result that
    /// precedes its call has no place yet.
    pub(super) place: Option<(u64, usize)>,
}

/// What is known about a call so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallState<'f> {
    /// Its outcome; `None` while it has no result.
    pub outcome: Option<&'f Outcome<'static>>,
    /// How long it took, in milliseconds, by the best clock.
    pub millis: Option<i64>,
    /// Whether every witness that stated it has stated a result.
    pub is_settled: bool,
}

/// What is known about an approval so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalState {
    /// Its number among the approvals of the run.
    pub number: u64,
    /// How long the run waited for the decision, in milliseconds.
    pub millis: Option<i64>,
}

/// One value for each witness.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ByOrigin<T> {
    pub(super) runtime: T,
    pub(super) transcript: T,
}

impl<T: Copy> ByOrigin<T> {
    pub(super) const fn get(self, origin: Origin) -> T {
        match origin {
            Origin::Runtime => self.runtime,
            Origin::Transcript => self.transcript,
        }
    }

    pub(super) const fn of(&mut self, origin: Origin) -> &mut T {
        match origin {
            Origin::Runtime => &mut self.runtime,
            Origin::Transcript => &mut self.transcript,
        }
    }
}
