//! Splits a stream of bytes into lines that are kept or replaced.
//!
//! It has its own window instead of [`Lines`](crate::json::lines::Lines), because
//! every byte is passed on, and unchanged lines are passed on a block at a time.

use crate::limits::Reading;
use crate::port::{LineEdit, LineVerdict};

/// How much is read at once when lines are short.
const BLOCK: usize = 512 * 1024;

/// What a pass has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamCounts {
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Lines that were replaced.
    pub changed: u64,
    /// Lines above the length limit, which were passed on unread.
    pub passed_over: u64,
}

/// Splits its input into lines, asks the edit, and passes on the result.
///
/// The reader fills [`LineStream::space`], states how much with
/// [`LineStream::filled`], and calls [`LineStream::pump`] after each read and
/// [`LineStream::finish`] at the end.
#[derive(Debug)]
pub struct LineStream {
    buffer: Vec<u8>,
    held: usize,
    limit: usize,
    /// Whether the stream is inside a line above the limit.
    overlong: bool,
    counts: StreamCounts,
}

impl Default for LineStream {
    fn default() -> Self {
        Self::new(Reading::standard().rewrite_line_bytes)
    }
}

impl LineStream {
    /// A stream that examines lines of up to `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let limit = limit.max(1);
        let buffer = vec![0; BLOCK.min(limit)];
        Self { buffer, held: 0, limit, overlong: false, counts: StreamCounts::default() }
    }

    /// Where the next bytes go; never empty.
    pub fn space(&mut self) -> &mut [u8] {
        if self.held == self.buffer.len() {
            let grown = self.buffer.len().saturating_mul(2).min(self.limit).max(self.held + 1);
            self.buffer.reserve_exact(grown - self.buffer.len());
            self.buffer.resize(grown, 0);
        }
        &mut self.buffer[self.held..]
    }

    /// Marks the first `count` bytes of the space as filled.
    pub fn filled(&mut self, count: usize) {
        let count = count.min(self.buffer.len() - self.held);
        self.held += count;
        self.counts.bytes_in += count as u64;
    }

    /// What the pass has counted so far.
    #[must_use]
    pub const fn counts(&self) -> StreamCounts {
        self.counts
    }

    /// Passes on every complete line in the buffer.
    ///
    /// # Errors
    /// The error of `out`; the stream is unusable afterwards.
    pub fn pump<E>(
        &mut self,
        edit: &mut dyn LineEdit,
        out: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut from = 0;
        if self.overlong {
            match memchr::memchr(b'\n', &self.buffer[..self.held]) {
                None => {
                    out(&self.buffer[..self.held])?;
                    self.counts.bytes_out += self.held as u64;
                    self.held = 0;
                    return Ok(());
                }
                Some(end) => {
                    out(&self.buffer[..=end])?;
                    self.counts.bytes_out += end as u64 + 1;
                    self.overlong = false;
                    from = end + 1;
                }
            }
        }
        let held = &self.buffer[from..self.held];
        let whole = memchr::memrchr(b'\n', held).map_or(0, |end| end + 1);
        lines(&held[..whole], edit, out, &mut self.counts)?;
        let rest = from + whole;
        self.buffer.copy_within(rest..self.held, 0);
        self.held -= rest;
        if self.held >= self.limit {
            edit.passed_over(self.held as u64);
            self.counts.passed_over += 1;
            self.overlong = true;
            out(&self.buffer[..self.held])?;
            self.counts.bytes_out += self.held as u64;
            self.held = 0;
        }
        Ok(())
    }

    /// Passes on the last line if it has no line end.
    ///
    /// # Errors
    /// The error of `out`.
    pub fn finish<E>(
        &mut self,
        edit: &mut dyn LineEdit,
        out: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.pump(edit, out)?;
        lines(&self.buffer[..self.held], edit, out, &mut self.counts)?;
        self.held = 0;
        Ok(())
    }
}

