//! Why a file could not be examined.

use crate::port::BundleSinkError;

/// Why a file could not be examined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepairError {
    /// The file has many rows, and the notes about them find no room.
    #[error("no space left for notes about the rows")]
    NoRoom,
    /// The notes cannot be written or read.
    #[error("cannot keep notes about the rows")]
    Notes(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<BundleSinkError> for RepairError {
    fn from(error: BundleSinkError) -> Self {
        match error {
            BundleSinkError::Full { .. } => Self::NoRoom,
            BundleSinkError::Storage { source, .. } => Self::Notes(source),
            other => Self::Notes(other.into()),
        }
    }
}
