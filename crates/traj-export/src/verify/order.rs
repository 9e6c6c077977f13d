//! Checks the order of lines that arrive out of order.

use std::collections::BTreeMap;

use traj_core::timestamp::UnixMillis;

/// How many misplaced lines are reported.
const MOST_PROBLEMS: usize = 1_000;

/// How many lines may wait for an earlier one. In a sound file, only lines that
/// are processed together wait. If a line never arrives, later lines are not
/// checked.
const MOST_WAITING: usize = 1 << 20;

/// The sort key of an event: its instant, then runtime before transcript.
pub(super) type OrderKey = (UnixMillis, bool);

/// Takes keys by line and compares neighbours.
#[derive(Debug, Default)]
pub(super) struct OrderCheck {
    /// How many lines were compared.
    done: u64,
    last: Option<OrderKey>,
    /// Lines after one that has not arrived yet; `None` for a line without a
    /// key.
    waiting: BTreeMap<u64, Option<OrderKey>>,
    /// Lines that are earlier than the line before them.
    pub(super) misplaced: Vec<u64>,
}

impl OrderCheck {
    /// Takes the key of a line.
    pub(super) fn take(&mut self, line: u64, key: OrderKey) {
        self.add(line, Some(key));
    }

    /// Takes a line that has no key.
    pub(super) fn pass(&mut self, line: u64) {
        self.add(line, None);
    }

    fn add(&mut self, line: u64, key: Option<OrderKey>) {
        if self.waiting.len() < MOST_WAITING {
            self.waiting.insert(line, key);
        }
        while let Some(key) = self.waiting.remove(&(self.done + 1)) {
            self.done += 1;
            let Some(key) = key else { continue };
            let is_misplaced = self.last.is_some_and(|last| key < last);
            if is_misplaced && self.misplaced.len() < MOST_PROBLEMS {
                self.misplaced.push(self.done);
            }
            self.last = Some(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_compared_in_order_however_they_arrive() {
        let key = |second: i64| (UnixMillis::new(second * 1_000).unwrap(), false);
        let mut order = OrderCheck::default();
        for line in [3, 1, 5, 2] {
            // The third line is earlier than the second one.
            order.take(line, key(if line == 3 { 0 } else { line.cast_signed() }));
        }
        order.pass(4);
        order.take(6, (key(5).0, true));
        order.take(7, key(5));
        assert_eq!(order.misplaced, [3, 7]);
    }
}
