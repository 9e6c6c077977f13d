//! A source or a range of it, read from start to end and optionally digested.

use sha2::{Digest as _, Sha256};
use traj_core::port::Source;

use crate::json_stream::rows::ByteRange;
use crate::json_stream::splitter::{ByteStream, ReadError};

/// How much is read at once when the bytes are only digested.
const PIECE: usize = 64 * 1024;

/// The bytes of a range of a source.
pub(crate) struct SourceBytes<'s> {
    source: &'s dyn Source,
    place: ByteRange,
    at: u64,
}

impl<'s> SourceBytes<'s> {
    /// The whole source.
    pub(crate) fn new(source: &'s dyn Source) -> Self {
        Self::at(source, ByteRange { offset: 0, length: source.len() })
    }

    /// A range of a source.
    pub(crate) const fn at(source: &'s dyn Source, place: ByteRange) -> Self {
        Self { source, place, at: 0 }
    }
}

impl ByteStream for SourceBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let left = usize::try_from(self.place.length - self.at).unwrap_or(usize::MAX);
        let part = buffer.get_mut(..left.min(buffer.len())).unwrap_or_default();
        self.source.read_exact_at(self.place.offset + self.at, part)?;
        self.at += part.len() as u64;
        Ok(part.len())
    }
}

/// A source that is digested as it is read.
pub(crate) struct DigestedBytes<'s> {
    bytes: SourceBytes<'s>,
    digest: Sha256,
}

impl<'s> DigestedBytes<'s> {
    pub(crate) fn new(source: &'s dyn Source) -> Self {
        Self { bytes: SourceBytes::new(source), digest: Sha256::new() }
    }

    /// Reads to the end and returns the digest of the whole source.
    pub(crate) fn finish(mut self) -> Result<[u8; 32], ReadError> {
        let mut piece = vec![0; PIECE];
        while self.read(&mut piece)? > 0 {}
        Ok(self.digest.finalize().into())
    }
}

impl ByteStream for DigestedBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let read = self.bytes.read(buffer)?;
        self.digest.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}
