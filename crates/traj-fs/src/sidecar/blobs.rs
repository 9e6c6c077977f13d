//! The blob directory beside a sidecar.

use std::collections::BTreeSet;
use std::io::{self, Read as _, Write as _};
use std::time::Duration;

use cap_std::fs::{Dir, File};
use traj_core::capture::{Blob, BlobDigest};
use traj_core::port::SidecarError;

use super::blob_references::BlobReferences;
use super::writer::sweep_after;
use crate::error::{Context as _, FsError};
use crate::safe::directory::{create_subfolder, make_private};
use crate::safe::open::{Access, make_file_private, open_regular};
use crate::safe::replace::{replace_file, sync_folder};

/// How long the last attempt to free blobs waits for other writers.
const LAST_PATIENCE: Duration = Duration::from_millis(50);

/// The blobs of one sidecar. The directory is created with the first blob.
#[derive(Debug)]
pub(super) struct SidecarBlobs {
    parent: Dir,
    name: String,
    budget: u64,
    opened: Option<Dir>,
    /// Blobs that this process wrote or verified.
    known: BTreeSet<BlobDigest>,
    references: BlobReferences,
    needs_sweep: bool,
}

impl SidecarBlobs {
    pub(super) const fn new(parent: Dir, name: String, budget: u64) -> Self {
        Self {
            parent,
            name,
            budget,
            opened: None,
            known: BTreeSet::new(),
            references: BlobReferences::new(),
            needs_sweep: true,
        }
    }

    pub(super) fn store(&mut self, blob: &Blob) -> Result<(), SidecarError> {
        if blob.text().as_ref().len() as u64 > self.budget {
            return Err(SidecarError::OverBudget { budget: self.budget });
        }
        let folder = match self.opened.take() {
            Some(folder) => folder,
            None => self.open()?,
        };
        let claimed = self.references.claim(&folder, &self.name).map_err(SidecarError::from);
        let outcome = claimed.and_then(|()| self.store_in(&folder, blob));
        self.references.stored(blob.digest(), outcome.is_ok());
        // After a failure, the directory may be gone. It is then created again.
        if outcome.as_ref().err().is_none_or(|error| !error.is_temporary()) {
            self.opened = Some(folder);
        }
        outcome
    }

    /// Records lines that were appended to the sidecar.
    pub(super) fn named(&mut self, text: &str) {
        self.references.named(text);
    }

    /// Records the blobs of removed lines.
    pub(super) fn rolled(&mut self, unused: BTreeSet<BlobDigest>) {
        self.references.rolled(unused);
    }

    /// Removes blobs that no line of the sidecar refers to any more. Failures
    /// are retried after the next lines.
    pub(super) fn free(&mut self, sidecar: &str) {
        let freed = self.references.free(&self.parent, sidecar, &self.name, Duration::ZERO);
        if let Ok(removed) = freed {
            self.known.retain(|digest| !removed.contains(digest));
        }
    }

    /// Like [`Self::free`], for the last time. No other process knows which
    /// blobs to remove, so this waits briefly for writers that hold the lock.
    pub(super) fn end(&mut self, sidecar: &str) {
        self.references.end();
        self.references.free(&self.parent, sidecar, &self.name, LAST_PATIENCE).ok();
    }

    fn open(&mut self) -> Result<Dir, FsError> {
        // A lock on a removed directory protects nothing.
        self.references.let_go();
        let folder = create_subfolder(&self.parent, &self.name)?;
        make_private(&folder, &self.name)?;
        sync_folder(&self.parent, &self.name)?;
        Ok(folder)
    }

    fn store_in(&mut self, folder: &Dir, blob: &Blob) -> Result<(), SidecarError> {
        if self.is_stored(folder, blob)? {
            return Ok(());
        }
        let name = blob.digest().as_str();
        let bytes = blob.text().as_ref().as_bytes();
        // Counted each time, because other processes add blobs too. Blobs are
        // few and large: writing one takes longer than counting all of them.
        if used_bytes(folder, &self.name, name)? + bytes.len() as u64 > self.budget {
            return Err(SidecarError::OverBudget { budget: self.budget });
        }
        replace_file(folder, name, 0o600, |file| file.write_all(bytes))?;
        if std::mem::take(&mut self.needs_sweep) {
            sweep_after(folder, name);
        }
        self.known.insert(blob.digest().clone());
        Ok(())
    }

    /// Whether a blob exists, has the right content, and is private. For a
    /// known blob, only the length is checked again.
    fn is_stored(&mut self, folder: &Dir, blob: &Blob) -> Result<bool, FsError> {
        let name = blob.digest().as_str();
        let bytes = blob.text().as_ref().as_bytes();
        let file = match open_regular(folder, name, Access::Read) {
            Err(error) if error.is_not_found() => return Ok(false),
            opened => opened?,
        };
        if file.metadata().context("inspect", name)?.len() != bytes.len() as u64 {
            return Ok(false);
        }
        if self.known.contains(blob.digest()) {
            return Ok(true);
        }
        // A blob whose mode cannot be changed is replaced, like a damaged one.
        let is_ours =
            holds(&file, bytes).context("read", name)? && make_file_private(&file, name).is_ok();
        if is_ours {
            self.known.insert(blob.digest().clone());
        }
        Ok(is_ours)
    }
}

/// Whether a file contains exactly these bytes.
fn holds(mut file: &File, bytes: &[u8]) -> io::Result<bool> {
    let mut buffer = vec![0; 64 * 1024];
    let mut rest = bytes;
    loop {
        let count = match file.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            count => count?,
        };
        if count == 0 {
            return Ok(rest.is_empty());
        }
        match buffer.get(..count).and_then(|read| rest.strip_prefix(read)) {
            Some(behind) => rest = behind,
            None => return Ok(false),
        }
    }
}

/// Bytes of all blobs except the one that is about to be replaced.
fn used_bytes(folder: &Dir, name: &str, replaced: &str) -> Result<u64, FsError> {
    let mut used = 0;
    for entry in folder.entries().context("read the directory", name)? {
        let Ok(entry) = entry else { continue };
        let name = entry.file_name();
        let is_blob = name.to_str().and_then(BlobDigest::parse).is_some();
        if is_blob && name != replaced {
            used += entry.metadata().map_or(0, |metadata| metadata.len());
        }
    }
    Ok(used)
}
