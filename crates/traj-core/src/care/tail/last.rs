//! The newest events of a file, found from its end.

use std::ops::ControlFlow;

use super::TailEvent;
use super::filter::{EventFilter, KeepNothing};
use super::timings::OpenEnds;
use crate::json::lines::{Line, LinesFromEnd};
use crate::limits::Reading;
use crate::run::Origin;

/// This many of the newest events are recognised later even if a filter skipped
/// them.
const KNOWN: usize = 4_096;

/// Reads a file backwards, block by block, until there are enough events. It
/// reads on until the starts of the spans they end are known.
#[derive(Debug)]
pub struct LastEvents {
    origin: Origin,
    wanted: usize,
    /// Whether events are counted instead of kept.
    is_counting: bool,
    count: usize,
    /// Bytes from the first line taken to the end of the file.
    taken: u64,
    /// Bytes from the first counted event's line to the end of the file.
    reach: u64,
    /// Holds the end of a line that starts further up.
    lines: LinesFromEnd,
    /// Newest first.
    events: Vec<TailEvent>,
    /// Spans that end in these events and began further up.
    open: OpenEnds,
    /// Identities of the newest events, shown or not; newest first.
    identities: Vec<u64>,
    /// Whether the last line of the file was seen.
    has_last: bool,
    /// Length of the last line if it may still be incomplete.
    unfinished: u64,
}

impl LastEvents {
    /// Looks for the newest `wanted` events.
    #[must_use]
    pub fn new(origin: Origin, wanted: usize) -> Self {
        Self {
            origin,
            wanted,
            is_counting: false,
            count: 0,
            taken: 0,
            reach: 0,
            lines: new_lines(),
            events: Vec::new(),
            open: OpenEnds::default(),
            identities: Vec::new(),
            has_last: false,
            unfinished: 0,
        }
    }

    /// Only finds where the newest `wanted` events begin, without holding them.
    #[must_use]
    pub fn counting(origin: Origin, wanted: usize) -> Self {
        Self { is_counting: true, ..Self::new(origin, wanted) }
    }

    /// Takes the block before the previous one; `false` when no more is needed.
    /// Only events that `filter` wants count.
    pub fn block(&mut self, block: &[u8], filter: &dyn EventFilter) -> bool {
        let mut lines = std::mem::replace(&mut self.lines, new_lines());
        let taken = lines.push(block, |line| self.line(line, filter));
        self.lines = lines;
        taken.is_continue()
    }

    /// Call at the beginning of the file; returns the events, oldest first.
    pub fn finish(&mut self, filter: &dyn EventFilter) -> Vec<TailEvent> {
        // Always find out whether the last line is complete.
        if !self.is_done(self.taken) || !self.has_last {
            let mut lines = std::mem::replace(&mut self.lines, new_lines());
            let _done = lines.finish(|line| self.line(line, filter));
        }
        let mut events = std::mem::take(&mut self.events);
        events.truncate(self.wanted);
        events.reverse();
        events
    }

    /// Bytes at the end of the file that are not a complete event yet.
    #[must_use]
    pub const fn unfinished(&self) -> u64 {
        self.unfinished
    }

    /// How many events count, and how many bytes before the end of the file the
    /// first of them begins.
    #[must_use]
    pub const fn counted(&self) -> (usize, u64) {
        (self.count, self.reach)
    }

    pub(super) const fn origin(&self) -> Origin {
        self.origin
    }

    /// The identities of the events that were read, oldest first.
    pub(super) fn identities(&self) -> impl Iterator<Item = u64> {
        self.identities.iter().rev().copied()
    }

    /// Whether nothing further than `reach` bytes from the end matters.
    fn is_done(&self, reach: u64) -> bool {
        self.count >= self.wanted && !self.open.is_waiting(reach)
    }

    /// Takes the line before the previous one; breaks when no more is needed.
    fn line(&mut self, line: Line<'_>, filter: &dyn EventFilter) -> ControlFlow<()> {
        self.taken += line.span();
        self.has_last = true;
        let filter = if self.count < self.wanted { filter } else { &KeepNothing };
        let event = match line {
            Line::Whole(bytes) | Line::Cut(bytes) => TailEvent::parse(bytes, self.origin, filter),
            Line::TooLong { bytes, .. } => {
                Some(TailEvent::of_long_line(self.origin, bytes, filter))
            }
        };
        match (event, line) {
            (Some(event), _) => self.meet(event),
            (None, Line::Cut(bytes)) => self.unfinished = bytes.len() as u64,
            (None, _) => {}
        }
        if self.is_done(self.taken) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Takes the event of the current line.
    fn meet(&mut self, mut event: TailEvent) {
        let reach = self.taken;
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

const fn new_lines() -> LinesFromEnd {
    LinesFromEnd::new(Reading::standard().tail_line_bytes)
}
