//! Follows a file that grows, is truncated, rewritten or replaced.

use std::ops::ControlFlow;

use super::filter::EventFilter;
use super::seen::SeenEvents;
use super::timings::{FARTHEST_START, Timings};
use super::{LastEvents, TailEvent};
use crate::json::lines::{Line, Lines};
use crate::limits::Reading;
use crate::run::Origin;

/// This many bytes before the read position are compared on every check.
///
/// This detects a file that was rewritten in place, at the same length or longer.
/// Modification times are not used: two writes within one tick of the kernel's
/// clock have the same time, and merely touching a file changes it.
pub(super) const RECENT: usize = 64 * 1024;

/// The current state of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two plain facts about a file")]
pub struct FileState {
    /// Identifies the file.
    pub key: (u64, u64),
    /// Its length.
    pub length: u64,
}

/// A part of the file to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a range of a file")]
pub struct ReadRange {
    /// First byte.
    pub from: u64,
    /// One past the last byte.
    pub to: u64,
}

/// How far a file was read, and which of its events were shown.
#[derive(Debug)]
pub struct Follow {
    origin: Origin,
    key: Option<(u64, u64)>,
    offset: u64,
    /// The bytes before `offset`.
    recent: Vec<u8>,
    /// Holds the beginning of an incomplete line.
    pub(super) lines: Lines,
    /// The offset at which that line begins.
    begin: u64,
    seen: SeenEvents,
    timings: Timings,
    /// Whether spans that began before the first byte read are still unknown.
    is_untimed: bool,
    is_again: bool,
}

impl Follow {
    /// Follows a file from its beginning.
    #[must_use]
    pub fn new(origin: Origin) -> Self {
        Self {
            origin,
            key: None,
            offset: 0,
            recent: Vec::new(),
            lines: new_lines(),
            begin: 0,
            seen: SeenEvents::default(),
            timings: Timings::default(),
            is_untimed: false,
            is_again: false,
        }
    }

    /// Follows a file from `offset`, after its last events were read. `before` is
    /// the content before the offset, [`Self::comparable`] bytes long.
    #[must_use]
    pub fn from_middle(key: (u64, u64), offset: u64, before: &[u8], last: &LastEvents) -> Self {
        let mut follow = Self::new(last.origin());
        follow.key = Some(key);
        follow.offset = offset;
        follow.begin = offset;
        follow.is_untimed = true;
        follow.keep_recent(before);
        follow.seen.start_in_the_middle();
        for identity in last.identities() {
            follow.seen.remember(identity);
        }
        follow
    }

    /// The part of the file that another follower must read before this one
    /// continues, so that spans that began there are known; see
    /// [`Self::time_from`].
    #[must_use]
    pub fn to_time(&self) -> Option<ReadRange> {
        let range = ReadRange { from: self.offset.saturating_sub(FARTHEST_START), to: self.offset };
        (self.is_untimed && range.from < range.to).then_some(range)
    }

    /// Takes over the spans that began in the part that `earlier` read.
    pub fn time_from(&mut self, earlier: Self) {
        self.timings = earlier.timings;
        self.is_untimed = false;
    }

    /// How many bytes before an offset are compared later.
    #[must_use]
    pub fn comparable(offset: u64) -> usize {
        usize::try_from(offset).unwrap_or(RECENT).min(RECENT)
    }

    /// What to read, given the file's current state; `None` if there is nothing
    /// to read. A different or shorter file is read from its beginning; read the
    /// rest of the old file before calling this.
    pub fn look(
        &mut self,
        now: FileState,
        filter: &dyn EventFilter,
        show: &mut dyn FnMut(TailEvent),
    ) -> Option<ReadRange> {
        if self.key != Some(now.key) {
            if self.key.is_some() {
                self.start_again(filter, show);
            }
            self.key = Some(now.key);
        }
        if now.length < self.offset {
            self.start_again(filter, show);
        }
        let grown = ReadRange { to: now.length, ..self.to_compare() };
        (now.length > self.offset).then_some(grown)
    }

