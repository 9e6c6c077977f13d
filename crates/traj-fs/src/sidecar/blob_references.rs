//! Which blobs may go when lines make room.
//!
//! A blob is stored before the line that names it, by any process, and stored
//! once however often it is named. So whoever has stored blobs and not named
//! them yet holds the folder's lock together with others like it; whoever frees
//! blobs holds it alone. Then what the sidecar's lines name is all that is
//! needed, and the rest of what went with rolled lines can go.

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

/// What one writer knows about who names which blob.
#[derive(Debug)]
pub(super) struct BlobReferences {
    /// Stored by this writer and not named by a line yet.
    unnamed: BTreeSet<BlobDigest>,
    /// Keeps others from freeing blobs while there are such.
    claim: Option<File>,
    /// Named by lines that made room, and perhaps by no other.
    unused: BTreeSet<BlobDigest>,
}

impl BlobReferences {
    pub(super) const fn new() -> Self {
        Self { unnamed: BTreeSet::new(), claim: None, unused: BTreeSet::new() }
    }

    /// Makes sure that a blob which is there stays there, from before it is
    /// looked for until it is named.
    pub(super) fn claim(&mut self, folder: &Dir, name: &str) -> Result<(), FsError> {
        if self.claim.is_some() {
            return Ok(());
        }
        // The handle of the folder itself only stands for a place.
        let handle = folder.open(".").context("open the folder", name)?;
        match lock_shared(&handle, name) {
            // Without locks nobody frees blobs either.
            Ok(()) | Err(FsError::Io { .. }) => self.claim = Some(handle),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Takes note of what became of a blob that was to be stored.
    pub(super) fn stored(&mut self, digest: &BlobDigest, is_there: bool) {
        if is_there {
            self.unnamed.insert(digest.clone());
        }
        self.let_go_if_named();
    }

    /// Takes note of lines that are in the sidecar now.
    pub(super) fn named(&mut self, text: &str) {
        if !self.unnamed.is_empty() {
            let names = BlobNames::of(text.as_bytes());
            self.unnamed.retain(|digest| !names.contains(digest));
        }
        self.let_go_if_named();
    }

    /// Takes note of the blobs of lines that made room.
    pub(super) fn rolled(&mut self, unused: BTreeSet<BlobDigest>) {
        self.unused.extend(unused);
    }

    /// Lets others free blobs.
    pub(super) fn let_go(&mut self) {
        self.claim = None;
    }

    /// No more lines will be written, so that what was to be named never is.
    pub(super) fn end(&mut self) {
        self.unnamed.clear();
        self.let_go();
    }

    fn let_go_if_named(&mut self) {
        if self.unnamed.is_empty() {
            self.let_go();
        }
    }

    /// Removes what rolled lines named and no line of the sidecar does; says
    /// which. Nothing happens while a writer is about to name a blob.
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
        let handle = folder.open(".").context("open the folder", name)?;
        if !is_locked_alone(&handle, name, patience) {
            return Ok(removed);
        }
        // After a loss of power the old file must not come back without them.
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

/// The blobs that a sidecar's lines name, a torn one's too.
fn names_in(folder: &Dir, sidecar: &str) -> Result<BTreeSet<BlobDigest>, FsError> {
    let file = open_replaceable(folder, sidecar, Access::Read)?;
    let length = file.metadata().context("look at", sidecar)?.len();
    let mut names = BlobNames::default();
    let read = for_each_chunk(&file, 0, length, |chunk| {
        names.read(chunk);
        Ok(())
    });
    read.context("read", sidecar)?;
    Ok(names.finish())
}
