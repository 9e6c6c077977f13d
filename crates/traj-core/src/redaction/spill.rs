//! Redacted texts kept aside until their place is known.

use super::Redacted;
use crate::port::{BundleSinkError, Scratch};

/// Texts are handed to the scratch file in pieces of about this size.
const PIECE: usize = 256 * 1024;

/// Where a text lies in a spill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpillSlot {
    /// Offset of the first byte.
    pub offset: u64,
    /// Length in bytes.
    pub length: u32,
}

impl SpillSlot {
    /// A slot from its parts, as an index stores them.
    #[must_use]
    pub const fn new(offset: u64, length: u32) -> Self {
        Self { offset, length }
    }
}

/// Redacted texts in a nameless scratch file of ours. What is read back is
/// what was put in, so it stays [`Redacted`].
#[derive(Debug)]
pub struct RedactedSpill {
    scratch: Box<dyn Scratch>,
    written: u64,
    pending: Vec<u8>,
}

impl RedactedSpill {
    /// An empty spill.
    #[must_use]
    pub fn new(scratch: Box<dyn Scratch>) -> Self {
        Self { scratch, written: 0, pending: Vec::new() }
    }

    /// Keeps a text.
    ///
    /// # Errors
    /// When there is no room for it.
    pub fn push(&mut self, text: &Redacted<String>) -> Result<SpillSlot, BundleSinkError> {
        let offset = self.written + self.pending.len() as u64;
        let length = u32::try_from(text.0.len()).map_err(|_| BundleSinkError::TooLong)?;
        self.pending.extend_from_slice(text.0.as_bytes());
        if self.pending.len() >= PIECE {
            self.scratch.append(&self.pending)?;
            self.written += self.pending.len() as u64;
            self.pending.clear();
        }
        Ok(SpillSlot { offset, length })
    }

    /// Reads a text back.
    ///
    /// # Errors
    /// When the scratch file cannot be read, or holds something else.
    pub fn read(&self, slot: SpillSlot) -> Result<Redacted<String>, BundleSinkError> {
        let mut bytes = vec![0; slot.length as usize];
        match slot.offset.checked_sub(self.written) {
            None => self.scratch.read_exact_at(slot.offset, &mut bytes)?,
            Some(start) => {
                let start = usize::try_from(start).unwrap_or(usize::MAX);
                let part = self.pending.get(start..start.saturating_add(bytes.len()));
                bytes.copy_from_slice(part.ok_or(BundleSinkError::ScratchDamaged)?);
            }
        }
        String::from_utf8(bytes).map(Redacted::witness).map_err(|_| BundleSinkError::ScratchDamaged)
    }
}
