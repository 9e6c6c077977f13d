//! Files that exist as long as their process does something.
//!
//! The lock counts, not the file: the system releases it when the process ends,
//! and a file that stays behind is used again or removed.

use cap_std::fs::{Dir, File};

use crate::error::{Context as _, FsError};
use crate::safe::lock::try_lock;
use crate::safe::open::{Access, FileIdentity, identity_of, open_replaceable};

/// How many times in a row a holder may remove the file while we lock it.
const SWAPS: u32 = 100;

/// A locked file, which is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    folder: Dir,
    name: String,
    /// Closing it releases the lock, after the file was removed.
    _file: File,
}

impl Lease {
    /// Creates and locks a file; `None` if somebody else holds it. Never waits.
    ///
    /// # Errors
    /// When the file is refused, or the filesystem does not support locks.
    pub(crate) fn try_take(folder: &Dir, name: &str) -> Result<Option<Self>, FsError> {
        for _ in 0..SWAPS {
            let file = match open_replaceable(folder, name, Access::Update) {
                // The holder removed it while it was opened.
                Err(error) if error.is_not_found() => continue,
                opened => opened?,
            };
            if !try_lock(&file, name)? {
                return Ok(None);
            }
            // The holder may have removed the file before it released the lock.
            if identity_of(folder, name)? == Some(FileIdentity::of_file(&file, name)?) {
                let folder = folder.try_clone().context("open", name)?;
                return Ok(Some(Self { folder, name: name.to_owned(), _file: file }));
            }
        }
        Ok(None)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // A file that stays is used by the next holder.
        self.folder.remove_file(&self.name).ok();
    }
}
