//! Opens files that must be regular, have one name and not be links.

use std::io;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{
    Dir, File, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt as _, Permissions,
    PermissionsExt as _,
};

use crate::error::{Context as _, FsError, Refusal};

/// How many times in a row a file may be replaced while it is being opened.
const SWAPS: u32 = 100;

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reading a file that anyone may have written.
    Read,
    /// Appending to one of our files, which is created (0600) if it is missing.
    Append,
    /// Reading and writing one of our files, which is created (0600) if it is
    /// missing.
    Update,
}

/// Which file a handle or a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    /// The identity of an open file.
    ///
    /// # Errors
    /// When the metadata cannot be read.
    pub(crate) fn of_file(file: &File, name: &str) -> Result<Self, FsError> {
        file.metadata().map(|metadata| Self::of(&metadata)).context("inspect", name)
    }
}

/// The identity of the file that has this name now; `None` when there is none.
///
/// # Errors
/// When the metadata cannot be read.
pub(crate) fn identity_of(folder: &Dir, name: &str) -> Result<Option<FileIdentity>, FsError> {
    match folder.symlink_metadata(name).context("inspect", name) {
        Ok(metadata) => Ok(Some(FileIdentity::of(&metadata))),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens a regular file directly inside `directory`, for reading.
///
/// A link, FIFO, device or directory in its place is refused, without blocking.
///
/// # Errors
/// When it is missing, refused, or cannot be opened.
pub fn open_file(directory: &Dir, name: &str) -> Result<File, FsError> {
    open_regular(directory, name, Access::Read)
}

/// Opens a regular file directly inside `folder`.
///
/// A link, FIFO, device or directory is refused, without blocking, and so is
/// one of our files that has a second name. The mode of our files is 0600
/// afterwards.
///
/// # Errors
/// When it is missing (for [`Access::Read`]), refused, or cannot be opened.
pub(crate) fn open_regular(folder: &Dir, name: &str, access: Access) -> Result<File, FsError> {
    let file = open_unchanged(folder, name, access)?;
    if access != Access::Read {
        make_file_private(&file, name)?;
    }
    Ok(file)
}

/// Creates a new file (0600, less the umask).
pub(crate) fn create_new(folder: &Dir, name: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600).follow(FollowSymlinks::No);
    folder.open_with(name, &options)
}

/// Creates a new file that only its owner can read and write, whatever the
/// umask. On failure, no file is left.
pub(crate) fn create_private(folder: &Dir, name: &str) -> io::Result<File> {
    let file = create_new(folder, name)?;
    match file.set_permissions(Permissions::from_mode(0o600)) {
        Ok(()) => Ok(file),
        Err(error) => {
            folder.remove_file(name).ok();
            Err(error)
        }
    }
}

/// Makes one of our files private to its owner, whatever the umask.
pub(crate) fn make_file_private(file: &File, name: &str) -> Result<(), FsError> {
    if file.metadata().context("inspect", name)?.mode() & 0o777 == 0o600 {
        return Ok(());
    }
    file.set_permissions(Permissions::from_mode(0o600)).context("change the mode of", name)
}

/// Like [`open_regular`], but does not change the mode.
fn open_unchanged(folder: &Dir, name: &str, access: Access) -> Result<File, FsError> {
    const OPERATION: &str = "open";
    check_name(name)?;
    let before = match folder.symlink_metadata(name).context(OPERATION, name) {
        Ok(metadata) => {
            check_kind(&metadata, name, OPERATION)?;
            Some(FileIdentity::of(&metadata))
        }
        Err(error) if error.is_not_found() => None,
        Err(error) => return Err(error),
    };
    let file = folder.open_with(name, &options(access)).context(OPERATION, name)?;
    let metadata = file.metadata().context(OPERATION, name)?;
    check_kind(&metadata, name, OPERATION)?;
    if before.is_some_and(|before| before != FileIdentity::of(&metadata)) {
        return Err(FsError::refused(OPERATION, name, Refusal::Swapped));
    }
    if access != Access::Read && metadata.nlink() > 1 {
        return Err(FsError::refused(OPERATION, name, Refusal::HardLink));
    }
    Ok(file)
}

/// Like [`open_regular`], for a file that our own processes replace as a whole.
/// A replacement during the call is not an attack, unless it never ends.
pub(crate) fn open_replaceable(folder: &Dir, name: &str, access: Access) -> Result<File, FsError> {
    while_swapped(|| open_regular(folder, name, access))
}

/// Like [`open_replaceable`], for a file that may belong to another program:
/// its mode is not changed.
pub(crate) fn open_unknown(folder: &Dir, name: &str, access: Access) -> Result<File, FsError> {
    while_swapped(|| open_unchanged(folder, name, access))
}

fn while_swapped(mut open: impl FnMut() -> Result<File, FsError>) -> Result<File, FsError> {
    for _ in 0..SWAPS {
        match open() {
            Err(error) if error.refusal() == Some(Refusal::Swapped) => {}
            opened => return opened,
        }
    }
    open()
}

fn options(access: Access) -> OpenOptions {
    let mut options = OpenOptions::new();
    match access {
        Access::Read => options.read(true),
        Access::Append => options.read(true).append(true).create(true),
        Access::Update => options.read(true).write(true).create(true),
    };
    options.mode(0o600).follow(FollowSymlinks::No);
    // A FIFO that replaced the file must not block us.
    options.custom_flags(i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0));
    options
}

/// Refuses names that are not a single plain component.
pub(crate) fn check_name(name: &str) -> Result<(), FsError> {
    let is_plain = !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\0']);
    if is_plain { Ok(()) } else { Err(FsError::refused("open", name, Refusal::UnsafeName)) }
}

pub(crate) fn check_kind(
    metadata: &Metadata,
    name: &str,
    operation: &'static str,
) -> Result<(), FsError> {
    if metadata.is_symlink() {
        Err(FsError::refused(operation, name, Refusal::Symlink))
    } else if metadata.is_file() {
        Ok(())
    } else {
        Err(FsError::refused(operation, name, Refusal::NotRegular))
    }
}
