//! Lines of a file, one after the other, in bounded memory.

use std::ops::Range;

use crate::gather::GatherError;
use crate::limits::Reading;
use crate::port::Source;

/// Longer lines come in pieces.
const LONGEST: usize = Reading::standard().session_line_bytes;

/// A line, or a piece of one that is too long to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece<'b> {
    /// Without the line end.
    pub(crate) bytes: &'b [u8],
    /// Whether this is the whole line.
    pub(crate) is_whole: bool,
    /// Whether the line ends here.
    pub(crate) ends: bool,
}

/// Reads a file from its beginning.
#[derive(Debug)]
pub(crate) struct RowReader<'s> {
    source: &'s dyn Source,
    /// How much is read at once.
    block: usize,
    /// The offset of the next read.
    offset: u64,
    held: Vec<u8>,
    /// Where the next line begins in `held`, and up to where there is no line end.
    at: usize,
    searched: usize,
    is_in_long_line: bool,
}

impl<'s> RowReader<'s> {
    /// Reads this much at once.
    pub(crate) const fn new(source: &'s dyn Source, block: usize) -> Self {
        let (offset, at, searched, is_in_long_line) = (0, 0, 0, false);
        Self { source, block, offset, held: Vec::new(), at, searched, is_in_long_line }
    }

    /// The next line; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Piece<'_>>, GatherError> {
        let (range, ends) = loop {
            let unseen = self.held.get(self.searched..).unwrap_or_default();
            if let Some(end) = memchr::memchr(b'\n', unseen) {
                let end = self.searched + end;
                break (self.take(end, 1), true);
            }
            self.searched = self.held.len();
            if self.offset >= self.source.len() {
                if self.at >= self.held.len() {
                    return Ok(None);
                }
                break (self.take(self.held.len(), 0), true);
            }
            if self.held.len() - self.at > LONGEST {
                break (self.take(self.held.len(), 0), false);
            }
            self.fill()?;
        };
        let is_whole = ends && !self.is_in_long_line;
        self.is_in_long_line = !ends;
        let bytes = self.held.get(range).unwrap_or_default();
        Ok(Some(Piece { bytes, is_whole, ends }))
    }

    fn take(&mut self, end: usize, line_end: usize) -> Range<usize> {
        let start = std::mem::replace(&mut self.at, end + line_end);
        self.searched = self.at;
        start..end
    }

    fn fill(&mut self) -> Result<(), GatherError> {
        self.held.drain(..self.at);
        (self.searched, self.at) = (self.searched - self.at, 0);
        let rest = self.source.len() - self.offset;
        let count = usize::try_from(rest).unwrap_or(self.block).min(self.block);
        let start = self.held.len();
        self.held.resize(start + count, 0);
        if let Some(space) = self.held.get_mut(start..) {
            self.source.read_exact_at(self.offset, space)?;
        }
        self.offset += count as u64;
        Ok(())
    }
}

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests {
    use super::*;
    use crate::memory::MemorySources;
    use crate::port::Sources as _;

    fn lines(content: &str, block: usize) -> Vec<String> {
        let sources = MemorySources::new();
        sources.put("s", content);
        let source = sources.open("s").unwrap();
        let mut reader = RowReader::new(&*source, block);
        let mut lines = Vec::new();
        while let Some(piece) = reader.next().unwrap() {
            assert!(piece.is_whole && piece.ends);
            lines.push(String::from_utf8(piece.bytes.to_vec()).unwrap());
        }
        lines
    }

    #[test]
    fn lines_come_whole_whatever_the_block() {
        let content = "a\n\nbcdefgh\nlast";
        for block in 1..20 {
            assert_eq!(lines(content, block), ["a", "", "bcdefgh", "last"], "{block}");
        }
        assert_eq!(lines("", 4), [""; 0]);
        assert_eq!(lines("a\n", 4), ["a"]);
    }
}