/// Runs the edit over a block of lines, the last of which may be unfinished.
fn lines<E>(
    block: &[u8],
    edit: &mut dyn LineEdit,
    out: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    counts: &mut StreamCounts,
) -> Result<(), E> {
    if block.is_empty() {
        return Ok(());
    }
    let mut kept_from = 0;
    if edit.concerns(block) {
        let mut start = 0;
        while start < block.len() {
            let rest = &block[start..];
            let next = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let line = without_line_end(&rest[..next]);
            if let LineVerdict::Replace(text) = edit.line(line) {
                // Unchanged lines before this one are passed on in one piece.
                let line_end = start + line.len();
                out(&block[kept_from..start])?;
                out(&text)?;
                counts.bytes_out += (start - kept_from + text.len()) as u64;
                counts.changed += 1;
                kept_from = line_end;
            }
            start += next;
        }
    }
    let kept = &block[kept_from..];
    if !kept.is_empty() {
        out(kept)?;
        counts.bytes_out += kept.len() as u64;
    }
    Ok(())
}

fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Replaces lines that are `a`; concerns every block that contains an `a`.
    struct Shout(Vec<u64>);

    impl LineEdit for Shout {
        fn concerns(&self, block: &[u8]) -> bool {
            block.contains(&b'a')
        }

        fn line(&mut self, line: &[u8]) -> LineVerdict {
            if line == b"a" { LineVerdict::Replace(b"AAA".to_vec()) } else { LineVerdict::Keep }
        }

        fn passed_over(&mut self, bytes: u64) {
            self.0.push(bytes);
        }
    }

    fn run(input: &[u8], limit: usize, chunk: usize) -> (Vec<u8>, StreamCounts) {
        let mut stream = LineStream::new(limit);
        let mut edit = Shout(Vec::new());
        let mut result = Vec::new();
        let mut out = |bytes: &[u8]| -> Result<(), ()> {
            result.extend_from_slice(bytes);
            Ok(())
        };
        let mut rest = input;
        while !rest.is_empty() {
            let space = stream.space();
            let count = chunk.min(space.len()).min(rest.len());
            space[..count].copy_from_slice(&rest[..count]);
            rest = &rest[count..];
            stream.filled(count);
            stream.pump(&mut edit, &mut out).unwrap();
        }
        stream.finish(&mut edit, &mut out).unwrap();
        let counts = stream.counts();
        (result, counts)
    }

    #[test]
    fn replaces_whole_lines_and_keeps_their_ends() {
        let (result, counts) = run(b"a\r\nba\na\n\na", 100, 3);
        assert_eq!(result, b"AAA\r\nba\nAAA\n\nAAA");
        assert_eq!(counts.changed, 3);
        assert_eq!(counts.bytes_out, result.len() as u64);
    }

    #[test]
    fn a_line_above_the_limit_passes_unread() {
        let (result, counts) = run(b"xxxxxxxxxxaaaaaaaa\na\n", 8, 4);
        assert_eq!(result, b"xxxxxxxxxxaaaaaaaa\nAAA\n");
        assert_eq!((counts.changed, counts.passed_over), (1, 1));
    }

    proptest! {
        #[test]
        fn equals_a_plain_split_whatever_the_reads(
            input in proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'b'), Just(b'\n'), Just(b'\r'), any::<u8>()], 0..200),
            chunk in 1_usize..40,
        ) {
            let (result, counts) = run(&input, 1_000, chunk);
            let plain = input
                .split(|byte| *byte == b'\n')
                .map(|line| match line {
                    b"a" => b"AAA".to_vec(),
                    b"a\r" => b"AAA\r".to_vec(),
                    line => line.to_vec(),
                })
                .collect::<Vec<_>>()
                .join(&b'\n');
            prop_assert_eq!(&result, &plain);
            prop_assert_eq!(counts.bytes_in, input.len() as u64);
        }

        #[test]
        fn an_edit_that_keeps_everything_changes_no_byte(
            input in proptest::collection::vec(prop_oneof![Just(b'b'), Just(b'\n'), any::<u8>()], 0..300),
            chunk in 1_usize..40,
            limit in 1_usize..30,
        ) {
            let input: Vec<u8> = input.into_iter().filter(|byte| *byte != b'a').collect();
            prop_assert_eq!(run(&input, limit, chunk).0, input);
        }
    }
}