    /// What to read although the file did not grow: it may have been rewritten at
    /// its old length.
    #[must_use]
    pub fn to_compare(&self) -> ReadRange {
        ReadRange { from: self.offset - self.recent.len() as u64, to: self.offset }
    }

    /// Takes the bytes at `from`; `false` if the file was rewritten meanwhile and
    /// must be checked again.
    pub fn feed(
        &mut self,
        from: u64,
        bytes: &[u8],
        filter: &dyn EventFilter,
        show: &mut dyn FnMut(TailEvent),
    ) -> bool {
        let overlap = usize::try_from(self.offset.saturating_sub(from)).unwrap_or(usize::MAX);
        let known = self.recent.len().saturating_sub(overlap);
        let expected = self.recent.get(known..).unwrap_or_default();
        if from > self.offset || bytes.len() < overlap || !bytes.starts_with(expected) {
            self.start_again(filter, show);
            return false;
        }
        let fresh = bytes.get(overlap..).unwrap_or_default();
        self.offset += fresh.len() as u64;
        self.keep_recent(fresh);
        self.take_lines(fresh, filter, show);
        true
    }

    fn keep_recent(&mut self, fresh: &[u8]) {
        let fresh = &fresh[fresh.len().saturating_sub(RECENT)..];
        let excess = (self.recent.len() + fresh.len()).saturating_sub(RECENT);
        self.recent.drain(..excess);
        self.recent.extend_from_slice(fresh);
    }

    /// To be called when everything was read. `true` if the file must be read
    /// once more, because all of it is new.
    pub fn reached_end(&mut self) -> bool {
        if !self.is_again {
            return false;
        }
        self.is_again = false;
        let foreign = self.seen.reached_end();
        if foreign {
            self.rewind();
        }
        foreign
    }

    fn start_again(&mut self, filter: &dyn EventFilter, show: &mut dyn FnMut(TailEvent)) {
        // The last line of the old file may only lack its line end.
        let mut lines = std::mem::replace(&mut self.lines, new_lines());
        let _continue = lines.finish(|line| {
            if let Line::Cut(line) = line {
                self.event(line, self.begin, filter, show);
            }
            ControlFlow::<()>::Continue(())
        });
        self.rewind();
        self.seen.read_again();
        self.is_again = true;
    }

    fn rewind(&mut self) {
        self.offset = 0;
        self.recent.clear();
        self.lines.clear();
        self.begin = 0;
        self.timings.begin_anew();
        self.is_untimed = false;
    }

    fn take_lines(
        &mut self,
        bytes: &[u8],
        filter: &dyn EventFilter,
        show: &mut dyn FnMut(TailEvent),
    ) {
        let mut lines = std::mem::replace(&mut self.lines, new_lines());
        let _continue = lines.push(bytes, |line| {
            match line {
                Line::Whole(bytes) | Line::Cut(bytes) => {
                    self.event(bytes, self.begin, filter, show);
                }
                Line::TooLong { bytes, .. } => {
                    let event = TailEvent::of_long_line(self.origin, bytes, filter);
                    if self.seen.take(event.identity) {
                        show(event);
                    }
                }
            }
            self.begin += line.span();
            ControlFlow::<()>::Continue(())
        });
        self.lines = lines;
    }

    fn event(
        &mut self,
        line: &[u8],
        begin: u64,
        filter: &dyn EventFilter,
        show: &mut dyn FnMut(TailEvent),
    ) {
        let Some(mut event) = TailEvent::parse(line, self.origin, filter) else { return };
        self.timings.annotate(&mut event, begin);
        if self.seen.take(event.identity) {
            show(event);
        }
    }
}

const fn new_lines() -> Lines {
    Lines::new(Reading::standard().tail_line_bytes)
}
