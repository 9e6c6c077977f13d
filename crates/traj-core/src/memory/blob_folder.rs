//! A blob directory in memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::error::Error;

use crate::capture::BlobDigest;
use crate::port::{BlobFolder, BlobFolderError};

/// A strict in-memory [`BlobFolder`].
#[derive(Debug, Default)]
pub struct MemoryBlobs {
    blobs: RefCell<BTreeMap<BlobDigest, Vec<u8>>>,
}

impl MemoryBlobs {
    /// Stores a string as the recorder does; returns its name.
    pub fn store(&self, content: &str) -> BlobDigest {
        let digest = BlobDigest::of(content.as_bytes());
        self.blobs.borrow_mut().insert(digest.clone(), content.as_bytes().to_vec());
        digest
    }
}

impl BlobFolder for MemoryBlobs {
    fn list(&self) -> Result<Vec<BlobDigest>, Box<dyn Error + Send + Sync>> {
        Ok(self.blobs.borrow().keys().cloned().collect())
    }

    fn read(&self, digest: &BlobDigest) -> Result<Option<Vec<u8>>, BlobFolderError> {
        Ok(self.blobs.borrow().get(digest).cloned())
    }

    fn restore(&self, digest: &BlobDigest, content: &[u8]) -> Result<(), BlobFolderError> {
        if *digest != BlobDigest::of(content) {
            return Err(BlobFolderError::new(
                digest.clone(),
                "the content does not match its digest".into(),
            ));
        }
        self.blobs.borrow_mut().insert(digest.clone(), content.to_vec());
        Ok(())
    }

    fn remove(&self, digest: &BlobDigest) -> Result<(), BlobFolderError> {
        self.blobs.borrow_mut().remove(digest);
        Ok(())
    }
}
