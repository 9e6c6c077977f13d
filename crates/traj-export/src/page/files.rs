//! The files of a bundle as chunks: where each begins and ends.

pub(super) mod copies;

use std::io;

use memchr::memmem::Finder;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use traj_core::port::{BundleContent, BundleSourceError};

use super::sink::PageSink;
use crate::bundle::output::hex;
use copies::{ChunkStart, CopyingContent, KnownStrings};

/// A chunk has at most this many bytes, unless one row is longer.
pub(super) const CHUNK_BYTES: u64 = 256 * 1024;

/// A file as the head lists it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PageFile {
    pub(super) path: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
    /// The number of its first chunk.
    pub(super) chunk: u64,
    /// How many chunks it has.
    pub(super) chunks: u64,
    /// How its bytes are stored, unless as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) encoding: Option<&'static str>,
    /// Where each chunk of an encoded file begins in the file.
    #[serde(skip)]
    pub(super) starts: Vec<ChunkStart>,
    /// How long each chunk is.
    #[serde(skip)]
    pub(super) lengths: Vec<u64>,
    /// SHA-256 of the chunks together.
    #[serde(skip)]
    pub(super) stored_digest: [u8; 32],
}

/// The rows of `events.jsonl`: their number, and where chunks begin.
#[derive(Debug, Default)]
pub(super) struct RowTable {
    pub(super) rows: u64,
    /// The first row of each chunk.
    pub(super) first_rows: Vec<u64>,
    /// Which rows contain a redaction marker, one bit each.
    redacted: Vec<u64>,
}

impl RowTable {
    /// Whether a row contains a redaction marker.
    pub(super) fn is_redacted(&self, row: u32) -> bool {
        let word = self.redacted.get(row as usize / 64).copied().unwrap_or_default();
        word >> (row % 64) & 1 == 1
    }

    fn mark(&mut self, row: u64) {
        let place = usize::try_from(row / 64).unwrap_or(usize::MAX);
        if self.redacted.len() <= place {
            self.redacted.resize(place + 1, 0);
        }
        if let Some(word) = self.redacted.get_mut(place) {
            *word |= 1 << (row % 64);
        }
    }
}

/// Content that is measured while it is read.
pub(super) struct MeasuredFile<'c> {
    content: &'c mut dyn BundleContent,
    digest: Sha256,
    bytes: u64,
    rows: Option<RowScanner>,
    known: Option<&'c mut KnownStrings>,
}

impl<'c> MeasuredFile<'c> {
    /// Measures a file; `has_rows` if its chunks end at line ends.
    pub(super) fn new(content: &'c mut dyn BundleContent, has_rows: bool) -> Self {
        let rows = has_rows.then(RowScanner::default);
        Self { content, digest: Sha256::new(), bytes: 0, rows, known: None }
    }

    /// Also remembers its strings.
    pub(super) fn remembering(mut self, known: &'c mut KnownStrings) -> Self {
        self.known = Some(known);
        self
    }

    /// As [`Self::finish`], for a file that may refer to the events.
    pub(super) fn finish_copying(
        mut self,
        path: &str,
        first_chunk: u64,
        known: &KnownStrings,
    ) -> Result<PageFile, BundleSourceError> {
        let mut copying = CopyingContent::new(&mut self, known);
        let mut stored = MeasuredFile::new(&mut copying, false);
        let mut buffer = vec![0; 64 * 1024];
        while stored.read(&mut buffer)? > 0 {}
        let (bytes, digest) = (stored.bytes, stored.digest.finalize().into());
        let is_ambiguous = copying.is_ambiguous;
        let starts = copying.into_starts();
        let (mut file, _) = self.finish(path, first_chunk)?;
        if !is_ambiguous {
            file.encoding = Some(copies::ENCODING);
            file.starts = starts;
            file.lengths = plain_lengths(bytes);
            file.chunks = file.lengths.len() as u64;
            file.stored_digest = digest;
        }
        Ok(file)
    }

    /// Reads the rest; returns the file as it is listed, and its rows.
    pub(super) fn finish(
        mut self,
        path: &str,
        first_chunk: u64,
    ) -> Result<(PageFile, RowTable), BundleSourceError> {
        let mut buffer = vec![0; 64 * 1024];
        while self.read(&mut buffer)? > 0 {}
        let (lengths, table) = match self.rows {
            Some(rows) => rows.finish(self.bytes),
            None => (plain_lengths(self.bytes), RowTable::default()),
        };
        let digest: [u8; 32] = self.digest.finalize().into();
        let file = PageFile {
            path: path.to_owned(),
            bytes: self.bytes,
            sha256: hex(&digest),
            chunk: first_chunk,
            chunks: lengths.len() as u64,
            encoding: None,
            starts: Vec::new(),
            lengths,
            stored_digest: digest,
        };
        Ok((file, table))
    }
}

