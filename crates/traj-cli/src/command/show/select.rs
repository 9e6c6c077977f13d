//! Selects the steps that the user wants to see.

use std::collections::VecDeque;

use traj_export::{StoryStep, What};

/// How many steps before the first failure are shown.
const LED_TO_IT: usize = 8;

/// The steps to show.
#[derive(Clone, Debug)]
pub(super) enum ShownPart {
    All,
    Turn(u64),
    Call(String),
    FromFailure,
}

/// Passes on the selected steps.
#[derive(Debug)]
pub(super) struct Selection {
    wanted: ShownPart,
    /// The steps before a failure: the prompt, and the last ones.
    prompt: Option<StoryStep>,
    before: VecDeque<StoryStep>,
    has_begun: bool,
}

impl Selection {
    pub(super) const fn new(wanted: ShownPart) -> Self {
        Self { wanted, prompt: None, before: VecDeque::new(), has_begun: false }
    }

    /// Whether any step was selected.
    pub(super) const fn has_begun(&self) -> bool {
        self.has_begun
    }

    pub(super) fn take(&mut self, step: StoryStep, show: &mut dyn FnMut(StoryStep)) {
        let is_wanted = match &self.wanted {
            ShownPart::All => true,
            ShownPart::Turn(turn) => step.turn == *turn,
            ShownPart::Call(id) => match &step.what {
                What::Call(call) => call.id.as_deref() == Some(id),
                _ => false,
            },
            ShownPart::FromFailure => self.has_begun || step.is_first_failure,
        };
        if is_wanted {
            self.has_begun = true;
            self.prompt.take().into_iter().for_each(&mut *show);
            self.before.drain(..).for_each(&mut *show);
            show(step);
        } else if matches!(self.wanted, ShownPart::FromFailure) {
            self.remember(step);
        }
    }

    fn remember(&mut self, step: StoryStep) {
        if matches!(step.what, What::Prompt { .. }) {
            self.before.clear();
            self.prompt = Some(step);
            return;
        }
        if self.before.len() == LED_TO_IT {
            self.before.pop_front();
        }
        self.before.push_back(step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(turn: u64, what: What) -> StoryStep {
        StoryStep::new(turn, None, what)
    }

    fn note(number: usize) -> What {
        What::Changed { about: number.to_string() }
    }

    #[test]
    fn a_failure_is_shown_with_what_led_to_it() {
        let mut selection = Selection::new(ShownPart::FromFailure);
        let mut shown = Vec::new();
        let mut show = |step: StoryStep| shown.push(step);
        for number in 0..20 {
            selection.take(step(1, note(number)), &mut show);
        }
        assert!(!selection.has_begun());
        let error = What::Error { text: "it broke".to_owned(), is_recovered: false };
        let mut failure = step(1, error);
        failure.is_first_failure = true;
        selection.take(failure, &mut show);
        selection.take(step(2, note(20)), &mut show);
        assert!(selection.has_begun());
        assert_eq!(shown.len(), LED_TO_IT + 2);
    }

    #[test]
    fn one_turn_is_selected_by_its_number() {
        let mut selection = Selection::new(ShownPart::Turn(2));
        let mut shown = Vec::new();
        for turn in 0..4 {
            selection.take(step(turn, note(0)), &mut |step| shown.push(step.turn));
        }
        assert_eq!(shown, [2]);
    }
}
