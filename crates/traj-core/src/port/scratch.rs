//! Room for intermediate results.

use std::fmt::Debug;

/// Why intermediate results cannot be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScratchError {
    /// No space is left.
    #[error("no space left for intermediate results")]
    Full,
    /// Something else is read than what was appended.
    #[error("an intermediate file was changed from outside")]
    Damaged,
    /// Writing or reading failed in a way that callers do not tell apart.
    #[error("cannot keep intermediate results")]
    Storage(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Room for intermediate results: append, then read by position.
pub trait Scratch: Debug + Send {
    /// Appends bytes.
    ///
    /// # Errors
    /// [`ScratchError::Full`] when no space is left.
    fn append(&mut self, bytes: &[u8]) -> Result<(), ScratchError>;

    /// Fills `buffer` from `offset`.
    ///
    /// # Errors
    /// When fewer bytes were appended, or they cannot be read.
    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ScratchError>;
}