impl BundleContent for MeasuredFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, BundleSourceError> {
        let read = self.content.read(buffer)?;
        let part = buffer.get(..read).unwrap_or_default();
        self.digest.update(part);
        self.bytes += read as u64;
        if let Some(rows) = &mut self.rows {
            rows.take(part);
        }
        if let Some(known) = &mut self.known {
            known.push(part);
        }
        Ok(read)
    }
}

/// Files without rows are cut into equal pieces.
fn plain_lengths(bytes: u64) -> Vec<u64> {
    let whole = bytes / CHUNK_BYTES;
    let mut lengths = vec![CHUNK_BYTES; usize::try_from(whole).unwrap_or(usize::MAX)];
    lengths.extend(Some(bytes % CHUNK_BYTES).filter(|rest| *rest > 0));
    lengths
}

/// The beginning of a redaction marker.
const MARKER: &[u8] = b"<redacted:";

/// Finds rows, and the chunks that they form.
#[derive(Debug)]
struct RowScanner {
    table: RowTable,
    lengths: Vec<u64>,
    /// The bytes of the chunk and of the row so far.
    chunk: u64,
    row: u64,
    /// The first row of the chunk so far.
    first_row: u64,
    /// The end of the row so far: a marker may continue in the next block.
    tail: Vec<u8>,
    finder: Finder<'static>,
}

impl Default for RowScanner {
    fn default() -> Self {
        Self {
            table: RowTable::default(),
            lengths: Vec::new(),
            chunk: 0,
            row: 0,
            first_row: 0,
            tail: Vec::new(),
            finder: Finder::new(MARKER),
        }
    }
}

impl RowScanner {
    fn take(&mut self, block: &[u8]) {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', block) {
            let part = block.get(start..=end).unwrap_or_default();
            self.look(part);
            self.end_row();
            start = end + 1;
        }
        self.look(block.get(start..).unwrap_or_default());
    }

    /// Takes a part of a row.
    fn look(&mut self, part: &[u8]) {
        self.row += part.len() as u64;
        let overlap = MARKER.len() - 1;
        self.tail.extend_from_slice(part.get(..overlap).unwrap_or(part));
        let is_redacted =
            self.finder.find(part).is_some() || self.finder.find(&self.tail).is_some();
        if is_redacted {
            self.table.mark(self.table.rows);
        }
        if let Some(end) = part.len().checked_sub(overlap) {
            self.tail.clear();
            self.tail.extend_from_slice(part.get(end..).unwrap_or_default());
        } else {
            let surplus = self.tail.len().saturating_sub(overlap);
            self.tail.drain(..surplus);
        }
    }

    fn end_row(&mut self) {
        if self.chunk > 0 && self.chunk + self.row > CHUNK_BYTES {
            self.end_chunk();
        }
        self.chunk += self.row;
        self.row = 0;
        self.tail.clear();
        self.table.rows += 1;
        if self.chunk > CHUNK_BYTES {
            self.end_chunk();
        }
    }

    fn end_chunk(&mut self) {
        self.lengths.push(self.chunk);
        self.table.first_rows.push(self.first_row);
        self.chunk = 0;
        self.first_row = self.table.rows;
    }

    fn finish(mut self, bytes: u64) -> (Vec<u64>, RowTable) {
        if self.row > 0 {
            self.end_row();
        }
        if self.chunk > 0 {
            self.end_chunk();
        }
        // A file without events is a single line end.
        if bytes == 1 && self.table.rows == 1 {
            self.table.rows = 0;
        }
        (self.lengths, self.table)
    }
}

/// Writes the chunks of a file that was measured before.
pub(super) fn write_chunks(
    file: &PageFile,
    content: &mut dyn BundleContent,
    sink: &mut dyn PageSink,
) -> Result<(), WriteError> {
    let mut buffer = vec![0; 64 * 1024];
    let mut digest = Sha256::new();
    for (number, length) in (file.chunk..).zip(&file.lengths) {
        let mut failure = None;
        let written = sink.chunk(&format!("c{number}"), &mut |out| {
            let mut left = *length;
            while left > 0 {
                let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
                let space = buffer.get_mut(..most).unwrap_or_default();
                match content.read(space) {
                    Ok(0) => return Err(changed()),
                    Ok(read) => {
                        let part = space.get(..read).unwrap_or_default();
                        digest.update(part);
                        out.write_all(part)?;
                        left -= read as u64;
                    }
                    Err(error) => {
                        failure = Some(error);
                        return Err(changed());
                    }
                }
            }
            Ok(())
        });
        if let Some(error) = failure {
            return Err(WriteError::Source(error));
        }
        written?;
    }
    let digest: [u8; 32] = digest.finalize().into();
    if content.read(&mut buffer).map_err(WriteError::Source)? > 0 || digest != file.stored_digest {
        return Err(WriteError::Output(changed()));
    }
    Ok(())
}

/// Why chunks cannot be written.
#[derive(Debug)]
pub(super) enum WriteError {
    Source(BundleSourceError),
    Output(io::Error),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

pub(super) fn changed() -> io::Error {
    io::Error::other("the bundle changed while it was read")
}
