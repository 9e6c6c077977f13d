//! The rows of a session as a stream of bytes.

use std::io::{self, BufReader, Read};

use traj_core::port::Source;

/// How much is read at once.
const BLOCK: usize = 1 << 16;

/// Reads a source from its beginning.
pub(crate) struct SourceInput<'s> {
    source: &'s dyn Source,
    offset: u64,
}

impl<'s> SourceInput<'s> {
    pub(crate) fn new(source: &'s dyn Source) -> BufReader<Self> {
        BufReader::with_capacity(BLOCK, Self { source, offset: 0 })
    }
}

impl Read for SourceInput<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.source.len().saturating_sub(self.offset);
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let space = buffer.get_mut(..count).unwrap_or_default();
        self.source.read_exact_at(self.offset, space).map_err(io::Error::other)?;
        self.offset += count as u64;
        Ok(count)
    }
}
