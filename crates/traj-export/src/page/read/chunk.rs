//! The content of a chunk: deflate data, encoded as base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Decompress, FlushDecompress, Status};
use traj_core::port::BundleSourceError;

use super::{PageBytes, damaged};
use crate::page::sink::CLOSING;

/// How much base64 is decoded at a time: a multiple of four.
const BLOCK: usize = 16 * 1024;

/// A chunk that is being read.
#[derive(Debug)]
pub(in crate::page) struct ChunkContent {
    inflate: Decompress,
    /// Decoded, and not inflated yet.
    packed: Vec<u8>,
    taken: usize,
    /// Whether the base64 was padded, which only its end is.
    is_padded: bool,
    is_over: bool,
}

impl Default for ChunkContent {
    fn default() -> Self {
        Self {
            inflate: Decompress::new(false),
            packed: Vec::new(),
            taken: 0,
            is_padded: false,
            is_over: false,
        }
    }
}

impl ChunkContent {
    /// Fills the front of `buffer`; returns how much, nothing at the end. The
    /// tag that closes the chunk is taken then.
    pub(in crate::page) fn read(
        &mut self,
        page: &mut PageBytes<'_>,
        buffer: &mut [u8],
    ) -> Result<usize, BundleSourceError> {
        while !self.is_over {
            if self.taken == self.packed.len() {
                self.decode(page)?;
            }
            let packed = self.packed.get(self.taken..).unwrap_or_default();
            let (packed_before, made_before) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self
                .inflate
                .decompress(packed, buffer, FlushDecompress::None)
                .map_err(|_| damaged("a chunk is not compressed data"))?;
            let used = self.inflate.total_in() - packed_before;
            let made = self.inflate.total_out() - made_before;
            self.taken += usize::try_from(used).unwrap_or(usize::MAX);
            if status == Status::StreamEnd {
                self.end(page)?;
            } else if used == 0 && made == 0 {
                return Err(damaged("a chunk is truncated"));
            }
            if made > 0 {
                return Ok(usize::try_from(made).unwrap_or(usize::MAX));
            }
        }
        Ok(0)
    }

    /// Decodes the next block of base64; leaves nothing at its end.
    fn decode(&mut self, page: &mut PageBytes<'_>) -> Result<(), BundleSourceError> {
        (self.taken, self.packed) = (0, std::mem::take(&mut self.packed));
        self.packed.clear();
        let mut block = Vec::with_capacity(BLOCK);
        while block.len() < BLOCK {
            let next = page.peek()?;
            let next = next.get(..BLOCK - block.len()).unwrap_or(next);
            let end = memchr::memchr(b'<', next).unwrap_or(next.len());
            if end == 0 {
                break;
            }
            block.extend_from_slice(next.get(..end).unwrap_or_default());
            page.take(end);
        }
        if block.is_empty() {
            return Ok(());
        }
        if std::mem::replace(&mut self.is_padded, block.last() == Some(&b'=')) {
            return Err(damaged("a chunk is not base64"));
        }
        STANDARD.decode_vec(&block, &mut self.packed).map_err(|_| damaged("a chunk is not base64"))
    }

    /// Nothing comes after the compressed data.
    fn end(&mut self, page: &mut PageBytes<'_>) -> Result<(), BundleSourceError> {
        if self.taken < self.packed.len() {
            return Err(damaged("a chunk contains more than its data"));
        }
        page.expect(CLOSING.as_bytes())?;
        self.is_over = true;
        Ok(())
    }
}
