//! Decides which blobs can be removed with their lines.
//!
//! Any process can store a blob. It does so before it writes the line that
//! refers to the blob, and several lines can share one. So a writer that has
//! stored blobs without a line yet holds a shared lock on the directory, and a
//! writer that frees blobs holds an exclusive one. Under the exclusive lock,
//! the blobs of removed lines that no other line refers to can be removed.

use std::collections::BTreeSet;
use std::time::Duration;

use cap_std::fs::{Dir, File};
use traj_core::capture::{BlobDigest, BlobNames};

use super::roll::for_each_chunk;
use crate::error::{Context as _, FsError};
use crate::safe::directory::open_subfolder;
use crate::safe::lock::{is_locked_alone, lock_shared};
use crate::safe::open::{Access, open_replaceable};
use crate::safe::replace::sync_folder;

/// The references to blobs that one writer knows.
#[derive(Debug)]
pub(super) struct BlobReferences {
    /// Blobs that this writer stored and no line refers to yet.
    unnamed: BTreeSet<BlobDigest>,
    /// The lock that prevents others from freeing blobs while there are such
    /// blobs.
    claim: Option<File>,
    /// Blobs of removed lines. Other lines may still refer to them.
    unused: BTreeSet<BlobDigest>,
}

impl BlobReferences {
    pub(super) const fn new() -> Self {
        Self { unnamed: BTreeSet::new(), claim: None, unused: BTreeSet::new() }
    }

    /// Makes sure that a blob stays until a line refers to it.
    pub(super) fn claim(&mut self, folder: &Dir, name: &str) -> Result<(), FsError> {
        if self.claim.is_some() {
            return Ok(());
        }
        // The directory's own handle may be a path-only handle, which cannot be
        // locked.
        let handle = folder.open(".").context("open the directory", name)?;
        match lock_shared(&handle, name) {
            // Without locks, no process frees blobs either.
            Ok(()) | Err(FsError::Io { .. }) => self.claim = Some(handle),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Records whether a blob was stored.
    pub(super) fn stored(&mut self, digest: &BlobDigest, is_there: bool) {
        if is_there {
            self.unnamed.insert(digest.clone());
        }
        self.let_go_if_named();
    }

    /// Records lines that are in the sidecar now.
    pub(super) fn named(&mut self, text: &str) {
        if !self.unnamed.is_empty() {
            let names = BlobNames::of(text.as_bytes());
            self.unnamed.retain(|digest| !names.contains(digest));
        }
        self.let_go_if_named();
    }

    /// Records the blobs of removed lines.
    pub(super) fn rolled(&mut self, unused: BTreeSet<BlobDigest>) {
        self.unused.extend(unused);
    }

    /// Allows others to free blobs.
    pub(super) fn let_go(&mut self) {
        self.claim = None;
    }

    /// No more lines will be written, so blobs without a line are unused.
    pub(super) fn end(&mut self) {
        self.unnamed.clear();
        self.let_go();
    }

    fn let_go_if_named(&mut self) {
        if self.unnamed.is_empty() {
            self.let_go();
        }
    }

    /// Removes blobs of removed lines that no line of the sidecar refers to,
    /// and returns them. Does nothing while a writer has stored blobs without a
    /// line.
    pub(super) fn free(
        &mut self,
        parent: &Dir,
        sidecar: &str,
        name: &str,
        patience: Duration,
    ) -> Result<BTreeSet<BlobDigest>, FsError> {
        let mut removed = BTreeSet::new();
        if self.unused.is_empty() || !self.unnamed.is_empty() {
            return Ok(removed);
        }
        let folder = match open_subfolder(parent, name) {
            Err(error) if error.is_not_found() => {
                self.unused.clear();
                return Ok(removed);
            }
            opened => opened?,
        };
        let handle = folder.open(".").context("open the directory", name)?;
        if !is_locked_alone(&handle, name, patience) {
            return Ok(removed);
        }
        // After a power loss, the old file must not reappear without its blobs.
        sync_folder(parent, sidecar)?;
        let names = names_in(parent, sidecar)?;
        for digest in std::mem::take(&mut self.unused) {
            if !names.contains(&digest) && folder.remove_file(digest.as_str()).is_ok() {
                removed.insert(digest);
            }
        }
        Ok(removed)
    }
}

/// The blobs that a sidecar's lines refer to, including those of a torn line.
fn names_in(folder: &Dir, sidecar: &str) -> Result<BTreeSet<BlobDigest>, FsError> {
    let file = open_replaceable(folder, sidecar, Access::Read)?;
    let length = file.metadata().context("inspect", sidecar)?.len();
    let mut names = BlobNames::default();
    let read = for_each_chunk(&file, 0, length, |chunk| {
        names.read(chunk);
        Ok(())
    });
    read.context("read", sidecar)?;
    Ok(names.finish())
}
