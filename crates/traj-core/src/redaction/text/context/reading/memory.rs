//! What the readers of one string remember, so that no reader reads the same long
//! stretch again for every keyword in it.

use std::cell::Cell;
use std::ops::Range;

/// A longer value is remembered.
pub(in super::super) const LONG_VALUE: usize = 512;

/// Inside a long value, other values may be long too, until this many bytes per
/// byte of the string have been read. After that they end after [`LONG_VALUE`]
/// bytes. Only a string made to provoke it gets there.
const READ_PER_BYTE: usize = 32;
/// What may be read in addition, so that a short string is read in full.
const READ_AT_LEAST: usize = 256 * 1024;

/// What was read before.
#[derive(Debug, Default)]
pub(in super::super) struct ReadMemory {
    /// The last long value.
    long_value: Cell<(usize, usize)>,
    /// The length of all long values inside others.
    read_twice: Cell<usize>,
    /// A line, or the part of it that a search for its ends may read.
    line: Cell<(usize, usize)>,
    /// The start of the last line that is not a header row, and the delimiter.
    no_header: Cell<Option<(usize, u8)>>,
    /// From where the end of a key block was last searched, and where it is.
    block_end: Cell<Option<(usize, usize)>>,
}

impl ReadMemory {
    /// How many bytes a value at `start` may have, at most `most`.
    pub(in super::super) fn longest_value(&self, start: usize, most: usize) -> usize {
        let may_read = READ_AT_LEAST.saturating_add(start.saturating_mul(READ_PER_BYTE));
        let is_over = self.is_inside(start) && self.read_twice.get() > may_read;
        if is_over { LONG_VALUE } else { most }
    }

    /// Whether `start` is inside the last long value.
    fn is_inside(&self, start: usize) -> bool {
        let (first, last) = self.long_value.get();
        (first..last).contains(&start)
    }

    /// Remembers that a value was read, if it is long.
    pub(in super::super) fn note_value(&self, read: Range<usize>) {
        if read.len() <= LONG_VALUE {
            return;
        }
        if self.is_inside(read.start) {
            self.read_twice.set(self.read_twice.get().saturating_add(read.len()));
        }
        let (_, last) = self.long_value.get();
        if read.end > last {
            self.long_value.set((read.start, read.end));
        }
    }

    /// The line around `start..end`: from memory, or else from `search`.
    pub(in super::super) fn line_around(
        &self,
        start: usize,
        end: usize,
        search: impl FnOnce() -> (usize, usize),
    ) -> (usize, usize) {
        let (first, last) = self.line.get();
        if first <= start && end <= last {
            return (first, last);
        }
        let line = search();
        self.line.set(line);
        line
    }

    /// Whether the line at `line` is known not to be a header row.
    pub(in super::super) fn is_no_header(&self, line: usize, delimiter: u8) -> bool {
        self.no_header.get() == Some((line, delimiter))
    }

    /// Remembers that the line at `line` is not a header row.
    pub(in super::super) fn note_no_header(&self, line: usize, delimiter: u8) {
        self.no_header.set(Some((line, delimiter)));
    }

    /// Where the next key block after `start` ends, if it was found before.
    pub(in super::super) fn block_end_after(&self, start: usize) -> Option<usize> {
        let (from, end) = self.block_end.get()?;
        (from..=end).contains(&start).then_some(end)
    }

    /// Remembers the first end of a key block after `start`.
    pub(in super::super) fn note_block_end(&self, start: usize, end: usize) {
        self.block_end.set(Some((start, end)));
    }
}
