//! A temporary directory that is removed when its value is dropped, and the
//! removal of those that crashed processes left.

use std::io;

use cap_std::fs::{Dir, DirBuilder, DirBuilderExt as _, File, MetadataExt as _};
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::error::{Context as _, FsError};
use crate::safe::directory::{make_private, open_subfolder};
#[cfg(feature = "archives")]
use crate::safe::open;
use crate::safe::open::{Access, FileIdentity, identity_of, open_regular};
use crate::safe::temporary_name::{self, BundleOwner};

/// How often to try to remove a directory. The first error ends a try, but may
/// be temporary.
const REMOVALS: u32 = 3;

/// How often a new entry may be lost to a process that takes it for a leftover.
const LOSSES: u32 = 100;

/// Where locks may not show whether a leftover is in use (from another host, or
/// without lock support), it is removed once it is this many seconds older than
/// a new directory.
const OLD_SECONDS: i64 = 24 * 60 * 60;

/// A private directory that is removed when its value is dropped.
///
/// Creating one also removes those next to it whose processes are gone.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: Dir,
    // Declared after the handle above, so that the handle is closed first: when
    // the process has run out of handles, removing needs one.
    entry: TemporaryEntry,
}

impl TemporaryFolder {
    /// Creates a directory in `parent`.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(parent: &Dir) -> Result<Self, FsError> {
        const OPERATION: &str = "create a temporary directory in";
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        for _ in 0..LOSSES {
            let make = |name: &str| parent.create_dir_with(name, &builder);
            let ((), mut entry) = TemporaryEntry::make(parent, make).context(OPERATION, ".")?;
            let folder = match open_subfolder(&entry.parent, &entry.name) {
                Err(error) if error.is_not_found() => continue,
                opened => opened?,
            };
            let handle = folder.open(".").context(OPERATION, ".")?;
            if entry.claim(handle)? {
                make_private(&folder, &entry.name)?;
                let temporary = Self { folder, entry };
                temporary.sweep();
                return Ok(temporary);
            }
        }
        Err(FsError::Held { name: ".".to_owned() })
    }

    /// The directory.
    #[must_use]
    pub const fn folder(&self) -> &Dir {
        &self.folder
    }

    /// Its parent directory.
    pub(crate) const fn parent(&self) -> &Dir {
        &self.entry.parent
    }

    /// Its name there.
    pub(crate) fn name(&self) -> &str {
        &self.entry.name
    }

    /// Keeps the directory, which has its final name now.
    pub(crate) fn keep(self) {
        self.entry.keep();
    }

    /// Removes the directory now.
    #[cfg(feature = "archives")]
    pub(crate) fn remove(self) -> io::Result<()> {
        let Self { folder, entry } = self;
        drop(folder);
        entry.remove()
    }

    /// Removes what crashed processes left. Failures are left for the next
    /// sweep.
    fn sweep(&self) {
        let parent = self.parent();
        let Ok(now) = self.folder.dir_metadata().map(|metadata| metadata.mtime()) else { return };
        let Ok(entries) = parent.entries() else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| *name != self.name()) else { continue };
            let Some(owner) = temporary_name::bundle_owner(name) else { continue };
            let Ok(metadata) = parent.symlink_metadata(name) else { continue };
            let is_old = now - metadata.mtime() >= OLD_SECONDS;
            if owner == BundleOwner::AnotherHost && !is_old {
                continue;
            }
            let handle = if metadata.is_file() {
                open_regular(parent, name, Access::Read)
            } else {
                open_subfolder(parent, name)
                    .and_then(|inner| inner.open(".").context("open the directory", name))
            };
            match handle.and_then(|handle| claim(parent, name, handle)) {
                Ok(LockClaim::Held(_lock)) => drop(remove(parent, name)),
                // Without locks, only its age shows that it is not in use.
                Ok(LockClaim::WithoutLocks) if is_old => drop(remove(parent, name)),
                _ => {}
            }
        }
    }
}

