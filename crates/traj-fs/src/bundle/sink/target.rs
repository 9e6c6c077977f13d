//! Where a bundle appears, and how it is published: with one rename that never
//! overwrites anything.

use std::io;

use cap_std::fs::Dir;
use rustix::fs::RenameFlags;
use traj_core::id::BundleName;
use traj_core::port::{BundleFile, BundleSinkError, NameTaken};

use super::{BundleForm, from_fs, sink_error};
use crate::safe::created_directories::CreatedDirectories;
use crate::safe::directory::open_subfolder;
use crate::safe::replace::sync_folder;
use crate::safe::temporary_name::is_reserved;

/// Where a bundle will appear.
#[derive(Debug)]
pub(super) struct BundleTarget {
    pub(super) name: BundleName,
    pub(super) form: BundleForm,
    pub(super) taken: NameTaken,
}

impl BundleTarget {
    /// The path below the root; numbers above one are appended.
    fn path(&self, number: u32) -> String {
        let name = if number > 1 { self.name.with_counter(number) } else { self.name.clone() };
        let extension = self.form.extension();
        let plain = name.as_str().strip_suffix(extension).unwrap_or(name.as_str());
        format!("{plain}{extension}")
    }

    /// Checks that the path is free and safe before any work is done.
    pub(super) fn check_place(&self, root: &Dir) -> Result<(), BundleSinkError> {
        let path = self.path(1);
        if path.split('/').any(is_reserved) {
            return Err(BundleSinkError::ReservedName { name: path });
        }
        let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
        let last = parts.pop().unwrap_or_default();
        let Some(folder) = self.check_way(root, &parts)? else { return Ok(()) };
        if folder.symlink_metadata(last).is_ok() && self.taken == NameTaken::Refuse {
            return Err(BundleSinkError::Exists { name: path });
        }
        Ok(())
    }

    /// Checks the directories on a path from `root`, as far as they exist.
    /// Returns the last one if all exist. A bundle inside another bundle would
    /// make that one invalid.
    pub(super) fn check_way(
        &self,
        root: &Dir,
        way: &[String],
    ) -> Result<Option<Dir>, BundleSinkError> {
        let name = || self.path(1);
        let mut folder = root.try_clone().map_err(|error| sink_error(&name(), error))?;
        let mut way = way.iter();
        loop {
            if is_bundle(&folder) {
                return Err(BundleSinkError::InsideBundle { name: name() });
            }
            let Some(part) = way.next() else { return Ok(Some(folder)) };
            folder = match open_subfolder(&folder, part) {
                Ok(inner) => inner,
                Err(error) if error.is_not_found() => return Ok(None),
                Err(error) => return Err(from_fs(&name(), error)),
            };
        }
    }

    /// Renames `staged` in `root` to its final name, durably, and returns the
    /// name. On failure, `staged` is unchanged.
    pub(super) fn publish(&self, root: &Dir, staged: &str) -> Result<String, BundleSinkError> {
        for number in 1.. {
            let path = self.path(number);
            let (parents, last) = path.rsplit_once('/').unwrap_or(("", &path));
            let parents = parents.split('/').filter(|part| !part.is_empty());
            let mut made = CreatedDirectories::default();
            let folder = made.open(root, parents).map_err(|error| from_fs(&path, error))?;
            match rename_to_free(root, staged, &folder, last) {
                Ok(()) => {}
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(sink_error(&path, error));
                }
                Err(_) if self.taken == NameTaken::Refuse => {
                    return Err(BundleSinkError::Exists { name: path });
                }
                Err(_) => continue,
            }
            if let Err(error) = sync_folder(&folder, last).and_then(|()| made.sync()) {
                // The bundle may not survive a crash, so it is not reported as
                // published.
                return Err(match rename_to_free(&folder, last, root, staged) {
                    Ok(()) => from_fs(&path, error),
                    Err(_) => BundleSinkError::Unconfirmed { name: path },
                });
            }
            made.keep();
            return Ok(path);
        }
        Err(BundleSinkError::Exists { name: self.path(1) })
    }
}

/// Whether a directory is a bundle: it has the files that every bundle has. A
/// manifest alone is not enough, because many directories have one.
#[must_use]
pub fn is_bundle(folder: &Dir) -> bool {
    BundleFile::ALWAYS.iter().all(|file| folder.symlink_metadata(file.to_string()).is_ok())
}

/// Renames without overwriting anything.
fn rename_to_free(root: &Dir, from: &str, folder: &Dir, to: &str) -> io::Result<()> {
    match rustix::fs::renameat_with(root, from, folder, to, RenameFlags::NOREPLACE) {
        // Some filesystems do not support the flag. There, check first.
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
