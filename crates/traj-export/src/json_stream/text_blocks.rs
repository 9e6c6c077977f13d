//! Strings of any length, split into blocks that are redacted one by one.
//!
//! A block ends at an empty line or a line end, never inside a key block. A
//! line longer than a block is cut at a space or a comma, and only where
//! redaction gives the same result with and without the cut: no rule matches
//! across it.

use traj_core::redaction::{RedactionReport, Redactor, block_end};

use crate::json_stream::long_rows;
use crate::json_stream::splitter::{ByteStream, ReadError};

/// A block is at most this long.
pub(crate) const BLOCK: usize = 4 * 1024 * 1024;

/// The block size for text with very many small JSON values: parsing it takes
/// many times its length.
const HEAVY_BLOCK: usize = 1024 * 1024;

/// How much text is compared on each side of a cut.
const SEAM: usize = 32 * 1024;

/// How many positions for a cut are tried.
const TRIALS: usize = 16;

/// How much is read at once.
const PIECE: usize = 256 * 1024;

/// What to do if a text has no position for a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoSeam {
    /// Stop. For redaction, the text must not be cut anywhere else.
    GiveUp,
    /// Continue with overlapping blocks. In a scan, text may be seen twice.
    Overlap,
}

/// Why there is no next block.
#[derive(Debug)]
pub(crate) enum BlockError {
    /// The text cannot be read.
    Read(ReadError),
    /// It cannot be cut.
    NoSeam,
}

/// Splits a text into blocks.
pub(crate) struct TextBlocks<'b> {
    bytes: &'b mut dyn ByteStream,
    buffer: Vec<u8>,
    is_drained: bool,
    no_seam: NoSeam,
    longest: usize,
}

impl<'b> TextBlocks<'b> {
    pub(crate) fn new(bytes: &'b mut dyn ByteStream, no_seam: NoSeam) -> Self {
        Self { bytes, buffer: Vec::new(), is_drained: false, no_seam, longest: BLOCK }
    }

    /// The next block, with its bytes.
    pub(crate) fn next(&mut self, redactor: &Redactor) -> Result<Option<Vec<u8>>, BlockError> {
        self.fill().map_err(BlockError::Read)?;
        let heavy = long_rows::is_heavy(&self.buffer);
        let limit = if heavy { HEAVY_BLOCK.min(self.longest) } else { self.longest };
        if self.is_drained && self.buffer.len() <= limit {
            return Ok(Some(std::mem::take(&mut self.buffer)).filter(|block| !block.is_empty()));
        }
        let window = self.buffer.get(..limit).unwrap_or(&self.buffer);
        let (end, next) = match (cut(window, redactor), self.no_seam) {
            (Some(end), _) => (end, end),
            (None, NoSeam::Overlap) => {
                let end = letter_start(&self.buffer, limit);
                (end, letter_start(&self.buffer, end - SEAM))
            }
            (None, NoSeam::GiveUp) => return Err(BlockError::NoSeam),
        };
        let block = self.buffer.get(..end).unwrap_or_default().to_vec();
        self.buffer.drain(..next);
        Ok(Some(block))
    }

    fn fill(&mut self) -> Result<(), ReadError> {
        // One byte more than a block shows whether another block follows.
        while !self.is_drained && self.buffer.len() <= self.longest {
            let length = self.buffer.len();
            self.buffer.resize(length + PIECE, 0);
            let piece = self.buffer.get_mut(length..).unwrap_or_default();
            let read = self.bytes.read(piece)?;
            self.buffer.truncate(length + read);
            self.is_drained = read == 0;
        }
        Ok(())
    }
}