/// A file or directory that is removed when its value is dropped.
#[derive(Debug)]
pub(crate) struct TemporaryEntry {
    pub(crate) parent: Dir,
    pub(crate) name: String,
    /// Shows other processes that it is in use.
    lock: Option<File>,
    is_kept: bool,
}

impl TemporaryEntry {
    fn make<T>(parent: &Dir, make: impl Fn(&str) -> io::Result<T>) -> io::Result<(T, Self)> {
        let parent = parent.try_clone()?;
        let (made, name) = temporary_name::make_under(temporary_name::bundle_name, make)?;
        Ok((made, Self { parent, name, lock: None, is_kept: false }))
    }

    /// A new file that only its owner can read.
    #[cfg(feature = "archives")]
    pub(crate) fn file(parent: &Dir) -> Result<(Self, File), FsError> {
        const OPERATION: &str = "create a temporary file in";
        for _ in 0..LOSSES {
            let made = Self::make(parent, |name| open::create_private(parent, name));
            let (file, mut entry) = made.context(OPERATION, ".")?;
            if entry.claim(file.try_clone().context(OPERATION, ".")?)? {
                return Ok((entry, file));
            }
        }
        Err(FsError::Held { name: ".".to_owned() })
    }

    /// Marks it as in use. Returns `false` when another process was faster and
    /// took it for a leftover.
    fn claim(&mut self, handle: File) -> Result<bool, FsError> {
        match claim(&self.parent, &self.name, handle)? {
            LockClaim::Held(lock) => self.lock = Some(lock),
            LockClaim::WithoutLocks => {}
            LockClaim::Lost => return Ok(false),
        }
        Ok(true)
    }

    /// Keeps the entry, which has another name now.
    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }

    #[cfg(feature = "archives")]
    fn remove(mut self) -> io::Result<()> {
        self.is_kept = true;
        self.clear()
    }

    /// Removes the entry under its lock, so that no other process does so too.
    /// If that fails, releases the lock and tries again: the process may have
    /// run out of handles.
    fn clear(&mut self) -> io::Result<()> {
        remove(&self.parent, &self.name).or_else(|_| {
            self.lock = None;
            remove(&self.parent, &self.name)
        })
    }
}

impl Drop for TemporaryEntry {
    fn drop(&mut self) {
        if !self.is_kept {
            // If this fails, a later sweep removes it.
            self.clear().ok();
        }
    }
}

fn remove(parent: &Dir, name: &str) -> io::Result<()> {
    let mut removed = Ok(());
    for _ in 0..REMOVALS {
        // Files and empty directories need no further handle.
        removed = parent
            .remove_file(name)
            .or_else(|_| parent.remove_dir(name))
            .or_else(|_| parent.remove_dir_all(name));
        // The missing entry may be inside the directory.
        let is_gone = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
        if removed.is_ok() || parent.symlink_metadata(name).is_err_and(is_gone) {
            return Ok(());
        }
    }
    removed
}

/// The outcome of marking something as in use.
#[derive(Debug)]
enum LockClaim {
    /// It is ours while the handle is open.
    Held(File),
    /// It is ours, but the filesystem does not support locks.
    WithoutLocks,
    /// Another process has it, or it is gone.
    Lost,
}

/// Locks a file or directory. Creating one and removing a leftover both take
/// this lock and check that it still exists, so they exclude each other.
fn claim(parent: &Dir, name: &str, handle: File) -> Result<LockClaim, FsError> {
    match rustix::fs::flock(&handle, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Ok(LockClaim::Lost),
        Err(_) => return Ok(LockClaim::WithoutLocks),
    }
    let is_there = identity_of(parent, name)? == Some(FileIdentity::of_file(&handle, name)?);
    Ok(if is_there { LockClaim::Held(handle) } else { LockClaim::Lost })
}
