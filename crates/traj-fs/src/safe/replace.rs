//! Replaces a file as a whole: readers see the old one or the new one, and a
//! crash leaves one of them.

use std::io;
use std::time::Duration;

use cap_std::fs::{Dir, File, MetadataExt as _, Permissions, PermissionsExt as _};
use cap_std::time::SystemTime;

use crate::error::{Context as _, FsError, Refusal};
use crate::safe::limited_file::LimitedFile;
use crate::safe::open::{check_kind, check_name, create_new};
use crate::safe::temporary_name;

/// Writes a new file that only its owner can read, and replaces `name` with it.
///
/// Readers see the old file or the new one, never a part. The new one is on the
/// disk before this returns. When writing fails, the old file stays.
///
/// # Errors
/// When `name` is a link, has several hard links, is not a file, or when
/// writing fails.
pub fn write_private_file(
    directory: &Dir,
    name: &str,
    write: impl FnOnce(&mut (dyn io::Write + Send)) -> io::Result<()>,
) -> Result<(), FsError> {
    replace_file(directory, name, 0o600, |file| write(file))
}

/// Writes a new file and replaces `name` with it.
///
/// The new content is on the disk before the rename, and the directory entry is
/// on the disk before this returns. The mode is `mode`, whatever the umask.
/// When anything except the sync of the directory fails, the old file stays and
/// nothing else is left.
///
/// # Errors
/// When `name` is a link, has several hard links, is not a file, or when
/// writing fails.
pub(crate) fn replace_file(
    folder: &Dir,
    name: &str,
    mode: u32,
    write: impl FnOnce(&mut LimitedFile) -> io::Result<()>,
) -> Result<(), FsError> {
    put_in_place(folder, name, mode, write)?;
    sync_folder(folder, name)
}

/// Like [`replace_file`], but the caller syncs the directory entry: an error
/// means that the old file is still there.
pub(crate) fn put_in_place(
    folder: &Dir,
    name: &str,
    mode: u32,
    write: impl FnOnce(&mut LimitedFile) -> io::Result<()>,
) -> Result<(), FsError> {
    check_target(folder, name)?;
    let rename = |temporary: &str| folder.rename(temporary, folder, name).map(|()| true);
    write_and_name(folder, name, mode, write, rename)?.context("replace", name)?;
    Ok(())
}

/// Writes a temporary file with this mode, whatever the umask, syncs it, and lets
/// `give_name` rename it, which returns whether it did. Otherwise the temporary
/// file is removed.
pub(crate) fn write_and_name(
    folder: &Dir,
    name: &str,
    mode: u32,
    write: impl FnOnce(&mut LimitedFile) -> io::Result<()>,
    give_name: impl FnOnce(&str) -> io::Result<bool>,
) -> Result<io::Result<bool>, FsError> {
    let (temporary, file) = create_temporary(folder, name)?;
    let mut file = LimitedFile::new(file);
    let outcome = file
        .as_file()
        .set_permissions(Permissions::from_mode(mode))
        .and_then(|()| write(&mut file))
        .and_then(|()| file.as_file().sync_all())
        .and_then(|()| give_name(&temporary));
    if !matches!(outcome, Ok(true)) {
        // If this fails, a later sweep removes it.
        folder.remove_file(&temporary).ok();
    }
    Ok(outcome)
}

/// Forces a directory's entries to the disk. Does nothing on filesystems that
/// do not support this.
///
/// # Errors
/// When the disk fails.
pub(crate) fn sync_folder(folder: &Dir, name: &str) -> Result<(), FsError> {
    use rustix::io::Errno;
    let synced = folder.open(".").and_then(|handle| handle.sync_all());
    match synced.as_ref().err().and_then(Errno::from_io_error) {
        Some(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        _ => synced.context("sync the directory of", name),
    }
}

/// Removes temporary files that a crash left, if they are older than `age`.
/// Returns how many were removed.
///
/// # Errors
/// When the directory cannot be read.
pub(crate) fn sweep_leftovers(
    folder: &Dir,
    now: SystemTime,
    age: Duration,
) -> Result<usize, FsError> {
    let mut swept = 0;
    for entry in folder.entries().context("read the directory", ".")? {
        let Ok(entry) = entry else { continue };
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(temporary_name::is_file);
        let is_old = || {
            let modified = folder.symlink_metadata(&name).and_then(|metadata| metadata.modified());
            modified.is_ok_and(|modified| now.duration_since(modified).is_ok_and(|past| past > age))
        };
        if is_ours && is_old() && folder.remove_file(&name).is_ok() {
            swept += 1;
        }
    }
    Ok(swept)
}

fn check_target(folder: &Dir, name: &str) -> Result<(), FsError> {
    const OPERATION: &str = "replace";
    check_name(name)?;
    match folder.symlink_metadata(name).context(OPERATION, name) {
        Ok(metadata) => {
            check_kind(&metadata, name, OPERATION)?;
            if metadata.nlink() > 1 {
                return Err(FsError::refused(OPERATION, name, Refusal::HardLink));
            }
            Ok(())
        }
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error),
    }
}

pub(crate) fn create_temporary(folder: &Dir, name: &str) -> Result<(String, File), FsError> {
    let made = temporary_name::make_under(temporary_name::file_name, |temporary| {
        create_new(folder, temporary)
    });
    let (file, temporary) = made.context("create a temporary file for", name)?;
    Ok((temporary, file))
}
