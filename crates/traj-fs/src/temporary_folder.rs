//! A folder to work in that goes away with its value, and those that crashed
//! processes left.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{
    Dir, DirBuilder, DirBuilderExt as _, File, OpenOptions, OpenOptionsExt as _, Permissions,
    PermissionsExt as _,
};
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::error::{Context as _, FsError};
use crate::folder::{make_private, open_subfolder};
use crate::open::{Access, Identity, identity_of, open_regular};

const PREFIX: &str = ".traj-bundle-";
const SUFFIX: &str = ".tmp";

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
        const OPERATION: &str = "make a temporary folder in";
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        loop {
            let make = |name: &str| parent.create_dir_with(name, &builder);
            let clone = parent.try_clone().context(OPERATION, ".")?;
            let ((), entry) = TemporaryEntry::make(clone, make).context(OPERATION, ".")?;
            let folder = match open_subfolder(&entry.parent, &entry.name) {
                Err(error) if error.is_not_found() => continue,
                opened => opened?,
            };
            let handle = folder.open(".").context(OPERATION, ".")?;
            if let Some(lock) = entry.claim(handle)? {
                let temporary = Self { folder, _lock: lock, entry };
                make_private(&temporary.folder, temporary.name())?;
                temporary.sweep();
                return Ok(temporary);
            }
        }
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
        let Ok(entries) = parent.entries() else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| *name != self.name()) else { continue };
            if !is_temporary_name(name) {
                continue;
            }
            let Ok(metadata) = parent.symlink_metadata(name) else { continue };
            let handle = if metadata.is_file() {
                open_regular(parent, name, Access::Read).ok()
            } else {
                open_subfolder(parent, name)
                    .and_then(|inner| inner.open(".").context("open", name))
                    .ok()
            };
            // Where locks are not supported, it may be in use.
            let claimed = handle.and_then(|handle| claim(parent, name, handle).ok());
            if let Some(Claim::Held(_lock)) = claimed {
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
    /// Makes something in `parent` under a name that nothing has.
    fn make<T>(parent: Dir, make: impl Fn(&str) -> io::Result<T>) -> io::Result<(T, Self)> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        loop {
            let count = COUNTER.fetch_add(1, Ordering::Relaxed);
            let name = format!("{PREFIX}{}-{count}{SUFFIX}", std::process::id());
            match make(&name) {
                Ok(made) => return Ok((made, Self { parent, name, is_kept: false })),
                // Left by a process that had our number before us.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// A new file that only its owner can read, in use as long as the handle
    /// is open.
    pub(crate) fn file(parent: &Dir) -> Result<(Self, File), FsError> {
        const OPERATION: &str = "make a temporary file in";
        loop {
            let clone = parent.try_clone().context(OPERATION, ".")?;
            let made = Self::make(clone, |name| create_file(parent, name));
            let (file, entry) = made.context(OPERATION, ".")?;
            make_owners(&file).context(OPERATION, ".")?;
            let handle = file.try_clone().context(OPERATION, ".")?;
            if entry.claim(handle)?.is_some() {
                return Ok((entry, file));
            }
        }
    }

    /// Says that it is in use, as long as the lock is held, if there are locks.
    /// `None` when another process was faster and took it for left behind.
    fn claim(&self, handle: File) -> Result<Option<Option<File>>, FsError> {
        Ok(match claim(&self.parent, &self.name, handle)? {
            Claim::Held(lock) => Some(Some(lock)),
            Claim::WithoutLocks => Some(None),
            Claim::Lost => None,
        })
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

/// What came of saying that something is in use.
#[derive(Debug)]
enum Claim {
    /// It is ours, as long as the handle is open.
    Held(File),
    /// It is ours; nobody can know, and so nobody removes it.
    WithoutLocks,
    /// It is another process's, or gone.
    Lost,
}

/// Locks a file or folder. Who makes one and who removes those that are left
/// both do so, and both look whether it is still there: neither can have it
/// while the other does.
fn claim(parent: &Dir, name: &str, handle: File) -> Result<Claim, FsError> {
    match rustix::fs::flock(&handle, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Ok(Claim::Lost),
        Err(_) => return Ok(Claim::WithoutLocks),
    }
    let is_there = identity_of(parent, name)? == Some(Identity::of_file(&handle, name)?);
    Ok(if is_there { Claim::Held(handle) } else { Claim::Lost })
}

/// Whether a name is one of temporary folders, which are removed when their
/// process is gone. Some filesystems do not tell cases apart.
pub(crate) fn is_temporary_name(name: &str) -> bool {
    let name = name.to_lowercase();
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}
