//! The moments of a run: what happened, in a few words each.

use std::collections::VecDeque;

use crate::run::{Fact, Moment, RunEvent, one_line, words};

/// How many moments of a long run are kept from its start and from its end. The
/// end is usually where something broke.
const FIRST: usize = 300;
const LAST: usize = 100;

/// The maximum length of a moment, in characters.
const LONGEST: usize = 160;

impl Moment {
    /// The moment that an event describes.
    pub(super) fn of(event: &RunEvent<'_>) -> Self {
        Self {
            seq: event.place.line,
            at: event.at,
            kind: words::label(&event.fact),
            about: one_line(&words::about(&event.fact), LONGEST),
        }
    }
}

/// The moments of a run, without the middle of a long one.
#[derive(Clone, Debug, Default)]
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

    /// The moments kept, and how many were omitted.
    pub(super) fn finish(mut self) -> (Vec<Moment>, u64) {
        self.first.extend(self.last);
        (self.first, self.omitted)
    }
}

/// Whether a fact is something that happened, rather than a description of the
/// run or a part of something else.
pub(super) const fn is_moment(fact: &Fact<'_>) -> bool {
    match fact {
        Fact::SessionStarted(started) => started.begins_run,
        Fact::SessionEnded(ended) => ended.is_final,
        // Its reply and its calls are moments themselves.
        Fact::ModelCall(call) => call.error.is_some(),
        Fact::ContextCompiled(_)
        | Fact::TurnStarted
        | Fact::Reasoning(_)
        | Fact::Branches(_)
        | Fact::UnknownRows(_)
        | Fact::Attachment(_)
        | Fact::Hook(_) => false,
        Fact::Other { is_known, .. } => !*is_known,
        _ => true,
    }
}
