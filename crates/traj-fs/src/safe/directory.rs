//! Opens and creates directories one component at a time, and refuses links.

use std::path::{Component, Path, PathBuf};

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};

use traj_core::port::Exposure;

use crate::error::{Context as _, FsError, Refusal};

const OPEN: &str = "open the directory";

/// Opens the directory at an absolute `path`, seen from `root`.
///
/// A symbolic link in the path is refused, except directly below the root: such
/// links belong to the system (a linked temporary directory, for example).
///
/// # Errors
/// When a component is missing, a link, or not a directory.
pub fn open_folder(root: &Dir, path: &Path) -> Result<Dir, FsError> {
    walk(root, path, open_subfolder)
}

/// How many links are followed before they count as a cycle.
const MOST_LINKS: u32 = 40;

/// Opens the directory at an absolute `path`, seen from `root`, the root of the
/// filesystem.
///
/// Links above it are followed, because the administrator of the machine made
/// them: a linked home directory, for example. The directory itself must not be
/// a link.
///
/// # Errors
/// Like [`open_folder`], and when links form a cycle.
pub(crate) fn open_folder_below_links(root: &Dir, path: &Path) -> Result<Dir, FsError> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => open_folder(root, &follow_links(root, parent)?.join(name)),
        _ => open_folder(root, path),
    }
}

/// Resolves the links in an absolute `path`.
fn follow_links(root: &Dir, path: &Path) -> Result<PathBuf, FsError> {
    let parts = |path: &Path| -> Vec<PathBuf> {
        path.components().rev().map(|part| PathBuf::from(part.as_os_str())).collect()
    };
    let (mut real, mut links) = (PathBuf::from("/"), 0);
    let mut ahead = parts(path);
    while let Some(part) = ahead.pop() {
        match part.components().next() {
            Some(Component::RootDir) => real = PathBuf::from("/"),
            Some(Component::ParentDir) => {
                real.pop();
            }
            Some(Component::Normal(name)) => {
                let next = real.join(name);
                let from_root = next.strip_prefix("/").unwrap_or(&next);
                let shown = next.to_string_lossy();
                let metadata = root.symlink_metadata(from_root).context(OPEN, &shown)?;
                if metadata.is_symlink() {
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(FsError::refused(OPEN, &shown, Refusal::Symlink));
                    }
                    let target = root.read_link_contents(from_root).context(OPEN, &shown)?;
                    ahead.extend(parts(&target));
                } else {
                    real = next;
                }
            }
            _ => {}
        }
    }
    Ok(real)
}

/// Opens the directory at an absolute `path`. Creates missing directories
/// (0700).
///
/// # Errors
/// Like [`open_folder`], and when a directory cannot be created.
pub fn create_folder(root: &Dir, path: &Path) -> Result<Dir, FsError> {
    walk(root, path, create_subfolder)
}

/// Opens a directory directly inside `parent`; a link is refused.
///
/// # Errors
/// When it is missing, a link, or not a directory.
pub fn open_subfolder(parent: &Dir, name: &str) -> Result<Dir, FsError> {
    let metadata = parent.symlink_metadata(name).context(OPEN, name)?;
    if metadata.is_symlink() {
        return Err(FsError::refused(OPEN, name, Refusal::Symlink));
    }
    if !metadata.is_dir() {
        return Err(FsError::refused(OPEN, name, Refusal::NotAFolder));
    }
    parent.open_dir_nofollow(name).context(OPEN, name)
}

/// Opens a directory directly inside `parent` and creates it (0700) if it is
/// missing.
///
/// # Errors
/// When it is a link, not a directory, or cannot be created.
pub fn create_subfolder(parent: &Dir, name: &str) -> Result<Dir, FsError> {
    match open_subfolder(parent, name) {
        Err(error) if error.is_not_found() => {}
        opened => return opened,
    }
    make_subfolder(parent, name)?;
    open_subfolder(parent, name)
}

/// Creates a directory (0700) directly inside `parent`. Returns whether it is
/// new.
pub(crate) fn make_subfolder(parent: &Dir, name: &str) -> Result<bool, FsError> {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    match parent.create_dir_with(name, &builder) {
        // Another process was faster.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        made => made.context("create the directory", name).map(|()| true),
    }
}

/// Makes one of our directories private to its owner, whatever the umask.
///
/// # Errors
/// When the mode cannot be changed.
pub(crate) fn make_private(folder: &Dir, name: &str) -> Result<(), FsError> {
    let metadata = folder.dir_metadata().context("inspect the directory", name)?;
    if metadata.mode() & 0o777 == 0o700 {
        return Ok(());
    }
    let mode = cap_std::fs::Permissions::from_mode(0o700);
    folder.set_permissions(".", mode).context("change the mode of the directory", name)
}

/// Why other users can replace files in a directory, if they can. The superuser
/// always can, and does not count.
///
/// # Errors
/// When the metadata cannot be read.
pub(crate) fn exposure_of(folder: &Dir, name: &str) -> Result<Option<Exposure>, FsError> {
    let metadata = folder.dir_metadata().context("inspect the directory", name)?;
    let (owner, ourselves) = (metadata.uid(), rustix::process::geteuid().as_raw());
    let exposure = if owner != ourselves && owner != 0 {
        Some(Exposure::ForeignOwner)
    } else {
        (metadata.mode() & 0o002 != 0).then_some(Exposure::OthersCanWrite)
    };
    Ok(exposure)
}

fn walk(
    root: &Dir,
    path: &Path,
    step: impl Fn(&Dir, &str) -> Result<Dir, FsError>,
) -> Result<Dir, FsError> {
    let mut folder = root.try_clone().context(OPEN, "/")?;
    let mut is_first = true;
    for component in path.components() {
        let name = match component {
            Component::RootDir | Component::CurDir => continue,
            Component::Normal(name) => name.to_str(),
            Component::Prefix(_) | Component::ParentDir => None,
        };
        let Some(name) = name else {
            let name = path.to_string_lossy();
            return Err(FsError::refused(OPEN, &name, Refusal::UnsafeName));
        };
        folder =
            if is_first { open_system_folder(&folder, name, &step)? } else { step(&folder, name)? };
        is_first = false;
    }
    Ok(folder)
}

/// Opens a directory directly below the root, which may be a link that the
/// system made.
fn open_system_folder(
    root: &Dir,
    name: &str,
    step: &impl Fn(&Dir, &str) -> Result<Dir, FsError>,
) -> Result<Dir, FsError> {
    let is_link = root.symlink_metadata(name).is_ok_and(|metadata| metadata.is_symlink());
    if !is_link {
        return step(root, name);
    }
    let target = root.read_link_contents(name).context(OPEN, name)?;
    // Seen from the root, an absolute and a relative target are the same.
    let target = target.strip_prefix("/").unwrap_or(&target);
    root.open_dir(target).context(OPEN, name)
}
