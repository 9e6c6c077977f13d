//! A folder to work in that goes away with its value, and those that crashed
//! processes left.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{
    Dir, DirBuilder, DirBuilderExt as _, File, MetadataExt as _, OpenOptions, OpenOptionsExt as _,
    Permissions, PermissionsExt as _,
};
use rustix::fs::FlockOperation;

use crate::error::{Context as _, FsError};
use crate::folder::{make_private, open_subfolder};
use crate::open::{Access, open_regular};

const PREFIX: &str = ".traj-bundle-";
const SUFFIX: &str = ".tmp";

/// What crashed processes left is removed when it is this many seconds older
/// than a new folder: one that was just made may not be locked yet.
const LEFTOVER_SECONDS: i64 = 60;

/// How often a folder is tried to be removed: the first thing that resists,
/// perhaps only for a moment, ends a try.
const REMOVALS: u32 = 3;

/// A private folder that is removed with its value.
///
/// Making one also removes those in the same place whose processes are gone.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: Dir,
    /// Tells other processes that this folder is in use, as long as it is held.
    _lock: Option<File>,
    // Behind the handles above, which are closed before it is removed: where
    // handles ran out, removing needs theirs.
    entry: TemporaryEntry,
}

impl TemporaryFolder {
    /// Makes a folder in `parent`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(parent: Dir) -> Result<Self, FsError> {
        let entry = TemporaryEntry::folder(parent).context("make a folder in", ".")?;
        let folder = open_subfolder(&entry.parent, &entry.name)?;
        // Where locks are not supported, nobody removes what a crash left.
        let lock = folder.open(".").ok().and_then(lock);
        let temporary = Self { folder, _lock: lock, entry };
        make_private(&temporary.folder, temporary.name())?;
        temporary.sweep();
        Ok(temporary)
    }

    /// The folder.
    #[must_use]
    pub const fn folder(&self) -> &Dir {
        &self.folder
    }

    /// The folder it lies in.
    pub(crate) const fn parent(&self) -> &Dir {
        &self.entry.parent
    }

    /// Its name there.
    pub(crate) fn name(&self) -> &str {
        &self.entry.name
    }

    /// It has another name now and stays.
    pub(crate) fn keep(self) {
        self.entry.keep();
    }

    /// Removes it now.
    ///
    /// # Errors
    /// When something of it cannot be removed.
    pub fn remove(self) -> io::Result<()> {
        let Self { folder, _lock: lock, entry } = self;
        drop((folder, lock));
        entry.remove()
    }

    /// Removes what crashed processes left; what cannot be removed stays for
    /// the next time.
    fn sweep(&self) {
        let parent = self.parent();
        let Ok(ours) = self.folder.dir_metadata().map(|metadata| metadata.mtime()) else { return };
        let Ok(entries) = parent.entries() else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| *name != self.name()) else { continue };
            let Ok(metadata) = parent.symlink_metadata(name) else { continue };
            if !is_temporary_name(name) || ours - metadata.mtime() < LEFTOVER_SECONDS {
                continue;
            }
            let handle = if metadata.is_file() {
                open_regular(parent, name, Access::Read).ok()
            } else {
                open_subfolder(parent, name)
                    .and_then(|inner| inner.open(".").context("open", name))
                    .ok()
            };
            if handle.and_then(lock).is_some() {
                remove(parent, name).ok();
            }
        }
    }
}

/// A file or folder that is removed with its value.
#[derive(Debug)]
pub(crate) struct TemporaryEntry {
    pub(crate) parent: Dir,
    pub(crate) name: String,
    is_kept: bool,
}

impl TemporaryEntry {
    fn folder(parent: Dir) -> io::Result<Self> {
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        let ((), name) = under_free_name(|name| parent.create_dir_with(name, &builder))?;
        Ok(Self { parent, name, is_kept: false })
    }

    /// A new file that only its owner can read, in use as long as the handle
    /// is open.
    pub(crate) fn file(parent: Dir) -> io::Result<(Self, File)> {
        let (file, name) = under_free_name(|name| create_file(&parent, name))?;
        let entry = Self { parent, name, is_kept: false };
        make_owners(&file)?;
        // As for folders, a lock is good to have and no more.
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok();
        Ok((entry, file))
    }

    /// It has another name now and stays.
    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }

    fn remove(mut self) -> io::Result<()> {
        remove(&self.parent, &self.name)?;
        self.is_kept = true;
        Ok(())
    }
}

impl Drop for TemporaryEntry {
    fn drop(&mut self) {
        if !self.is_kept {
            // What cannot be removed now is swept another time.
            remove(&self.parent, &self.name).ok();
        }
    }
}

/// Makes a new file that only its owner can read.
pub(crate) fn create_private(folder: &Dir, name: &str) -> io::Result<File> {
    let file = create_file(folder, name)?;
    make_owners(&file)?;
    Ok(file)
}

fn create_file(folder: &Dir, name: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600).follow(FollowSymlinks::No);
    folder.open_with(name, &options)
}

/// Gives a new file its mode, whatever the umask.
fn make_owners(file: &File) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(0o600))
}

fn remove(parent: &Dir, name: &str) -> io::Result<()> {
    let mut removed = Ok(());
    for _ in 0..REMOVALS {
        // A file, and a folder with nothing in it, go without another handle.
        removed = parent
            .remove_file(name)
            .or_else(|_| parent.remove_dir(name))
            .or_else(|_| parent.remove_dir_all(name));
        let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        if removed.as_ref().err().is_none_or(is_gone) {
            return Ok(());
        }
    }
    removed
}

/// Locks a file or folder, unless another process holds it.
fn lock(handle: File) -> Option<File> {
    rustix::fs::flock(&handle, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(handle)
}

/// Whether a name is one of temporary folders, which are removed when their
/// process is gone. Some filesystems do not tell cases apart.
pub(crate) fn is_temporary_name(name: &str) -> bool {
    let name = name.to_lowercase();
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// Makes something under a name that nothing has.
fn under_free_name<T>(make: impl Fn(&str) -> io::Result<T>) -> io::Result<(T, String)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    loop {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{count}{SUFFIX}", std::process::id());
        match make(&name) {
            Ok(made) => return Ok((made, name)),
            // Left by a process that had our number before us.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
