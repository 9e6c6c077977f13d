//! Steps in order. An incomplete step holds back those after it, within limits.

use std::collections::VecDeque;

use super::step::{StoryStep, What};

/// At most this many steps wait until the step before them is complete.
const MOST_STEPS: usize = 256;

/// At most this many bytes wait with them.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// What a step waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepHold {
    /// The results of the call with this number.
    Call(u64),
    /// The decision on the approval with this number.
    Approval(u64),
    Nothing,
}

#[derive(Debug)]
struct HeldStep<N> {
    step: StoryStep<N>,
    hold: StepHold,
}

/// Steps that are not shown yet.
#[derive(Debug)]
pub(super) struct StepQueue<N> {
    steps: VecDeque<HeldStep<N>>,
    bytes: usize,
}

impl<N> Default for StepQueue<N> {
    fn default() -> Self {
        Self { steps: VecDeque::new(), bytes: 0 }
    }
}

impl<N> StepQueue<N> {
    pub(super) fn push(&mut self, step: StoryStep<N>, hold: StepHold) {
        self.bytes = self.bytes.saturating_add(step.bytes());
        self.steps.push_back(HeldStep { step, hold });
    }

    /// Adds a step before the call with this id if that call still waits for its
    /// result; else at the end.
    pub(super) fn push_before_call(
        &mut self,
        id: Option<&str>,
        step: StoryStep<N>,
        hold: StepHold,
    ) {
        let is_it = |held: &HeldStep<N>| match (&held.step.what, held.hold) {
            (What::Call(call), StepHold::Call(_)) => id.is_some() && call.id.as_deref() == id,
            _ => false,
        };
        let place = self.steps.iter().rposition(is_it).unwrap_or(self.steps.len());
        self.bytes = self.bytes.saturating_add(step.bytes());
        self.steps.insert(place, HeldStep { step, hold });
    }

    /// Moves the step that waits for this after the last step of an entry: in the
    /// transcript it comes after them, whichever was written first.
    pub(super) fn move_after_entry(&mut self, hold: StepHold, entry: &str) {
        let is_of_entry = |held: &HeldStep<N>| held.step.entry.as_deref() == Some(entry);
        let Some(place) = self.steps.iter().rposition(|held| held.hold == hold) else { return };
        let Some(last) = self.steps.iter().rposition(is_of_entry) else { return };
        if place < last
            && let Some(mut held) = self.steps.remove(place)
        {
            held.step.entry = Some(entry.to_owned());
            self.steps.insert(last, held);
        }
    }

    /// Changes the step that waits for this; returns whether there is one.
    pub(super) fn change(
        &mut self,
        hold: StepHold,
        change: impl FnOnce(&mut StoryStep<N>),
    ) -> bool {
        let Some(held) = self.steps.iter_mut().rev().find(|held| held.hold == hold) else {
            return false;
        };
        let before = held.step.bytes();
        change(&mut held.step);
        let after = held.step.bytes();
        self.bytes = self.bytes.saturating_sub(before).saturating_add(after);
        true
    }

    /// Marks the step that waited for this as complete.
    pub(super) fn settle(&mut self, hold: StepHold) {
        if let Some(held) = self.steps.iter_mut().rev().find(|held| held.hold == hold) {
            held.hold = StepHold::Nothing;
        }
    }

    /// Shows the steps that are complete, and those beyond the limits.
    pub(super) fn release(&mut self, show: &mut dyn FnMut(StoryStep<N>)) {
        loop {
            let is_full = self.steps.len() > MOST_STEPS || self.bytes > MOST_BYTES;
            let is_whole = self.steps.front().is_some_and(|held| held.hold == StepHold::Nothing);
            if !is_whole && !is_full {
                return;
            }
            let Some(held) = self.steps.pop_front() else { return };
            self.bytes = self.bytes.saturating_sub(held.step.bytes());
            show(held.step);
        }
    }

    pub(super) fn release_all(&mut self, show: &mut dyn FnMut(StoryStep<N>)) {
        self.steps.drain(..).for_each(|held| show(held.step));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(about: &str) -> StoryStep {
        StoryStep::new(1, None, What::Changed { about: about.to_owned() })
    }

    fn released(queue: &mut StepQueue<()>) -> usize {
        let mut count = 0;
        queue.release(&mut |_| count += 1);
        count
    }

    #[test]
    fn a_step_holds_back_those_after_it() {
        let mut queue = StepQueue::default();
        queue.push(step("a"), StepHold::Nothing);
        queue.push(step("b"), StepHold::Call(1));
        queue.push(step("c"), StepHold::Nothing);
        assert_eq!(released(&mut queue), 1);
        assert!(queue.change(StepHold::Call(1), |_| {}));
        queue.settle(StepHold::Call(1));
        assert_eq!(released(&mut queue), 2);
        assert!(!queue.change(StepHold::Call(1), |_| {}), "it was shown");
    }

    #[test]
    fn calls_come_after_the_text_of_their_entry() {
        let mut queue = StepQueue::default();
        queue.push(step("call 1"), StepHold::Call(1));
        queue.push(step("call 2"), StepHold::Call(2));
        queue.push(StoryStep { entry: Some("e".to_owned()), ..step("text") }, StepHold::Nothing);
        for number in [1, 2] {
            queue.move_after_entry(StepHold::Call(number), "e");
            queue.move_after_entry(StepHold::Call(number), "another");
        }
        let mut order = Vec::new();
        queue.release_all(&mut |step| match step.what {
            What::Changed { about } => order.push(about),
            other => panic!("{other:?}"),
        });
        assert_eq!(order, ["text", "call 1", "call 2"]);
    }

    #[test]
    fn nothing_waits_for_ever() {
        let mut queue = StepQueue::default();
        queue.push(step("no result"), StepHold::Call(1));
        for number in 0..MOST_STEPS {
            queue.push(step(&number.to_string()), StepHold::Nothing);
        }
        assert_eq!(released(&mut queue), MOST_STEPS + 1);
        queue.push(step(&"x".repeat(10)), StepHold::Call(2));
        queue.bytes = MOST_BYTES + 300;
        assert_eq!(released(&mut queue), 1);
    }
}
