//! Intermediate results in memory.

use std::sync::{Arc, Mutex, PoisonError};

use crate::port::{Scratch, ScratchError};

/// A scratch file with a fixed capacity.
#[derive(Debug, Default)]
pub struct MemoryScratch {
    bytes: Vec<u8>,
    room: ByteBudget,
}

impl MemoryScratch {
    /// A file of unlimited capacity.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A file with room for this many bytes.
    #[must_use]
    pub fn with_room(bytes: usize) -> Self {
        Self::sharing(ByteBudget::of(bytes))
    }

    /// A file that shares its budget with others.
    pub(super) const fn sharing(room: ByteBudget) -> Self {
        Self { bytes: Vec::new(), room }
    }
}

impl Scratch for MemoryScratch {
    fn append(&mut self, bytes: &[u8]) -> Result<(), ScratchError> {
        if !self.room.take(bytes.len()) {
            return Err(ScratchError::Full);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ScratchError> {
        let part = usize::try_from(offset).ok().and_then(|start| {
            let end = start.checked_add(buffer.len())?;
            self.bytes.get(start..end)
        });
        let past_end = || ScratchError::Storage("read past the end of a scratch file".into());
        buffer.copy_from_slice(part.ok_or_else(past_end)?);
        Ok(())
    }
}

/// The bytes that are left; clones share them.
#[derive(Clone, Debug)]
pub(super) struct ByteBudget(Arc<Mutex<usize>>);

impl ByteBudget {
    pub(super) fn of(bytes: usize) -> Self {
        Self(Arc::new(Mutex::new(bytes)))
    }

    /// Takes this many bytes, if they are left.
    pub(super) fn take(&self, bytes: usize) -> bool {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = left.checked_sub(bytes);
        *left = rest.unwrap_or(*left);
        rest.is_some()
    }
}

impl Default for ByteBudget {
    fn default() -> Self {
        Self::of(usize::MAX)
    }
}
