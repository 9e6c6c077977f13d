//! A folder to work in that goes away with its value, and those that crashed
//! processes left.

use std::io;

use cap_std::fs::{Dir, DirBuilder, DirBuilderExt as _, File, MetadataExt as _};
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::error::{Context as _, FsError};
use crate::safe::directory::{make_private, open_subfolder};
#[cfg(feature = "archives")]
use crate::safe::open;
use crate::safe::open::{Access, Identity, identity_of, open_regular};
use crate::safe::temporary_name::{self, BundleOwner};

/// How often a folder is tried to be removed: the first thing that resists,
/// perhaps only for a moment, ends a try.
const REMOVALS: u32 = 3;

/// How often another process may be faster in taking for left behind what was
/// just made.
const LOSSES: u32 = 100;

/// What another host left, or what cannot be locked, is removed when it is this
/// many seconds older than a new folder: whether it is in use, locks may not tell.
const OLD_SECONDS: i64 = 24 * 60 * 60;

/// A private folder that is removed with its value.
///
/// Making one also removes those in the same place whose processes are gone.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: Dir,
    // Behind the handle above, which is closed before: where handles ran out,
    // removing needs it.
    entry: TemporaryEntry,
}

impl TemporaryFolder {
    /// Makes a folder in `parent`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(parent: &Dir) -> Result<Self, FsError> {
        const OPERATION: &str = "make a temporary folder in";
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
    #[cfg(feature = "archives")]
    pub(crate) fn remove(self) -> io::Result<()> {
        let Self { folder, entry } = self;
        drop(folder);
        entry.remove()
    }

    /// Removes what crashed processes left; what cannot be removed stays for
    /// the next time.
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
                    .and_then(|inner| inner.open(".").context("open the folder", name))
            };
            match handle.and_then(|handle| claim(parent, name, handle)) {
                Ok(LockClaim::Held(_lock)) => drop(remove(parent, name)),
                // Nobody can tell whether it is in use, but that it was not for long.
                Ok(LockClaim::WithoutLocks) if is_old => drop(remove(parent, name)),
                _ => {}
            }
        }
    }
}

/// A file or folder that is removed with its value.
#[derive(Debug)]
pub(crate) struct TemporaryEntry {
    pub(crate) parent: Dir,
    pub(crate) name: String,
    /// Tells other processes that it is in use, as long as it is held.
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
        const OPERATION: &str = "make a temporary file in";
        for _ in 0..LOSSES {
            let made = Self::make(parent, |name| open::create_private(parent, name));
            let (file, mut entry) = made.context(OPERATION, ".")?;
            if entry.claim(file.try_clone().context(OPERATION, ".")?)? {
                return Ok((entry, file));
            }
        }
        Err(FsError::Held { name: ".".to_owned() })
    }

    /// Says that it is in use; `false` when another process was faster and
    /// took it for left behind.
    fn claim(&mut self, handle: File) -> Result<bool, FsError> {
        match claim(&self.parent, &self.name, handle)? {
            LockClaim::Held(lock) => self.lock = Some(lock),
            LockClaim::WithoutLocks => {}
            LockClaim::Lost => return Ok(false),
        }
        Ok(true)
    }

    /// It has another name now and stays.
    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }

    #[cfg(feature = "archives")]
    fn remove(mut self) -> io::Result<()> {
        self.is_kept = true;
        self.clear()
    }

    /// Under its lock, so that nobody else removes it as well; where handles
    /// ran out, removing may need the one of the lock.
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
            // What cannot be removed now is swept another time.
            self.clear().ok();
        }
    }
}

fn remove(parent: &Dir, name: &str) -> io::Result<()> {
    let mut removed = Ok(());
    for _ in 0..REMOVALS {
        // A file, and a folder with nothing in it, go without another handle.
        removed = parent
            .remove_file(name)
            .or_else(|_| parent.remove_dir(name))
            .or_else(|_| parent.remove_dir_all(name));
        // What is missing may only be something in it.
        let is_gone = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
        if removed.is_ok() || parent.symlink_metadata(name).is_err_and(is_gone) {
            return Ok(());
        }
    }
    removed
}

/// What came of saying that something is in use.
#[derive(Debug)]
enum LockClaim {
    /// It is ours, as long as the handle is open.
    Held(File),
    /// It is ours, but there are no locks to say so.
    WithoutLocks,
    /// It is another process's, or gone.
    Lost,
}

/// Locks a file or folder. Who makes one and who removes those that are left
/// both do so, and both look whether it is still there: neither can have it
/// while the other does.
fn claim(parent: &Dir, name: &str, handle: File) -> Result<LockClaim, FsError> {
    match rustix::fs::flock(&handle, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Ok(LockClaim::Lost),
        Err(_) => return Ok(LockClaim::WithoutLocks),
    }
    let is_there = identity_of(parent, name)? == Some(Identity::of_file(&handle, name)?);
    Ok(if is_there { LockClaim::Held(handle) } else { LockClaim::Lost })
}
