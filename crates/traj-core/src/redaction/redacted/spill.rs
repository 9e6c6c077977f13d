//! Redacted texts that are stored in a scratch file until their position in the
//! output is known.

use super::{Redacted, RedactedText};
use crate::redaction::scratch::{Scratch, ScratchError};

/// Texts are written and read in pieces of about this size.
const PIECE: usize = 256 * 1024;

/// Why a text cannot be stored in a spill or read back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpillError {
    /// A single text is longer than a slot can describe.
    #[error("a single text is longer than 4 GiB")]
    TooLong,
    /// The scratch file failed.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
}

/// The position of a text in a spill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpillSlot {
    /// Offset of the first byte.
    pub offset: u64,
    /// Length in bytes.
    pub length: u32,
}

impl SpillSlot {
    /// A slot from the two numbers that an index stores.
    #[must_use]
    pub const fn new(offset: u64, length: u32) -> Self {
        Self { offset, length }
    }
}

/// Redacted texts in a private scratch file without a name. The bytes that are
/// read back are the bytes that were written, so they stay [`Redacted`].
#[derive(Debug)]
pub struct RedactedSpill {
    scratch: Box<dyn Scratch>,
    written: u64,
    pending: Vec<u8>,
    window: Vec<u8>,
    window_start: u64,
}

impl RedactedSpill {
    /// An empty spill.
    #[must_use]
    pub fn new(scratch: Box<dyn Scratch>) -> Self {
        Self { scratch, written: 0, pending: Vec::new(), window: Vec::new(), window_start: 0 }
    }

    /// Stores a text.
    ///
    /// # Errors
    /// When the text is too long or the scratch file is full.
    pub fn push(&mut self, text: &Redacted<String>) -> Result<SpillSlot, SpillError> {
        let offset = self.written + self.pending.len() as u64;
        let length = u32::try_from(text.0.len()).map_err(|_| SpillError::TooLong)?;
        if text.0.len() >= PIECE {
            self.write_pending()?;
            self.scratch.append(text.0.as_bytes())?;
            self.written += u64::from(length);
            return Ok(SpillSlot { offset, length });
        }
        self.pending.extend_from_slice(text.0.as_bytes());
        if self.pending.len() >= PIECE {
            self.write_pending()?;
        }
        Ok(SpillSlot { offset, length })
    }

    fn write_pending(&mut self) -> Result<(), SpillError> {
        self.scratch.append(&self.pending)?;
        self.written += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Appends a stored text to `text`.
    ///
    /// # Errors
    /// When the scratch file cannot be read or was changed.
    pub fn read_into(
        &mut self,
        slot: SpillSlot,
        text: &mut RedactedText,
    ) -> Result<(), SpillError> {
        let bytes = match slot.offset.checked_sub(self.written) {
            None => self.window(slot)?,
            Some(start) => {
                let start = usize::try_from(start).unwrap_or(usize::MAX);
                let end = start.saturating_add(slot.length as usize);
                self.pending.get(start..end).ok_or(ScratchError::Damaged)?
            }
        };
        let kept = std::str::from_utf8(bytes).map_err(|_| ScratchError::Damaged)?;
        text.push_kept(kept);
        Ok(())
    }

    /// The bytes of a slot. Reads ahead, because texts are mostly read in the order
    /// in which they were written.
    fn window(&mut self, slot: SpillSlot) -> Result<&[u8], ScratchError> {
        let length = u64::from(slot.length);
        let window_end = self.window_start + self.window.len() as u64;
        if slot.offset < self.window_start || slot.offset + length > window_end {
            let available = self.written - slot.offset;
            let wanted = length.max(PIECE as u64).min(available);
            self.window.resize(usize::try_from(wanted).unwrap_or(usize::MAX), 0);
            self.window_start = slot.offset;
            self.scratch.read_exact_at(slot.offset, &mut self.window)?;
        }
        let start = usize::try_from(slot.offset - self.window_start).unwrap_or(usize::MAX);
        let end = start.saturating_add(slot.length as usize);
        self.window.get(start..end).ok_or(ScratchError::Damaged)
    }
}

#[cfg(all(test, feature = "memory"))]
mod tests {
    use super::*;
    use crate::id::BundleName;
    use crate::memory::MemoryBundleSink;
    use crate::port::{BundleSink as _, NameTaken};

    #[test]
    fn texts_come_back_in_any_order() {
        let name = BundleName::parse("b").unwrap();
        let writer = MemoryBundleSink::new().begin(&name, NameTaken::Refuse).unwrap();
        let mut spill = RedactedSpill::new(writer.scratch().unwrap());
        let long = "é".repeat(PIECE);
        let slots: Vec<_> = (0..9)
            .map(|number| {
                let mut text = RedactedText::new();
                text.push_number(number).push_kept(&long);
                spill.push(&text.finish()).unwrap()
            })
            .collect();
        for number in [3, 0, 8, 7, 1] {
            let mut text = RedactedText::new();
            spill.read_into(slots[number], &mut text).unwrap();
            assert_eq!(text.finish().into_inner(), format!("{number}{long}"));
        }
        let past_the_end = SpillSlot::new(spill.written + 1, 99);
        assert!(spill.read_into(past_the_end, &mut RedactedText::new()).is_err());
    }
}
