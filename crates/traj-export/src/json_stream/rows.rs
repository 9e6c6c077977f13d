//! Rows of a JSON Lines file, read in pieces.
//!
//! The reader does not use `traj_core::json::lines`, because it must know where
//! a row that is too long to keep starts and ends: such a row is read again
//! later, in pieces.

use sha2::{Digest as _, Sha256};
use traj_core::limits::Reading;
use traj_core::port::{Source, SourceError};

use crate::json_stream::buffer::ReadBuffer;

/// Longer rows are never kept whole (see [`crate::json_stream::long_rows`]).
pub(crate) const MAX_ROW_BYTES: u64 = Reading::standard().export_row_bytes as u64;

/// How much is read at once.
const PIECE: usize = 512 * 1024;

/// A range of bytes in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteRange {
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

/// One row of the source.
#[derive(Debug)]
pub(crate) struct ReadRow<'b> {
    /// 1-based; empty rows count.
    pub(crate) number: u64,
    pub(crate) place: ByteRange,
    /// `None` for a row that is too long to keep.
    pub(crate) bytes: Option<&'b [u8]>,
}

/// Reads a source once from start to end, and digests it.
pub(crate) struct RowReader<'s> {
    source: &'s dyn Source,
    digest: Sha256,
    window: ReadBuffer,
    /// Bytes of the buffer that belong to rows already returned.
    taken: usize,
    /// Position in the source where the buffer ends.
    read: u64,
    number: u64,
}

impl<'s> RowReader<'s> {
    pub(crate) fn new(source: &'s dyn Source) -> Self {
        Self {
            source,
            digest: Sha256::new(),
            window: ReadBuffer::default(),
            taken: 0,
            read: 0,
            number: 0,
        }
    }

    /// The next row, without its line end.
    pub(crate) fn next(&mut self) -> Result<Option<ReadRow<'_>>, SourceError> {
        let offset = self.taken_to();
        let mut searched = self.taken;
        loop {
            let length = self.window.filled().len();
            let unsearched = self.window.filled().get(searched..).unwrap_or_default();
            if let Some(found) = memchr::memchr(b'\n', unsearched) {
                return Ok(Some(self.take_row(offset, searched + found, 1)));
            }
            searched = length;
            if self.read == self.source.len() {
                if self.taken == length {
                    return Ok(None);
                }
                return Ok(Some(self.take_row(offset, length, 0)));
            }
            if (length - self.taken) as u64 > MAX_ROW_BYTES {
                return self.pass_long_row(offset).map(Some);
            }
            searched -= self.fill()?;
        }
    }

    /// The digest of the whole source, once all rows were read.
    pub(crate) fn finish(self) -> [u8; 32] {
        self.digest.finalize().into()
    }

    /// The number of rows so far.
    pub(crate) const fn rows(&self) -> u64 {
        self.number
    }

    fn take_row(&mut self, offset: u64, end: usize, line_end: usize) -> ReadRow<'_> {
        let start = std::mem::replace(&mut self.taken, end + line_end);
        self.number += 1;
        let mut bytes = self.window.filled().get(start..end).unwrap_or_default();
        if line_end == 1 {
            bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        }
        let place = ByteRange { offset, length: bytes.len() as u64 };
        // A row whose end was just read may also be too long.
        let bytes = (place.length <= MAX_ROW_BYTES).then_some(bytes);
        ReadRow { number: self.number, place, bytes }
    }

    /// Position in the source after the last row that was returned.
    fn taken_to(&self) -> u64 {
        self.read - (self.window.filled().len() - self.taken) as u64
    }

    /// Reads another piece; returns by how much the buffer's content moved.
    fn fill(&mut self) -> Result<usize, SourceError> {
        let moved = std::mem::take(&mut self.taken);
        let left = usize::try_from(self.source.len() - self.read).unwrap_or(usize::MAX);
        self.window.fill(moved, left.min(PIECE), |piece| {
            self.source.read_exact_at(self.read, piece)?;
            self.digest.update(&*piece);
            self.read += piece.len() as u64;
            Ok::<_, SourceError>(piece.len())
        })?;
        Ok(moved)
    }

    fn pass_long_row(&mut self, offset: u64) -> Result<ReadRow<'_>, SourceError> {
        loop {
            self.taken = self.window.filled().len();
            if self.read == self.source.len() {
                break;
            }
            self.fill()?;
            if let Some(length) = memchr::memchr(b'\n', self.window.filled()) {
                self.taken = length + 1;
                break;
            }
        }
        self.window.shrink_to(2 * PIECE);
        self.number += 1;
        let last = self.taken.checked_sub(1).and_then(|last| self.window.filled().get(last));
        let line_end = u64::from(last == Some(&b'\n'));
        let place = ByteRange { offset, length: self.taken_to() - offset - line_end };
        Ok(ReadRow { number: self.number, place, bytes: None })
    }
}

#[cfg(test)]
mod tests {
    use traj_core::memory::MemorySources;
    use traj_core::port::Sources as _;

    use super::*;

    fn rows_of(content: &[u8]) -> Vec<(u64, ByteRange, Option<Vec<u8>>)> {
        let sources = MemorySources::new();
        sources.put("f", content);
        let source = sources.open("f").unwrap();
        let mut reader = RowReader::new(&*source);
        let mut rows = Vec::new();
        while let Some(row) = reader.next().unwrap() {
            rows.push((row.number, row.place, row.bytes.map(<[u8]>::to_vec)));
        }
        let digest: [u8; 32] = Sha256::digest(content).into();
        assert_eq!(reader.finish(), digest);
        rows
    }

    #[test]
    fn rows_end_at_line_feeds_only() {
        let rows = rows_of(b"a\r\n\nb\rc\nlast");
        let texts: Vec<_> = rows.iter().map(|row| row.2.clone().unwrap()).collect();
        assert_eq!(texts, [&b"a"[..], b"", b"b\rc", b"last"]);
        assert_eq!(rows[2].1, ByteRange { offset: 4, length: 3 });
        assert!(rows_of(b"").is_empty());
    }

    #[test]
    fn rows_are_kept_up_to_the_limit() {
        for (length, is_held) in [
            (MAX_ROW_BYTES, true),
            (MAX_ROW_BYTES + 1, false),
            (MAX_ROW_BYTES + PIECE as u64 - 1, false),
            (MAX_ROW_BYTES + PIECE as u64, false),
        ] {
            let mut content = vec![b'x'; length as usize];
            content.extend_from_slice(b"\nend");
            let rows = rows_of(&content);
            assert_eq!(rows[0].2.is_some(), is_held, "{length}");
            assert_eq!(rows[0].1.length, length);
            assert_eq!(rows[1].2.as_deref(), Some(&b"end"[..]));
        }
    }

    #[test]
    fn rows_across_pieces_are_whole_and_giants_are_skipped() {
        let mut content = vec![b'x'; PIECE + 10];
        content.push(b'\n');
        let giant_at = content.len() as u64;
        content.resize(content.len() + MAX_ROW_BYTES as usize + 3 * PIECE, b'y');
        content.extend_from_slice(b"\nend\n");
        let rows = rows_of(&content);
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[0].2.as_ref().unwrap().len(), PIECE + 10);
        assert_eq!(rows[1].2, None);
        assert_eq!(
            rows[1].1,
            ByteRange { offset: giant_at, length: MAX_ROW_BYTES + 3 * PIECE as u64 }
        );
        assert_eq!(rows[2].2.as_deref(), Some(&b"end"[..]));
    }
}
