//! Which events were shown, so that a replaced file repeats none.

use std::collections::{HashMap, VecDeque};

/// This many of the newest events are remembered.
const REMEMBERED: usize = 262_144;

/// The newest events, by identity and number of occurrences.
#[derive(Debug, Default)]
pub(super) struct SeenEvents {
    order: VecDeque<u64>,
    counts: HashMap<u64, u32>,
    /// Whether older events exist that are not remembered.
    is_partial: bool,
    /// While a file is read again: the events still expected from the first
    /// reading.
    again: Option<SecondReading>,
}

#[derive(Debug)]
struct SecondReading {
    expected: HashMap<u64, u32>,
    met: bool,
}

impl SeenEvents {
    /// Notes that there are older events than those remembered.
    pub(super) const fn start_in_the_middle(&mut self) {
        self.is_partial = true;
    }

    /// Starts a second reading: expects every remembered event.
    pub(super) fn read_again(&mut self) {
        self.again = Some(SecondReading { expected: self.counts.clone(), met: false });
    }

    /// Ends a second reading. `true` if none of the remembered events were in the
    /// file and older ones are unknown: all of it is new, and it must be read
    /// once more.
    pub(super) fn reached_end(&mut self) -> bool {
        let was_foreign = self.again.as_ref().is_some_and(|again| !again.met && self.is_partial);
        self.again = None;
        if was_foreign {
            *self = Self::default();
        }
        was_foreign
    }

    /// Whether an event is new; remembers it.
    pub(super) fn take(&mut self, identity: u64) -> bool {
        if let Some(again) = &mut self.again {
            if let Some(left) = again.expected.get_mut(&identity).filter(|left| **left > 0) {
                *left -= 1;
                again.met = true;
                return false;
            }
            if self.is_partial && !again.met {
                // Before the first remembered event: already shown, or older than
                // the start.
                return false;
            }
        }
        self.remember(identity);
        true
    }

    pub(super) fn remember(&mut self, identity: u64) {
        self.order.push_back(identity);
        *self.counts.entry(identity).or_default() += 1;
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.is_partial = true;
            if let Some(count) = self.counts.get_mut(&oldest) {
                *count -= 1;
                if *count == 0 {
                    self.counts.remove(&oldest);
                }
            }
        }
    }
}
