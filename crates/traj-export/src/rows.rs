//! Rows of a JSON Lines file, read in pieces.

use sha2::{Digest as _, Sha256};
use traj_core::port::{Source, SourceError};

/// Rows longer than this are never held whole (see [`crate::shrink`]).
pub(crate) const MAX_ROW_BYTES: u64 = 16 * 1024 * 1024;

/// How much is read at once.
const PIECE: usize = 512 * 1024;

/// Where a row lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

/// One row as it goes by.
#[derive(Debug)]
pub(crate) struct Row<'b> {
    /// 1-based, blank rows counted.
    pub(crate) number: u64,
    pub(crate) place: Place,
    /// `None` for a row that is too long to hold.
    pub(crate) bytes: Option<&'b [u8]>,
}

/// Reads a source from start to end, once, and digests it on the way.
pub(crate) struct RowReader<'s> {
    source: &'s dyn Source,
    digest: Sha256,
    buffer: Vec<u8>,
    /// Bytes of the buffer that rows have been taken from.
    taken: usize,
    /// Position in the source of the end of the buffer.
    read: u64,
    number: u64,
}

impl<'s> RowReader<'s> {
    pub(crate) fn new(source: &'s dyn Source) -> Self {
        Self { source, digest: Sha256::new(), buffer: Vec::new(), taken: 0, read: 0, number: 0 }
    }

    /// The next row, without its line end.
    pub(crate) fn next(&mut self) -> Result<Option<Row<'_>>, SourceError> {
        let offset = self.read - (self.buffer.len() - self.taken) as u64;
        let mut searched = self.taken;
        loop {
            let unsearched = self.buffer.get(searched..).unwrap_or_default();
            if let Some(length) = memchr::memchr(b'\n', unsearched) {
                let end = searched + length;
                return Ok(Some(self.take_row(offset, end, 1)));
            }
            searched = self.buffer.len();
            if self.read == self.source.len() {
                if self.taken == self.buffer.len() {
                    return Ok(None);
                }
                let end = self.buffer.len();
                return Ok(Some(self.take_row(offset, end, 0)));
            }
            if (self.buffer.len() - self.taken) as u64 > MAX_ROW_BYTES {
                return self.pass_long_row(offset).map(Some);
            }
            searched -= self.fill()?;
        }
    }

    /// The digest of everything, once all rows have gone by.
    pub(crate) fn finish(self) -> [u8; 32] {
        self.digest.finalize().into()
    }

    /// The number of rows so far.
    pub(crate) const fn rows(&self) -> u64 {
        self.number
    }

    fn take_row(&mut self, offset: u64, end: usize, line_end: usize) -> Row<'_> {
        let start = std::mem::replace(&mut self.taken, end + line_end);
        self.number += 1;
        let mut bytes = self.buffer.get(start..end).unwrap_or_default();
        if line_end == 1 {
            bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        }
        let place = Place { offset, length: bytes.len() as u64 };
        Row { number: self.number, place, bytes: Some(bytes) }
    }

    /// Reads another piece; returns by how much the buffer's content moved.
    fn fill(&mut self) -> Result<usize, SourceError> {
        let moved = std::mem::take(&mut self.taken);
        self.buffer.drain(..moved);
        let left = usize::try_from(self.source.len() - self.read).unwrap_or(usize::MAX);
        let start = self.buffer.len();
        self.buffer.resize(start + left.min(PIECE), 0);
        let piece = self.buffer.get_mut(start..).unwrap_or_default();
        self.source.read_exact_at(self.read, piece)?;
        self.digest.update(&*piece);
        self.read += piece.len() as u64;
        Ok(moved)
    }

    fn pass_long_row(&mut self, offset: u64) -> Result<Row<'_>, SourceError> {
        loop {
            self.taken = self.buffer.len();
            if self.read == self.source.len() {
                break;
            }
            self.fill()?;
            if let Some(length) = memchr::memchr(b'\n', &self.buffer) {
                self.taken = length + 1;
                break;
            }
        }
        self.buffer.shrink_to(2 * PIECE);
        self.number += 1;
        let end = self.read - (self.buffer.len() - self.taken) as u64;
        let line_end = u64::from(self.taken > 0 && self.buffer.get(self.taken - 1) == Some(&b'\n'));
        let place = Place { offset, length: end - offset - line_end };
        Ok(Row { number: self.number, place, bytes: None })
    }
}

#[cfg(test)]
mod tests {
    use traj_core::memory::MemorySources;
    use traj_core::port::Sources as _;

    use super::*;

    fn rows_of(content: &[u8]) -> Vec<(u64, Place, Option<Vec<u8>>)> {
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
        assert_eq!(rows[2].1, Place { offset: 4, length: 3 });
        assert!(rows_of(b"").is_empty());
    }

    #[test]
    fn rows_across_pieces_are_whole_and_giants_are_passed() {
        let mut content = vec![b'x'; PIECE + 10];
        content.push(b'\n');
        let giant_at = content.len() as u64;
        content.resize(content.len() + MAX_ROW_BYTES as usize + 3 * PIECE, b'y');
        content.extend_from_slice(b"\nend\n");
        let rows = rows_of(&content);
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[0].2.as_ref().unwrap().len(), PIECE + 10);
        assert_eq!(rows[1].2, None);
        assert_eq!(rows[1].1, Place { offset: giant_at, length: MAX_ROW_BYTES + 3 * PIECE as u64 });
        assert_eq!(rows[2].2.as_deref(), Some(&b"end"[..]));
    }
}
