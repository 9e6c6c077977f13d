//! The folder of blobs beside a sidecar.

use std::io::Write as _;

use cap_std::fs::Dir;
use traj_core::capture::{Blob, BlobDigest};
use traj_core::port::SidecarError;

use super::sweep_after;
use crate::error::{Context as _, FsError};
use crate::folder::{create_subfolder, make_private};
use crate::open::{Access, open_regular};
use crate::replace::{replace_file, sync_folder};

/// Blobs of one sidecar, made with the first blob.
#[derive(Debug)]
pub(super) struct BlobFolder {
    parent: Dir,
    name: String,
    budget: u64,
    opened: Option<Dir>,
    needs_sweep: bool,
}

impl BlobFolder {
    pub(super) const fn new(parent: Dir, name: String, budget: u64) -> Self {
        Self { parent, name, budget, opened: None, needs_sweep: true }
    }

    pub(super) fn store(&mut self, blob: &Blob) -> Result<(), SidecarError> {
        if blob.text().as_ref().len() as u64 > self.budget {
            return Err(SidecarError::OverBudget { budget: self.budget });
        }
        let folder = match self.opened.take() {
            Some(folder) => folder,
            None => self.open()?,
        };
        let outcome = self.store_in(&folder, blob);
        // After a failure the folder may be gone; then it is made again.
        if !matches!(outcome, Err(SidecarError::Storage { .. })) {
            self.opened = Some(folder);
        }
        outcome
    }

    fn open(&self) -> Result<Dir, FsError> {
        let folder = create_subfolder(&self.parent, &self.name)?;
        make_private(&folder, &self.name)?;
        sync_folder(&self.parent, &self.name)?;
        Ok(folder)
    }

    fn store_in(&mut self, folder: &Dir, blob: &Blob) -> Result<(), SidecarError> {
        let name = blob.digest().as_str();
        let bytes = blob.text().as_ref().as_bytes();
        let length = bytes.len() as u64;
        match open_regular(folder, name, Access::Read) {
            Ok(file) if file.metadata().context("look at", name)?.len() == length => return Ok(()),
            // Cut or grown by someone else: not what its name says.
            Ok(_) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
        // Counted anew each time, as other processes add blobs too: blobs are
        // large and few, and writing one takes longer.
        if used_bytes(folder, &self.name)? + length > self.budget {
            return Err(SidecarError::OverBudget { budget: self.budget });
        }
        replace_file(folder, name, 0o600, |file| file.write_all(bytes))?;
        if std::mem::take(&mut self.needs_sweep) {
            sweep_after(folder, name);
        }
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
