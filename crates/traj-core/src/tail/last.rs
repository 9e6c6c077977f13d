//! The newest events of a file, found from its end.

use super::screen::{Screen, WantsNothing};
use super::timings::OpenEnds;
use super::{LONGEST_LINE, Origin, TailEvent};

/// So many of the newest events are known again later although a filter passed
/// over them.
const KNOWN: usize = 4_096;

/// Reads a file backwards, block by block, until there are enough events, and
/// further until it is known when what they end began.
#[derive(Debug)]
pub struct LastEvents {
    origin: Origin,
    wanted: usize,
    /// Events are counted, not held.
    is_counting: bool,
    count: usize,
    /// Bytes of the blocks that were taken.
    taken: u64,
    /// Bytes from the first line of an event that counts to the end.
    reach: u64,
    /// The beginning of what was read last, whose line starts further up.
    carry: Vec<u8>,
    /// That line is too long to be kept; this many bytes of it were dropped.
    dropped: u64,
    /// Newest first.
    events: Vec<TailEvent>,
    /// What ended in these and began further up.
    open: OpenEnds,
    /// What the newest events, shown or not, are known by; newest first.
    identities: Vec<u64>,
    /// The first block may end inside a line that is still being written.
    is_first: bool,
    unfinished: u64,
}

impl LastEvents {
    /// Wants the newest `wanted` events.
    #[must_use]
    pub fn new(origin: Origin, wanted: usize) -> Self {
        Self {
            origin,
            wanted,
            is_counting: false,
            count: 0,
            taken: 0,
            reach: 0,
            carry: Vec::new(),
            dropped: 0,
            events: Vec::new(),
            open: OpenEnds::default(),
            identities: Vec::new(),
            is_first: true,
            unfinished: 0,
        }
    }

    /// Wants to know where the newest `wanted` events begin, however many that
    /// are.
    #[must_use]
    pub fn counting(origin: Origin, wanted: usize) -> Self {
        Self { is_counting: true, ..Self::new(origin, wanted) }
    }

    /// Takes the block before the one taken last; `false` when no more is
    /// needed. The events that `screen` wants count.
    pub fn block(&mut self, block: &[u8], screen: &dyn Screen) -> bool {
        let mut rest = block;
        while let Some(end) = memchr::memrchr(b'\n', rest) {
            let tail = &rest[end + 1..];
            rest = &rest[..end];
            let reach = self.taken + (block.len() - end - 1) as u64;
            self.line_start(tail, reach, screen);
            if self.is_done(reach) {
                return false;
            }
        }
        self.taken += block.len() as u64;
        self.grow(rest);
        true
    }

    /// Ends at the beginning of the file; returns the events, oldest first.
    pub fn finish(&mut self, screen: &dyn Screen) -> Vec<TailEvent> {
        // Whether the last line is complete is to be known in any case.
        if !self.is_done(self.taken) || self.is_first {
            self.line_start(&[], self.taken, screen);
        }
        let mut events = std::mem::take(&mut self.events);
        events.truncate(self.wanted);
        events.reverse();
        events
    }

    /// Bytes at the end of the file that are no complete event yet.
    #[must_use]
    pub const fn unfinished(&self) -> u64 {
        self.unfinished
    }

    /// How many events count, and how many bytes before the end the first of
    /// them begins.
    #[must_use]
    pub const fn counted(&self) -> (usize, u64) {
        (self.count, self.reach)
    }

    pub(super) const fn origin(&self) -> Origin {
        self.origin
    }

    /// What the events that were read are known by, oldest first.
    pub(super) fn identities(&self) -> impl Iterator<Item = u64> {
        self.identities.iter().rev().copied()
    }

    /// Whether nothing further than `reach` from the end is of interest.
    fn is_done(&self, reach: u64) -> bool {
        self.count >= self.wanted && !self.open.is_waiting(reach)
    }

    fn grow(&mut self, front: &[u8]) {
        if self.dropped > 0 || self.carry.len() + front.len() > LONGEST_LINE {
            self.dropped += (front.len() + self.carry.len()) as u64;
            self.carry.clear();
        } else {
            self.carry.splice(0..0, front.iter().copied());
        }
    }

    /// A line begins with `front`; the rest of it is carried.
    fn line_start(&mut self, front: &[u8], reach: u64, screen: &dyn Screen) {
        let carry;
        // Most lines lie inside one block and are read where they are.
        let line = if self.carry.is_empty() && self.dropped == 0 && front.len() <= LONGEST_LINE {
            front
        } else {
            self.grow(front);
            carry = std::mem::take(&mut self.carry);
            &carry
        };
        let is_last = std::mem::take(&mut self.is_first);
        let screen = if self.count < self.wanted { screen } else { &WantsNothing };
        let event = if self.dropped > 0 {
            let bytes = std::mem::take(&mut self.dropped);
            Some(TailEvent::of_long_line(self.origin, bytes, screen))
        } else {
            TailEvent::parse(line, self.origin, screen)
        };
        if is_last && event.is_none() {
            self.unfinished = line.len() as u64;
        }
        let Some(mut event) = event else { return };
        let is_kept = event.is_wanted;
        if !self.is_counting {
            self.open.meet(&mut event, reach, is_kept, &mut self.events);
        }
        if !self.is_counting && (is_kept || self.identities.len() < KNOWN) {
            self.identities.push(event.identity);
        }
        if is_kept {
            self.count += 1;
            self.reach = reach;
            if !self.is_counting {
                self.events.push(event);
            }
        }
    }
}
