//! The blob directory next to a sidecar.

use std::error::Error;
use std::fmt::Debug;

use crate::capture::BlobDigest;

/// Why a blob could not be read, written or removed.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the blob {digest}")]
#[non_exhaustive]
pub struct BlobFolderError {
    /// The blob.
    pub digest: BlobDigest,
    /// Why.
    pub source: Box<dyn Error + Send + Sync>,
}

impl BlobFolderError {
    /// An error about one blob.
    #[must_use]
    pub const fn new(digest: BlobDigest, source: Box<dyn Error + Send + Sync>) -> Self {
        Self { digest, source }
    }
}

/// Reads, restores and removes the blobs of one sidecar.
pub trait BlobFolder: Debug {
    /// All blobs, sorted; entries with other names are skipped.
    ///
    /// # Errors
    /// When the directory cannot be read; a missing directory counts as empty.
    fn list(&self) -> Result<Vec<BlobDigest>, Box<dyn Error + Send + Sync>>;

    /// The content of a blob; `None` if there is no such blob.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read(&self, digest: &BlobDigest) -> Result<Option<Vec<u8>>, BlobFolderError>;

    /// Writes a blob, owner-only and atomically.
    ///
    /// # Errors
    /// When it cannot be written.
    fn restore(&self, digest: &BlobDigest, content: &[u8]) -> Result<(), BlobFolderError>;

    /// Removes a blob, if it exists.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn remove(&self, digest: &BlobDigest) -> Result<(), BlobFolderError>;
}
