//! The lines of a file from its end to its start.

use std::ops::ControlFlow;

use super::Line;

/// Splits blocks of bytes into lines, from the end of a file to its start.
#[derive(Debug)]
pub struct LinesFromEnd {
    limit: usize,
    /// The end of a line whose start has not been read yet, in pieces; the last
    /// piece in the file is first.
    held: Vec<Vec<u8>>,
    /// Bytes of that line; if more than the limit, it is not held.
    bytes: u64,
    /// Whether that line has a newline.
    has_end: bool,
}

impl LinesFromEnd {
    /// Passes on lines of up to `limit` bytes.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { limit, held: Vec::new(), bytes: 0, has_end: false }
    }

    /// Takes the block before the last one and passes every line that starts
    /// after a newline in it to `show`, the last line first. If `show` breaks,
    /// the rest of the block is dropped.
    pub fn push<B>(
        &mut self,
        block: &[u8],
        mut show: impl FnMut(Line<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut to = block.len();
        for end in memchr::memrchr_iter(b'\n', block) {
            let piece = block.get(end + 1..to).unwrap_or_default();
            to = end;
            self.line(piece, &mut show)?;
            self.has_end = true;
        }
        self.hold(block.get(..to).unwrap_or_default());
        ControlFlow::Continue(())
    }

    /// Passes on the first line of the file, then holds nothing.
    pub fn finish<B>(
        &mut self,
        mut show: impl FnMut(Line<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let shown = self.line(&[], &mut show);
        *self = Self::new(self.limit);
        shown
    }

    /// Passes on the line that begins with this piece.
    fn line<B>(
        &mut self,
        piece: &[u8],
        show: &mut impl FnMut(Line<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let has_end = self.has_end;
        let mut whole = |line: &[u8]| match has_end {
            true => show(Line::Whole(line)),
            false if line.is_empty() => ControlFlow::Continue(()),
            false => show(Line::Cut(line)),
        };
        // Most lines lie inside one block.
        if self.bytes == 0 && piece.len() <= self.limit {
            return whole(piece);
        }
        self.hold(piece);
        let (mut held, bytes) = (std::mem::take(&mut self.held), std::mem::take(&mut self.bytes));
        if self.is_too_long(bytes) {
            return show(Line::TooLong { bytes, is_cut: !has_end });
        }
        held.reverse();
        whole(&held.concat())
    }

    fn hold(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        if self.is_too_long(self.bytes) {
            self.held = Vec::new();
        } else if !piece.is_empty() {
            self.held.push(piece.to_vec());
        }
    }

    fn is_too_long(&self, bytes: u64) -> bool {
        usize::try_from(bytes).map_or(true, |bytes| bytes > self.limit)
    }
}
