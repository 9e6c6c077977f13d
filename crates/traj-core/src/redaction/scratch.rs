//! Scratch files for intermediate results: plain bytes, appended and read by
//! position. The trait is public as [`crate::port::Scratch`]; it is defined here
//! because redaction needs it and the ports need redaction.

use std::fmt::Debug;

/// Why intermediate results cannot be stored or read back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScratchError {
    /// There is no space left.
    #[error("no space left for intermediate results")]
    Full,
    /// The bytes read are not the bytes appended.
    #[error("another process changed an intermediate file")]
    Damaged,
    /// Any other failure to write or read.
    #[error("cannot keep intermediate results")]
    Storage(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A file for intermediate results: append, then read by position.
pub trait Scratch: Debug + Send {
    /// Appends bytes.
    ///
    /// # Errors
    /// [`ScratchError::Full`] when there is no space left.
    fn append(&mut self, bytes: &[u8]) -> Result<(), ScratchError>;

    /// Fills `buffer` from `offset`.
    ///
    /// # Errors
    /// When fewer bytes were appended, or they cannot be read.
    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ScratchError>;
}
