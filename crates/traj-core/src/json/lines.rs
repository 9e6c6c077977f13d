//! Splits bytes into lines, with bounded memory.
//!
//! [`Lines`] takes blocks from the start of a file or a pipe to its end,
//! [`LinesFromEnd`] takes them from the end to the start. Both pass on a line
//! that lies inside one block without copying it, copy only lines that span
//! blocks, and never hold more of a line than their limit, which
//! [`Reading`](crate::limits::Reading) defines.

mod from_end;

use std::ops::ControlFlow;

pub use from_end::LinesFromEnd;

/// Larger buffers are freed after the line that needed them.
const KEPT_BYTES: usize = 1024 * 1024;

/// A line of a file, without its newline. A carriage return is part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a reader has to distinguish these")]
pub enum Line<'l> {
    /// A line with a newline.
    Whole(&'l [u8]),
    /// A line that is longer than the limit and was skipped.
    TooLong {
        /// Its length in bytes.
        bytes: u64,
        /// Whether it is the last line and has no newline.
        is_cut: bool,
    },
    /// The last line, without a newline. It is never empty.
    Cut(&'l [u8]),
}

impl Line<'_> {
    /// The number of bytes that it takes in the file, newline included.
    #[must_use]
    pub const fn span(&self) -> u64 {
        match self {
            Self::Whole(line) => line.len() as u64 + 1,
            Self::TooLong { bytes, is_cut } => *bytes + !*is_cut as u64,
            Self::Cut(line) => line.len() as u64,
        }
    }
}

/// Splits blocks of bytes into lines, in the order of the file.
#[derive(Debug)]
pub struct Lines {
    limit: usize,
    /// The start of a line whose end has not been read yet.
    held: Vec<u8>,
    /// The number of bytes skipped of that line, if it is too long to hold.
    passed: u64,
}

impl Lines {
    /// Passes on lines of up to `limit` bytes.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { limit, held: Vec::new(), passed: 0 }
    }

    /// Takes the next block and passes every line that ends in it to `show`. If
    /// `show` breaks, the rest of the block is dropped.
    pub fn push<B>(
        &mut self,
        block: &[u8],
        mut show: impl FnMut(Line<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut from = 0;
        for end in memchr::memchr_iter(b'\n', block) {
            let piece = block.get(from..end).unwrap_or_default();
            from = end + 1;
            self.line(piece, &mut show)?;
        }
        self.hold(block.get(from..).unwrap_or_default());
        ControlFlow::Continue(())
    }

    /// Passes on the last line if it has no newline, then holds nothing.
    pub fn finish<B>(&mut self, show: impl FnOnce(Line<'_>) -> ControlFlow<B>) -> ControlFlow<B> {
        let (held, bytes) = (std::mem::take(&mut self.held), std::mem::take(&mut self.passed));
        if bytes > 0 {
            show(Line::TooLong { bytes, is_cut: true })
        } else if held.is_empty() {
            ControlFlow::Continue(())
        } else {
            show(Line::Cut(&held))
        }
    }

    /// Drops the start of a line whose end has not been read yet.
    pub fn clear(&mut self) {
        self.held = Vec::new();
        self.passed = 0;
    }

    /// The number of bytes held in memory.
    #[must_use]
    pub const fn held_bytes(&self) -> usize {
        self.held.capacity()
    }

    /// Passes on the line that ends with this piece.
    fn line<B>(
        &mut self,
        piece: &[u8],
        show: &mut impl FnMut(Line<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        // Most lines lie inside one block.
        if self.held.is_empty() && self.passed == 0 && piece.len() <= self.limit {
            return show(Line::Whole(piece));
        }
        self.hold(piece);
        let bytes = std::mem::take(&mut self.passed);
        if bytes > 0 {
            return show(Line::TooLong { bytes, is_cut: false });
        }
        let shown = show(Line::Whole(&self.held));
        self.held.clear();
        self.held.shrink_to(KEPT_BYTES);
        shown
    }

    fn hold(&mut self, piece: &[u8]) {
        let length = self.held.len() + piece.len();
        if self.passed > 0 || length > self.limit {
            self.passed += length as u64;
            self.held = Vec::new();
        } else {
            self.held.extend_from_slice(piece);
        }
    }
}

#[cfg(test)]
mod tests;
