//! The folder of blobs beside a sidecar.

use std::io::Write as _;

use cap_std::fs::Dir;
use traj_core::capture::{Blob, BlobDigest};
use traj_core::port::SidecarError;

use crate::error::{Context as _, FsError};
use crate::folder::{create_subfolder, make_private};
use crate::open::{Access, open_regular};
use crate::replace::replace_file;

/// Blobs of one sidecar, made with the first blob.
#[derive(Debug)]
pub(super) struct BlobFolder {
    parent: Dir,
    name: String,
    budget: u64,
    opened: Option<Dir>,
    /// Bytes of all blobs when we last looked, plus what we added since.
    used: u64,
}

impl BlobFolder {
    pub(super) const fn new(parent: Dir, name: String, budget: u64) -> Self {
        Self { parent, name, budget, opened: None, used: 0 }
    }

    pub(super) fn store(&mut self, blob: &Blob) -> Result<(), SidecarError> {
        let budget = self.budget;
        let bytes = blob.text().as_ref().as_bytes();
        if bytes.len() as u64 > budget {
            return Err(SidecarError::OverBudget { budget });
        }
        let folder = match self.opened.take() {
            Some(folder) => folder,
            None => {
                let folder = create_subfolder(&self.parent, &self.name)?;
                make_private(&folder, &self.name)?;
                self.used = used_bytes(&folder, &self.name)?;
                folder
            }
        };
        let folder = self.opened.insert(folder);
        let name = blob.digest().as_str();
        match open_regular(folder, name, Access::Read) {
            Ok(_) => return Ok(()),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
        // Other processes add blobs too; look again before it gets tight.
        if self.used + bytes.len() as u64 > budget / 2 {
            self.used = used_bytes(folder, &self.name)?;
        }
        if self.used + bytes.len() as u64 > budget {
            return Err(SidecarError::OverBudget { budget });
        }
        replace_file(folder, name, 0o600, |file| file.write_all(bytes))?;
        self.used += bytes.len() as u64;
        Ok(())
    }
}

fn used_bytes(folder: &Dir, name: &str) -> Result<u64, FsError> {
    let mut used = 0;
    for entry in folder.entries().context("read the folder", name)? {
        let Ok(entry) = entry else { continue };
        let is_blob = entry.file_name().to_str().and_then(BlobDigest::parse).is_some();
        if is_blob {
            used += entry.metadata().map_or(0, |metadata| metadata.len());
        }
    }
    Ok(used)
}
