//! One file, block by block, as lines.

use crate::port::{Source, SourceError};

/// How much is read and parsed at once.
const BLOCK: usize = 1024 * 1024;

/// Lines longer than this are passed over.
const LONGEST_LINE: usize = 32 * 1024 * 1024;

/// A long line with more values than this would take too much memory.
const MOST_VALUES: usize = 1024 * 1024;

/// A file, and what was read of it but not used yet.
#[derive(Debug)]
pub(super) struct Feed<'s> {
    source: &'s dyn Source,
    /// Where the next read begins.
    position: u64,
    bytes: Vec<u8>,
    /// Whether there is a line end in the bytes.
    has_line: bool,
    /// Whether the bytes up to the next line end are passed over.
    is_passing: bool,
    /// Lines before the bytes.
    lines: u64,
    /// Lines that were passed over.
    pub(super) passed_over: u64,
}

impl<'s> Feed<'s> {
    pub(super) const fn new(source: &'s dyn Source) -> Self {
        Self {
            source,
            position: 0,
            bytes: Vec::new(),
            has_line: false,
            is_passing: false,
            lines: 0,
            passed_over: 0,
        }
    }

    /// Whether everything was read.
    pub(super) fn is_at_end(&self) -> bool {
        self.position >= self.source.len()
    }

    /// Reads on until there is a block, and a line in it.
    pub(super) fn fill(&mut self) -> Result<(), SourceError> {
        while !self.is_at_end() && (self.bytes.len() < BLOCK || !self.has_line) {
            let before = self.bytes.len();
            let rest = self.source.len() - self.position;
            let piece = usize::try_from(rest).unwrap_or(BLOCK).min(BLOCK);
            self.bytes.resize(before + piece, 0);
            let buffer = self.bytes.get_mut(before..).unwrap_or_default();
            self.source.read_exact_at(self.position, buffer)?;
            self.position += piece as u64;
            if self.is_passing {
                self.pass_line();
            }
            let read = self.bytes.get(before..).unwrap_or_default();
            self.has_line |= memchr::memchr(b'\n', read).is_some();
            if !self.has_line && self.bytes.len() > LONGEST_LINE {
                self.bytes.clear();
                self.is_passing = true;
                self.passed_over += 1;
            }
        }
        Ok(())
    }

    /// Drops the rest of a line that is too long. Nothing else is held then.
    fn pass_line(&mut self) {
        match memchr::memchr(b'\n', &self.bytes) {
            Some(end) => {
                self.bytes.drain(..=end);
                self.is_passing = false;
                self.lines += 1;
                self.has_line = memchr::memchr(b'\n', &self.bytes).is_some();
            }
            None => self.bytes.clear(),
        }
    }

    /// The whole lines that are held, each with its number and with the
    /// number of bytes up to its end. The last line of a file needs no end.
    pub(super) fn lines(&self) -> impl Iterator<Item = (u64, usize, &[u8])> {
        let whole = match memchr::memrchr(b'\n', &self.bytes) {
            _ if self.is_at_end() => self.bytes.len(),
            Some(end) => end + 1,
            None => 0,
        };
        let mut rest = self.bytes.get(..whole).unwrap_or_default();
        let mut number = self.lines;
        let mut end = 0;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let (line, after) = rest.split_at_checked(length)?;
            rest = after;
            number += 1;
            end += length;
            Some((number, end, line.strip_suffix(b"\n").unwrap_or(line)))
        })
    }

    /// Drops what was used: these bytes, which end with this line.
    pub(super) fn consume(&mut self, bytes: usize, last_line: u64) {
        self.bytes.drain(..bytes.min(self.bytes.len()));
        self.lines = last_line.max(self.lines);
        self.has_line = memchr::memchr(b'\n', &self.bytes).is_some();
    }
}

/// Whether a line would take far more memory than its length.
pub(super) fn is_bomb(line: &[u8]) -> bool {
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

    /// All lines with their numbers, whatever is used at once.
    fn lines_of(content: &[u8], at_once: usize) -> (Vec<(u64, usize)>, u64) {
        let sources = MemorySources::new();
        sources.put("s", content);
        let source = sources.open("s").unwrap();
        let mut feed = Feed::new(&*source);
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
    fn a_line_that_is_too_long_is_passed_over() {
        let content = format!("a\n{}\nb\n", "x".repeat(LONGEST_LINE + BLOCK));
        assert_eq!(lines_of(content.as_bytes(), 100), (vec![(1, 1), (3, 1)], 1));
    }

    #[test]
    fn values_in_strings_are_not_counted() {
        let text = format!("[\"{}\\\"{}\"]", ",".repeat(MOST_VALUES), "[".repeat(MOST_VALUES));
        assert!(!is_bomb(text.as_bytes()));
        assert!(is_bomb("[".repeat(MOST_VALUES + 2).as_bytes()));
    }
}
