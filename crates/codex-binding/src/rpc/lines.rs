//! Bytes to lines, with a bound on what one line may cost.

/// Splits a stream of bytes at line ends.
///
/// A line longer than the limit is skipped up to its end and counted, so that a runaway server costs
/// no more than the limit.
#[derive(Debug)]
pub(crate) struct LineSplitter {
    buffer: Vec<u8>,
    limit: usize,
    is_skipping: bool,
    oversized: u64,
}

impl LineSplitter {
    pub(crate) const fn new(limit: usize) -> Self {
        Self { buffer: Vec::new(), limit, is_skipping: false, oversized: 0 }
    }

    /// Takes bytes and hands each complete line to `take`, without its end.
    pub(crate) fn push(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8])) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end);
            rest = after.get(1..).unwrap_or_default();
            self.keep(line);
            if self.is_skipping {
                self.is_skipping = false;
            } else {
                let line = self.buffer.strip_suffix(b"\r").unwrap_or(&self.buffer);
                if !line.trim_ascii().is_empty() {
                    take(line);
                }
            }
            self.buffer.clear();
            // One huge line must not keep its memory for the rest of the session.
            self.buffer.shrink_to(64 * 1024);
        }
        self.keep(rest);
    }

    /// Lines that were skipped because they were too long.
    pub(crate) const fn oversized(&self) -> u64 {
        self.oversized
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.is_skipping {
            return;
        }
        if self.buffer.len() + bytes.len() > self.limit {
            self.is_skipping = true;
            self.oversized += 1;
            self.buffer = Vec::new();
        } else {
            self.buffer.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(splitter: &mut LineSplitter, bytes: &[u8]) -> Vec<String> {
        let mut out = Vec::new();
        splitter.push(bytes, |line| out.push(String::from_utf8_lossy(line).into_owned()));
        out
    }

    #[test]
    fn lines_end_where_they_end_whatever_the_chunks() {
        let mut splitter = LineSplitter::new(100);
        assert_eq!(lines(&mut splitter, b"a\r\n\n  \nb"), ["a"]);
        assert_eq!(lines(&mut splitter, b"c\nd"), ["bc"]);
        assert_eq!(lines(&mut splitter, b"\n"), ["d"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_counted() {
        let mut splitter = LineSplitter::new(4);
        assert_eq!(lines(&mut splitter, b"12345"), Vec::<String>::new());
        assert_eq!(lines(&mut splitter, b"678\nok\n1234\n"), ["ok", "1234"]);
        assert_eq!(splitter.oversized(), 1);
    }
}
