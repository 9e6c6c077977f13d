//! The blobs of a sidecar, for maintenance after recording.

use std::error::Error;
use std::io::{Read as _, Write as _};

use cap_std::fs::Dir;
use traj_core::capture::BlobDigest;
use traj_core::port::{BlobFolder, BlobFolderError};

use crate::error::{Context as _, FsError};
use crate::safe::directory::{create_subfolder, make_private, open_subfolder};
use crate::safe::open::{Access, open_regular};
use crate::safe::replace::replace_file;

/// The blob directory `name` directly inside another directory.
#[derive(Debug)]
pub struct FsBlobFolder {
    parent: Dir,
    name: String,
}

impl FsBlobFolder {
    /// The directory with this name; it need not exist.
    #[must_use]
    pub const fn new(parent: Dir, name: String) -> Self {
        Self { parent, name }
    }

    fn open(&self) -> Result<Option<Dir>, FsError> {
        match open_subfolder(&self.parent, &self.name) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn names(&self) -> Result<Vec<BlobDigest>, FsError> {
        let Some(folder) = self.open()? else { return Ok(Vec::new()) };
        let entries = folder.entries().context("read the directory", &self.name)?;
        let mut names: Vec<BlobDigest> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str().and_then(BlobDigest::parse))
            .collect();
        names.sort();
        Ok(names)
    }

    fn content(&self, digest: &BlobDigest) -> Result<Option<Vec<u8>>, FsError> {
        let Some(folder) = self.open()? else { return Ok(None) };
        let mut file = match open_regular(&folder, digest.as_str(), Access::Read) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut content = Vec::new();
        file.read_to_end(&mut content).context("read", digest.as_str())?;
        Ok(Some(content))
    }

    fn put(&self, digest: &BlobDigest, content: &[u8]) -> Result<(), FsError> {
        let folder = create_subfolder(&self.parent, &self.name)?;
        make_private(&folder, &self.name)?;
        replace_file(&folder, digest.as_str(), 0o600, |file| file.write_all(content))
    }

    fn take_away(&self, digest: &BlobDigest) -> Result<(), FsError> {
        let Some(folder) = self.open()? else { return Ok(()) };
        match folder.remove_file(digest.as_str()).context("remove", digest.as_str()) {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(()),
        }
    }
}

fn about(digest: &BlobDigest) -> impl FnOnce(FsError) -> BlobFolderError {
    let digest = digest.clone();
    |error| BlobFolderError::new(digest, error.into())
}

impl BlobFolder for FsBlobFolder {
    fn list(&self) -> Result<Vec<BlobDigest>, Box<dyn Error + Send + Sync>> {
        self.names().map_err(Into::into)
    }

    fn read(&self, digest: &BlobDigest) -> Result<Option<Vec<u8>>, BlobFolderError> {
        self.content(digest).map_err(about(digest))
    }

    fn restore(&self, digest: &BlobDigest, content: &[u8]) -> Result<(), BlobFolderError> {
        if *digest != BlobDigest::of(content) {
            return Err(BlobFolderError::new(
                digest.clone(),
                "the content does not match its digest".into(),
            ));
        }
        self.put(digest, content).map_err(about(digest))
    }

    fn remove(&self, digest: &BlobDigest) -> Result<(), BlobFolderError> {
        self.take_away(digest).map_err(about(digest))
    }
}
