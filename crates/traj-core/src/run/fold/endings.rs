//! How turns and runs ended.

use super::{Fold, LONGEST_ERROR, RunState, names};
use crate::run::{EndStatus, SessionEnd, one_line};
use crate::timestamp::UnixMillis;

impl Fold {
    /// Takes the end of a turn; returns whether it names a new error. A statement
    /// that is not final counts only if nothing else says how the turn ended.
    pub(super) fn end_turn(
        &mut self,
        ended: &SessionEnd<'_>,
        is_main: bool,
        seq: u64,
        at: Option<UnixMillis>,
    ) -> bool {
        let is_error = ended.status == EndStatus::Error;
        let is_open = self.turn_state.as_ref().is_none_or(|state| *state == RunState::Open);
        let is_explained = is_error && !ended.is_final && !self.awaits_answer;
        if is_main && is_explained {
            self.turn_state = Some(RunState::Ended(EndStatus::Success.as_str().to_owned()));
        } else if is_main && (ended.is_final || is_open) {
            self.turn_state = Some(state_of(ended));
            self.note_end(ended);
        }
        self.awaits_answer = false;
        let error = ended.error.as_ref().filter(|_| !is_explained);
        error.is_some_and(|error| self.note_error(error, seq, at))
    }

    /// Takes the end of a run; returns whether it names a new error.
    pub(super) fn end_run(
        &mut self,
        ended: &SessionEnd<'_>,
        seq: u64,
        at: Option<UnixMillis>,
    ) -> bool {
        let error = ended.error.as_ref();
        let is_new_error = error.is_some_and(|error| self.note_error(error, seq, at));
        if ended.is_final {
            self.runtime_state = Some(state_of(ended));
            self.note_end(ended);
        } else {
            self.artifacts = Some(state_of(ended));
        }
        self.run.end_error = ended.error.as_ref().map(|error| one_line(error, LONGEST_ERROR));
        is_new_error
    }

    fn note_end(&mut self, ended: &SessionEnd<'_>) {
        let status = names::short(ended.status.as_str());
        names::list(&mut self.run.endings, &mut self.run.other_endings, status);
    }
}

fn state_of(ended: &SessionEnd<'_>) -> RunState {
    RunState::Ended(names::short(ended.status.as_str()))
}
