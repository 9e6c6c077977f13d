//! The threads of an agent: its conversation, its model calls, and as many for
//! its tools as calls overlap.

/// How many threads an agent has at most; calls that overlap more share the
/// last one.
const MOST_THREADS: u64 = 100;

/// At most this many results wait for the model call that reads them.
const MOST_RESULTS: usize = 64;

/// Something that took a while, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) thread: u64,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) category: &'static str,
}

/// The threads of an agent.
#[derive(Debug)]
pub(super) struct Lanes {
    first: u64,
    /// When each thread of tools is free.
    tools: Vec<i64>,
    /// When the agent last did something: a model call begins there.
    last: Option<i64>,
    model_free: i64,
    turn_free: i64,
    /// The calls whose results no model call has read yet.
    results: Vec<Slice>,
}

impl Lanes {
    /// The threads of the agent with this number, from 0.
    pub(super) fn new(number: u64) -> Self {
        let first = number * MOST_THREADS + 1;
        let (tools, results) = (Vec::new(), Vec::new());
        Self { first, tools, last: None, model_free: i64::MIN, turn_free: i64::MIN, results }
    }

    pub(super) const fn conversation(&self) -> u64 {
        self.first
    }

    pub(super) const fn model(&self) -> u64 {
        self.first + 1
    }

    pub(super) fn tool_count(&self) -> usize {
        self.tools.len()
    }

    /// Something happened at this time; the model did not work before.
    pub(super) fn idle_until(&mut self, at: i64) {
        self.last = self.last.max(Some(at));
    }

    /// A model call that ended at this time and took this many milliseconds, if
    /// that is known. Slices of a thread do not overlap.
    pub(super) fn model_slice(&mut self, end: i64, millis: Option<u64>) -> Slice {
        let known = millis.and_then(|millis| i64::try_from(millis).ok());
        let start = match known {
            Some(millis) => end.saturating_sub(millis.saturating_mul(1_000)),
            None => self.last.unwrap_or(end),
        };
        let start = start.max(self.model_free).min(end.max(self.model_free));
        let end = end.max(start);
        self.model_free = end;
        self.idle_until(end);
        Slice { thread: self.model(), start, end, category: "model" }
    }

    /// A call. Also returns whether its thread is new.
    pub(super) fn tool_slice(&mut self, start: i64, end: i64) -> (Slice, bool) {
        let end = end.max(start);
        let free = self.tools.iter().position(|free| *free <= start);
        let is_new = free.is_none() && (self.tools.len() as u64) < MOST_THREADS - 2;
        let index = match free {
            Some(index) => index,
            None if is_new => {
                self.tools.push(i64::MIN);
                self.tools.len() - 1
            }
            None => self.tools.len() - 1,
        };
        if let Some(free) = self.tools.get_mut(index) {
            *free = end.max(*free);
        }
        self.idle_until(end);
        let thread = self.first + 2 + index as u64;
        let slice = Slice { thread, start, end, category: "tool" };
        if self.results.len() < MOST_RESULTS {
            self.results.push(slice);
        }
        (slice, is_new)
    }

    /// The calls whose results the next model call reads.
    pub(super) fn take_results(&mut self) -> Vec<Slice> {
        std::mem::take(&mut self.results)
    }

    /// A turn that ended at this time.
    pub(super) fn turn_slice(&mut self, end: i64, millis: u64) -> Slice {
        let took = i64::try_from(millis).unwrap_or(i64::MAX).saturating_mul(1_000);
        let start = end.saturating_sub(took).max(self.turn_free);
        let end = end.max(start);
        self.turn_free = end;
        Slice { thread: self.conversation(), start, end, category: "turn" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_overlap_are_on_different_threads() {
        let mut lanes = Lanes::new(0);
        let threads: Vec<(u64, bool)> = [(0, 10), (5, 8), (10, 12), (9, 9)]
            .into_iter()
            .map(|(start, end)| {
                let (slice, is_new) = lanes.tool_slice(start, end);
                (slice.thread, is_new)
            })
            .collect();
        assert_eq!(threads, [(3, true), (4, true), (3, false), (4, false)]);
        assert_eq!((lanes.take_results().len(), lanes.take_results().len()), (4, 0));
    }

    #[test]
    fn a_model_call_begins_where_the_last_thing_ended() {
        let mut lanes = Lanes::new(1);
        lanes.idle_until(2_000);
        let first = lanes.model_slice(5_000, None);
        assert_eq!((first.thread, first.start, first.end), (102, 2_000, 5_000));
        let known = lanes.model_slice(9_000, Some(1));
        assert_eq!((known.start, known.end), (8_000, 9_000));
        let before = lanes.model_slice(1_000, None);
        assert!(before.start <= before.end && before.start >= known.end);
    }
}
