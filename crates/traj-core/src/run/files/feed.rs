//! Reads one file block by block and splits it into lines.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use crate::json::lines::{Line, Lines};
use crate::limits;
use crate::port::{Source, SourceError};

/// How much is read and parsed at once.
const BLOCK: usize = 1024 * 1024;

/// A long line with more values than this would take too much memory.
const MOST_VALUES: usize = limits::Reading::standard().row_values;

/// A file, and the lines that were read but not yet used.
#[derive(Debug)]
pub(super) struct FileFeed<'s> {
    source: &'s dyn Source,
    /// The offset of the next read.
    position: u64,
    splitter: Lines,
    /// The last block read.
    block: Vec<u8>,
    held: HeldLines,
    /// How many lines were skipped.
    pub(super) passed_over: u64,
}

/// Complete lines, one after the other.
#[derive(Debug, Default)]
struct HeldLines {
    bytes: Vec<u8>,
    /// The number of each line, and its end in `bytes`.
    ends: VecDeque<(u64, usize)>,
    /// How many lines were read so far, including used and skipped ones.
    count: u64,
}

impl HeldLines {
    /// Takes a line; returns how many were skipped.
    fn take(&mut self, line: Line<'_>) -> u64 {
        self.count += 1;
        match line {
            Line::Whole(line) | Line::Cut(line) => {
                self.bytes.extend_from_slice(line);
                self.ends.push_back((self.count, self.bytes.len()));
                0
            }
            Line::TooLong { .. } => 1,
        }
    }
}

impl<'s> FileFeed<'s> {
    /// Reads lines of up to `longest` bytes and skips longer ones.
    pub(super) fn new(source: &'s dyn Source, longest: usize) -> Self {
        Self {
            source,
            position: 0,
            splitter: Lines::new(longest),
            block: Vec::new(),
            held: HeldLines::default(),
            passed_over: 0,
        }
    }

    /// Whether everything was read.
    pub(super) fn is_at_end(&self) -> bool {
        self.position >= self.source.len()
    }

    /// Reads on until at least one complete line is held, or the file ends.
    pub(super) fn fill(&mut self) -> Result<(), SourceError> {
        while !self.is_at_end() && (self.held.bytes.len() < BLOCK || self.held.ends.is_empty()) {
            let rest = self.source.len() - self.position;
            self.block.resize(usize::try_from(rest).unwrap_or(BLOCK).min(BLOCK), 0);
            self.source.read_exact_at(self.position, &mut self.block)?;
            self.position += self.block.len() as u64;
            let is_at_end = self.is_at_end();
            let mut take = |line: Line<'_>| {
                self.passed_over += self.held.take(line);
                ControlFlow::<()>::Continue(())
            };
            let _continue = self.splitter.push(&self.block, &mut take);
            if is_at_end {
                // The last line of a file may lack its line end.
                let _continue = self.splitter.finish(take);
            }
        }
        Ok(())
    }

    /// The lines held, each with its number and the number of bytes up to its
    /// end.
    pub(super) fn lines(&self) -> impl Iterator<Item = (u64, usize, &[u8])> {
        let mut from = 0;
        self.held.ends.iter().map(move |(number, end)| {
            let line = self.held.bytes.get(from..*end).unwrap_or_default();
            from = *end;
            (*number, *end, line)
        })
    }

    /// Drops used lines: the first `bytes` bytes, which end with the line
    /// `last_line`.
    pub(super) fn consume(&mut self, bytes: usize, last_line: u64) {
        let used = self.held.ends.partition_point(|(number, _)| *number <= last_line);
        self.held.ends.drain(..used);
        for (_, end) in &mut self.held.ends {
            *end -= bytes;
        }
        self.held.bytes.drain(..bytes.min(self.held.bytes.len()));
    }
}

/// Whether parsing a line would take far more memory than its length.
pub(crate) fn is_bomb(line: &[u8]) -> bool {
    if line.len() <= MOST_VALUES {
        return false;
    }
    let (mut values, mut in_text, mut is_escaped) = (0_usize, false, false);
    for byte in line {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' if !in_text => values += 1,
            _ => {}
        }
    }
    values > MOST_VALUES
}

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests {
    use super::*;
    use crate::memory::MemorySources;
    use crate::port::Sources as _;

    const LONGEST: usize = 4 * BLOCK;

    /// All lines with their numbers, using `at_once` lines at a time.
    fn lines_of(content: &[u8], at_once: usize) -> (Vec<(u64, usize)>, u64) {
        let sources = MemorySources::new();
        sources.put("s", content);
        let source = sources.open("s").unwrap();
        let mut feed = FileFeed::new(&*source, LONGEST);
        let mut seen = Vec::new();
        loop {
            feed.fill().unwrap();
            let lines: Vec<_> = feed
                .lines()
                .take(at_once)
                .map(|(number, end, line)| (number, end, line.len()))
                .collect();
            let Some((number, end, _)) = lines.last().copied() else { break };
            seen.extend(lines.iter().map(|(number, _, length)| (*number, *length)));
            feed.consume(end, number);
        }
        (seen, feed.passed_over)
    }

    #[test]
    fn lines_come_whole_and_numbered_however_many_are_used_at_once() {
        let long = "x".repeat(BLOCK + 7);
        let content = format!("a\n\n{long}\nbc\nlast");
        let expected = vec![(1, 1), (2, 0), (3, BLOCK + 7), (4, 2), (5, 4)];
        for at_once in [1, 2, 100] {
            assert_eq!(lines_of(content.as_bytes(), at_once), (expected.clone(), 0));
        }
        assert_eq!(lines_of(b"", 1), (vec![], 0));
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        let content = format!("a\n{}\nb\n", "x".repeat(LONGEST + BLOCK));
        assert_eq!(lines_of(content.as_bytes(), 100), (vec![(1, 1), (3, 1)], 1));
    }

    #[test]
    fn values_in_strings_are_not_counted() {
        let text = format!("[\"{}\\\"{}\"]", ",".repeat(MOST_VALUES), "[".repeat(MOST_VALUES));
        assert!(!is_bomb(text.as_bytes()));
        assert!(is_bomb("[".repeat(MOST_VALUES + 2).as_bytes()));
    }
}
