//! Removes exactly the file that was inspected.

use cap_std::fs::{Dir, File};
use rustix::fs::{RenameFlags, renameat_with};
use traj_core::capture::BlobDigest;

use crate::error::{Context as _, FsError, Refusal};
use crate::safe::directory::open_subfolder;
use crate::safe::open::{FileIdentity, identity_of};
use crate::safe::replace::sync_folder;
use crate::safe::temporary_name;

/// Removes the file `name` if it is still the one that was opened as
/// `inspected`.
///
/// The file is first renamed to an unknown name, then inspected again. If it
/// was replaced in the meantime, the other file gets its name back.
///
/// # Errors
/// When another file has the name, or it cannot be removed.
pub(crate) fn remove_inspected(folder: &Dir, name: &str, inspected: &File) -> Result<(), FsError> {
    const OPERATION: &str = "remove";
    let expected = FileIdentity::of_file(inspected, name)?;
    let aside = temporary_name::file_name();
    renameat_with(folder, name, folder, &aside, RenameFlags::NOREPLACE)
        .map_err(std::io::Error::from)
        .context(OPERATION, name)?;
    if identity_of(folder, &aside)? != Some(expected) {
        // This is another file. If its name is taken by now, it keeps the new
        // name.
        renameat_with(folder, &aside, folder, name, RenameFlags::NOREPLACE).ok();
        return Err(FsError::refused(OPERATION, name, Refusal::Swapped));
    }
    folder.remove_file(&aside).context(OPERATION, name)?;
    sync_folder(folder, name)
}

/// Removes every blob in a directory, and the directory itself unless it
/// contains something else. Returns whether the directory is gone.
///
/// # Errors
/// When it is a link, is not a directory, or cannot be emptied.
pub(crate) fn remove_blobs(parent: &Dir, name: &str) -> Result<bool, FsError> {
    let folder = open_subfolder(parent, name)?;
    for entry in folder.entries().context("read the directory", name)?.flatten() {
        let entry = entry.file_name();
        if let Some(blob) = entry.to_str().and_then(BlobDigest::parse) {
            folder.remove_file(blob.as_str()).context("remove", blob.as_str())?;
        }
    }
    let is_gone = parent.remove_dir(name).is_ok();
    sync_folder(parent, name)?;
    Ok(is_gone)
}
