//! Steps in order. An incomplete step holds back those after it, within limits.

use std::collections::{BTreeSet, VecDeque};

use traj_core::run::Outcome;

use super::step::{StoryStep, What};

/// At most this many steps wait until the step before them is complete. A call that
/// starts a sub-agent is answered after all steps of the sub-agent.
const MOST_STEPS: usize = 16_384;

/// At most this many bytes wait with them.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// At most this many calls are remembered that were shown without their results.
const MOST_SHOWN: usize = 65_536;

/// What a step waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepHold {
    /// The results of the call with this number.
    Call(u64),
    /// The decision on the approval with this number.
    Approval(u64),
    Nothing,
}

/// Steps that are not shown yet.
#[derive(Debug)]
pub(super) struct StepQueue<N> {
    steps: VecDeque<StoryStep<N>>,
    /// What each of them waits for: apart from them, because it is searched often.
    holds: VecDeque<StepHold>,
    bytes: usize,
    /// How many bytes a note has.
    weigh: fn(&N) -> usize,
    /// Calls that were shown without a result.
    shown: BTreeSet<u64>,
}

impl<N> StepQueue<N> {
    pub(super) const fn new(weigh: fn(&N) -> usize) -> Self {
        Self {
            steps: VecDeque::new(),
            holds: VecDeque::new(),
            bytes: 0,
            weigh,
            shown: BTreeSet::new(),
        }
    }

    pub(super) fn push(&mut self, step: StoryStep<N>, hold: StepHold) {
        self.insert(self.steps.len(), step, hold);
    }

    fn insert(&mut self, place: usize, step: StoryStep<N>, hold: StepHold) {
        self.bytes = self.bytes.saturating_add(self.size(&step));
        self.steps.insert(place, step);
        self.holds.insert(place, hold);
    }

    fn size(&self, step: &StoryStep<N>) -> usize {
        step.bytes().saturating_add((self.weigh)(&step.note))
    }

    /// Where the step is that waits for this.
    fn place_of(&self, hold: StepHold) -> Option<usize> {
        self.holds.iter().rposition(|held| *held == hold)
    }

    /// Adds a step before the call with this id if that call still waits for its
    /// result; else at the end.
    pub(super) fn push_before_call(
        &mut self,
        id: Option<&str>,
        step: StoryStep<N>,
        hold: StepHold,
    ) {
        let is_it = |(step, hold): (&StoryStep<N>, &StepHold)| match (&step.what, hold) {
            (What::Call(call), StepHold::Call(_)) => id.is_some() && call.id.as_deref() == id,
            _ => false,
        };
        let place = self.steps.iter().zip(&self.holds).rposition(is_it);
        self.insert(place.unwrap_or(self.steps.len()), step, hold);
    }

    /// Moves the step that waits for this after the last step of an entry: in the
    /// transcript it comes after them, whichever was written first.
    pub(super) fn move_after_entry(&mut self, hold: StepHold, entry: &str) {
        let Some(place) = self.place_of(hold) else { return };
        let is_of_entry = |step: &StoryStep<N>| step.entry.as_deref() == Some(entry);
        let Some(last) = self.steps.range(place..).rposition(is_of_entry) else { return };
        if last > 0
            && let Some(mut step) = self.steps.remove(place)
        {
            step.entry = Some(entry.to_owned());
            self.holds.remove(place);
            self.steps.insert(place + last, step);
            self.holds.insert(place + last, hold);
        }
    }

    /// Changes the step that waits for this; returns whether there is one.
    pub(super) fn change(
        &mut self,
        hold: StepHold,
        change: impl FnOnce(&mut StoryStep<N>),
    ) -> bool {
        let Some(place) = self.place_of(hold) else { return false };
        let Some(step) = self.steps.get_mut(place) else { return false };
        let before = step.bytes().saturating_add((self.weigh)(&step.note));
        change(step);
        let after = step.bytes().saturating_add((self.weigh)(&step.note));
        self.bytes = self.bytes.saturating_sub(before).saturating_add(after);
        true
    }

    /// Marks the step that waited for this as complete.
    pub(super) fn settle(&mut self, hold: StepHold) {
        let place = self.place_of(hold);
        if let Some(held) = place.and_then(|place| self.holds.get_mut(place)) {
            *held = StepHold::Nothing;
        }
    }

    /// Whether this call was shown without a result. It is forgotten then.
    pub(super) fn take_shown(&mut self, call: u64) -> bool {
        self.shown.remove(&call)
    }

    /// Shows the steps that are complete, and those beyond the limits.
    pub(super) fn release(&mut self, show: &mut dyn FnMut(StoryStep<N>)) {
        loop {
            let is_full = self.steps.len() > MOST_STEPS || self.bytes > MOST_BYTES;
            let is_whole = self.holds.front() == Some(&StepHold::Nothing);
            if !is_whole && !is_full {
                return;
            }
            let (Some(step), Some(hold)) = (self.steps.pop_front(), self.holds.pop_front()) else {
                return;
            };
            self.bytes = self.bytes.saturating_sub(self.size(&step));
            if let (StepHold::Call(number), What::Call(call)) = (hold, &step.what)
                && call.outcome == Outcome::Unanswered.name()
            {
                self.shown.insert(number);
                if self.shown.len() > MOST_SHOWN {
                    self.shown.pop_first();
                }
            }
            show(step);
        }
    }

    pub(super) fn release_all(&mut self, show: &mut dyn FnMut(StoryStep<N>)) {
        self.holds.clear();
        self.steps.drain(..).for_each(show);
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
        let mut queue = StepQueue::new(|()| 0);
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
        let mut queue = StepQueue::new(|()| 0);
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
        let mut queue = StepQueue::new(|()| 0);
        queue.push(step("no result"), StepHold::Call(1));
        for number in 0..MOST_STEPS {
            queue.push(step(&number.to_string()), StepHold::Nothing);
        }
        assert_eq!(released(&mut queue), MOST_STEPS + 1);
        queue.push(step(&"x".repeat(10)), StepHold::Call(2));
        queue.bytes = MOST_BYTES + 300;
        assert_eq!(released(&mut queue), 1);
        let mut heavy = StepQueue::new(|()| MOST_BYTES);
        heavy.push(step("a long note"), StepHold::Call(1));
        assert_eq!(released(&mut heavy), 1);
    }
}
