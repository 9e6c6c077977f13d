//! Gives a finished file its name, unless the name exists: of several writers,
//! one wins, and nobody sees a part of a file.

use std::io::{self, Write as _};

use cap_std::fs::{Dir, Permissions, PermissionsExt as _};
use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::error::{Context as _, FsError};
use crate::safe::limited_file::LimitedFile;
use crate::safe::replace::create_temporary;

/// Writes a file that only its owner can read, and gives it a name. Returns
/// whether it did; `false` if the name exists.
///
/// The content is on the disk before the file has its name. The caller syncs
/// the directory. When writing fails, nothing is left.
///
/// # Errors
/// When writing fails.
pub(crate) fn publish(folder: &Dir, name: &str, content: &[u8]) -> Result<bool, FsError> {
    const OPERATION: &str = "store";
    let (temporary, file) = create_temporary(folder, name)?;
    let mut file = LimitedFile::new(file);
    let outcome = file
        .as_file()
        .set_permissions(Permissions::from_mode(0o600))
        .and_then(|()| file.write_all(content))
        .and_then(|()| file.as_file().sync_all())
        .and_then(|()| name_once(folder, &temporary, name));
    if !matches!(outcome, Ok(true)) {
        // If this fails, a later sweep removes it.
        folder.remove_file(&temporary).ok();
    }
    outcome.context(OPERATION, name)
}

/// Renames a file, unless the new name exists. Returns whether it did.
fn name_once(folder: &Dir, temporary: &str, name: &str) -> io::Result<bool> {
    match renameat_with(folder, temporary, folder, name, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        // Some filesystems, such as those of a network, cannot.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => link_once(folder, temporary, name),
        Err(error) => Err(error.into()),
    }
}

/// The same by way of a second name, which every filesystem with hard links
/// refuses to give twice.
fn link_once(folder: &Dir, temporary: &str, name: &str) -> io::Result<bool> {
    match folder.hard_link(temporary, folder, name) {
        Ok(()) => folder.remove_file(temporary).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Dir) {
        let temporary = tempfile::tempdir().unwrap();
        #[expect(clippy::disallowed_methods, reason = "a test opens its own directory")]
        let folder = Dir::open_ambient_dir(temporary.path(), cap_std::ambient_authority()).unwrap();
        (temporary, folder)
    }

    #[test]
    fn both_ways_name_a_file_once() {
        type Way = fn(&Dir, &str, &str) -> io::Result<bool>;
        for way in [name_once as Way, link_once] {
            let (_temporary, folder) = folder();
            folder.write("one", "first").unwrap();
            folder.write("two", "second").unwrap();
            assert!(way(&folder, "one", "name").unwrap());
            assert!(!way(&folder, "two", "name").unwrap());
            assert_eq!(folder.read_to_string("name").unwrap(), "first");
            assert!(!folder.exists("one") && folder.exists("two"));
        }
    }

    #[test]
    fn a_loser_leaves_nothing() {
        let (_temporary, folder) = folder();
        assert!(publish(&folder, "name", b"first").unwrap());
        assert!(!publish(&folder, "name", b"second").unwrap());
        assert_eq!(folder.entries().unwrap().count(), 1);
        assert_eq!(folder.read("name").unwrap(), b"first");
    }
}
