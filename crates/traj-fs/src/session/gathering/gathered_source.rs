//! Gathered rows, as an input.

use std::sync::Arc;

#[cfg(feature = "zstd")]
use traj_core::gather::{GatherError, RowWriter};
use traj_core::port::{Scratch as _, Source, SourceError};

use crate::scratch::FsScratch;

/// How much is copied at once.
#[cfg(feature = "zstd")]
const BLOCK: usize = 1024 * 1024;

/// Rows in a private file. They never change: the file they come from may, as
/// any file that is appended to.
#[derive(Clone, Debug)]
pub(super) struct GatheredSource {
    name: String,
    scratch: Arc<FsScratch>,
    length: u64,
}

impl GatheredSource {
    pub(super) fn new(name: &str, scratch: FsScratch, length: u64) -> Self {
        Self { name: name.to_owned(), scratch: Arc::new(scratch), length }
    }

    /// The same rows, with the name that the caller used.
    pub(super) fn named(&self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self.clone() }
    }

    /// Writes everything.
    #[cfg(feature = "zstd")]
    pub(super) fn copy_to(&self, rows: &mut RowWriter<'_>) -> Result<(), GatherError> {
        let mut block = vec![0; BLOCK];
        let mut from = 0;
        while from < self.length {
            let rest = usize::try_from(self.length - from).unwrap_or(BLOCK).min(BLOCK);
            let block = block.get_mut(..rest).unwrap_or_default();
            self.scratch.read_exact_at(from, block)?;
            rows.bytes(block)?;
            from += rest as u64;
        }
        Ok(())
    }
}

impl Source for GatheredSource {
    fn len(&self) -> u64 {
        self.length
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), SourceError> {
        let end = offset.checked_add(buffer.len() as u64);
        if end.is_none_or(|end| end > self.length) {
            return Err(SourceError::Changed { name: self.name.clone() });
        }
        if buffer.is_empty() {
            return Ok(());
        }
        self.scratch
            .read_exact_at(offset, buffer)
            .map_err(|error| SourceError::Storage { name: self.name.clone(), source: error.into() })
    }

    fn check_unchanged(&self) -> Result<(), SourceError> {
        Ok(())
    }
}
