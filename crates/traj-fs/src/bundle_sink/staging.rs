//! The hidden folder in which a bundle is made.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::{Dir, DirBuilder, DirBuilderExt as _, File, MetadataExt as _};
use rustix::fs::{FlockOperation, RenameFlags};

use super::create_private;
use crate::error::{Context as _, FsError};
use crate::folder::{make_private, open_subfolder};

const PREFIX: &str = ".traj-bundle-";
const SUFFIX: &str = ".tmp";

/// Folders of crashed exports are removed when they are this many seconds
/// older than a new one: a folder that was just made may not be locked yet.
const LEFTOVER_SECONDS: i64 = 60;

/// A folder that goes away unless it is kept.
#[derive(Debug)]
pub(super) struct Staging {
    root: Dir,
    name: String,
    folder: Dir,
    /// Tells other exports that this folder is in use, as long as it is held.
    _lock: Option<File>,
    is_kept: bool,
}

impl Staging {
    /// Makes the folder, and removes those of exports that crashed.
    pub(super) fn create(root: Dir) -> Result<Self, FsError> {
        let name = make_folder(&root).context("make a folder in", ".")?;
        let folder = open_subfolder(&root, &name)?;
        // Where locks are not supported, age alone has to tell.
        let lock = lock(&folder);
        let staging = Self { root, name, folder, _lock: lock, is_kept: false };
        make_private(&staging.folder, &staging.name)?;
        staging.sweep();
        Ok(staging)
    }

    pub(super) const fn root(&self) -> &Dir {
        &self.root
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) const fn folder(&self) -> &Dir {
        &self.folder
    }

    /// A file without a name, gone when it is closed.
    pub(super) fn nameless(&self) -> io::Result<File> {
        let name = unique_name();
        let file = create_private(&self.folder, &name)?;
        self.folder.remove_file(&name)?;
        Ok(file)
    }

    /// Forces the folder's entries to the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        if let Ok(blobs) = self.folder.open_dir("blobs") {
            blobs.open(".")?.sync_all()?;
        }
        self.folder.open(".")?.sync_all()
    }

    /// The folder has another name now and stays.
    pub(super) const fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Removes what crashed exports left; what cannot be removed stays for the
    /// next time.
    fn sweep(&self) {
        let Ok(ours) = self.folder.dir_metadata().map(|metadata| metadata.mtime()) else { return };
        let Ok(entries) = self.root.entries() else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| *name != self.name) else { continue };
            if !is_reserved(name) {
                continue;
            }
            let Ok(metadata) = self.root.symlink_metadata(name) else { continue };
            if ours - metadata.mtime() < LEFTOVER_SECONDS {
                continue;
            }
            if metadata.is_file() {
                self.root.remove_file(name).ok();
            } else if let Ok(folder) = open_subfolder(&self.root, name)
                && lock(&folder).is_some()
            {
                self.root.remove_dir_all(name).ok();
            }
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.is_kept {
            // The next export removes what cannot be removed now.
            self.root.remove_dir_all(&self.name).ok();
        }
    }
}

/// Locks a folder, unless another process holds it. The handle of the folder
/// itself only stands for a place, so it is opened once more.
fn lock(folder: &Dir) -> Option<File> {
    let handle = folder.open(".").ok()?;
    rustix::fs::flock(&handle, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(handle)
}

/// Whether a name is one of bundles in the making, which are removed when
/// their export is gone. Some filesystems do not tell cases apart.
pub(super) fn is_reserved(name: &str) -> bool {
    let name = name.to_lowercase();
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// A name that no running export uses.
pub(super) fn unique_name() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("{PREFIX}{}-{count}{SUFFIX}", std::process::id())
}

fn make_folder(root: &Dir) -> io::Result<String> {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    loop {
        let name = unique_name();
        match root.create_dir_with(&name, &builder) {
            Ok(()) => return Ok(name),
            // Left by a process that had our number before us.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Renames, but never over something.
pub(super) fn rename_to_free(root: &Dir, from: &str, folder: &Dir, to: &str) -> io::Result<()> {
    match rustix::fs::renameat_with(root, from, folder, to, RenameFlags::NOREPLACE) {
        // Some filesystems do not know the flag; a check has to do there.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            if folder.symlink_metadata(to).is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            root.rename(from, folder, to)
        }
        Err(rustix::io::Errno::NOTEMPTY) => Err(io::ErrorKind::AlreadyExists.into()),
        renamed => Ok(renamed?),
    }
}
