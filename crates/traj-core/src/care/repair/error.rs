//! Why a file could not be examined.

use crate::port::ScratchError;

/// Why a file could not be examined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepairError {
    /// The file has many rows, and no space is left for the notes about them.
    #[error("no space left for notes about the rows")]
    NoRoom,
    /// The notes cannot be written or read.
    #[error("cannot keep notes about the rows")]
    Notes(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<ScratchError> for RepairError {
    fn from(error: ScratchError) -> Self {
        match error {
            ScratchError::Full => Self::NoRoom,
            ScratchError::Storage(source) => Self::Notes(source),
            ScratchError::Damaged => Self::Notes(error.into()),
        }
    }
}