/// The last position up to `at` that does not split a character.
fn letter_start(text: &[u8], at: usize) -> usize {
    let is_inside =
        |at: &usize| text.get(*at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    // A character has at most four bytes; bytes that are not UTF-8 may be split
    // anywhere.
    (at.saturating_sub(3)..=at).rev().find(|at| !is_inside(at)).unwrap_or(at)
}

/// Where the text can be cut.
fn cut(text: &[u8], redactor: &Redactor) -> Option<usize> {
    if let Some(end) = block_end(text).filter(|end| *end > 0) {
        return Some(end);
    }
    let opened = memchr::memmem::rfind(text, b"-BEGIN ");
    let is_open = |at| memchr::memmem::find(text.get(at..).unwrap_or_default(), b"-END ").is_none();
    if opened.is_some_and(is_open) {
        return None;
    }
    let mut end = text.len();
    for _ in 0..TRIALS {
        // Not at the very end: a cut has two sides.
        let head = text.get(..end.checked_sub(SEAM)?)?;
        end = memchr::memrchr2(b' ', b',', head)? + 1;
        if is_seam(text, end, redactor) {
            return Some(end);
        }
    }
    None
}

/// Whether the text around a position is redacted to the same result in one
/// piece and in two.
fn is_seam(text: &[u8], at: usize, redactor: &Redactor) -> bool {
    let side = |from: usize, to: usize| {
        String::from_utf8_lossy(text.get(from..to).unwrap_or_default()).into_owned()
    };
    let left = side(at.saturating_sub(SEAM), at);
    let right = side(at, text.len().min(at + SEAM));
    let redacted = |text: &str| {
        redactor.text(text, &mut RedactionReport::default()).as_ref().clone().into_owned()
    };
    redacted(&format!("{left}{right}")) == redacted(&left) + &redacted(&right)
}

#[cfg(test)]
mod tests {
    use traj_core::redaction::{MarkerKey, RedactionPolicy};

    use super::*;

    /// Returns a few bytes at a time.
    struct Crumbs<'b>(&'b [u8]);

    impl ByteStream for Crumbs<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
            let length = self.0.len().min(buffer.len()).min(60_000);
            let (now, later) = self.0.split_at(length);
            buffer[..length].copy_from_slice(now);
            self.0 = later;
            Ok(length)
        }
    }

    fn redactor() -> Redactor {
        Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])))
    }

    /// Small, to keep the test fast.
    const SHORT: usize = 128 * 1024;

    fn blocks_of(text: &str, no_seam: NoSeam, longest: usize) -> Result<Vec<String>, BlockError> {
        let mut crumbs = Crumbs(text.as_bytes());
        let mut blocks = TextBlocks { longest, ..TextBlocks::new(&mut crumbs, no_seam) };
        let redactor = redactor();
        let mut all = Vec::new();
        while let Some(block) = blocks.next(&redactor)? {
            assert!(block.len() <= longest);
            all.push(String::from_utf8_lossy(&block).into_owned());
        }
        Ok(all)
    }

    fn blocks(text: &str, no_seam: NoSeam) -> Result<Vec<String>, BlockError> {
        blocks_of(text, no_seam, SHORT)
    }

    #[test]
    fn lines_stay_whole_and_nothing_is_lost() {
        let text = "a line of some words\n".repeat(3 * SHORT / 20);
        let all = blocks(&text, NoSeam::GiveUp).unwrap();
        assert!(all.len() > 2);
        assert!(all.iter().all(|block| block.ends_with('\n')));
        assert!(all.concat() == text);
        assert!(blocks("", NoSeam::GiveUp).unwrap().is_empty());
        assert_eq!(blocks("short", NoSeam::GiveUp).unwrap(), ["short"]);
    }

    #[test]
    fn a_cut_never_goes_through_a_secret() {
        // Every preferred position for a cut is inside a secret that contains a
        // space.
        let secret = ["Authorization: Bearer ", "q7Xw2ZkP9sLmD4vTr8Yb1NcJ5fGh6Ae3Ru0K"].concat();
        let text = format!("{secret} and words without a line end, ").repeat(2 * SHORT / 90);
        let redactor = redactor();
        let hidden = |text: &str| {
            redactor.text(text, &mut RedactionReport::default()).as_ref().clone().into_owned()
        };
        let all = blocks(&text, NoSeam::GiveUp).unwrap();
        assert!(all.len() > 1);
        assert!(all.concat() == text);
        let redacted: String = all.iter().map(|block| hidden(block)).collect();
        assert!(!redacted.contains("q7Xw2"));
        assert!(redacted.matches("<redacted:").count() == text.matches("q7Xw2").count());
    }

    #[test]
    fn text_without_a_seam_is_given_up_or_overlaps() {
        for text in [
            "x".repeat(SHORT + 10),
            "xä€😀".repeat(SHORT / 10 + 10),
            format!("-----BEGIN PRIVATE KEY----- {}", "MIIE vQIB ".repeat(SHORT / 9)),
        ] {
            assert!(matches!(blocks(&text, NoSeam::GiveUp), Err(BlockError::NoSeam)));
            let all = blocks(&text, NoSeam::Overlap).unwrap();
            assert_eq!(all.len(), 2);
            let twice = all[0].len() + all[1].len() - text.len();
            assert!((SEAM..SEAM + 4).contains(&twice), "{twice}");
        }
    }

    #[test]
    fn many_small_values_come_in_smaller_blocks() {
        let text = format!("[{}1]", "1,".repeat(BLOCK / 4));
        let all = blocks_of(&text, NoSeam::GiveUp, BLOCK).unwrap();
        assert!(all.len() > 1 && all[0].len() <= HEAVY_BLOCK);
        assert!(all.concat() == text);
    }
}
