//! Gives a finished file its name, unless the name exists: of several writers,
//! one wins, and nobody sees a part of a file.

use std::io::{self, Write as _};

use cap_std::fs::Dir;
use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::error::{Context as _, FsError};
use crate::safe::replace::write_and_name;

/// Writes a file that only its owner can read, and gives it a name. Returns
/// whether it did; `false` if the name exists.
///
/// The content is on the disk before the file has its name. The caller syncs
/// the directory. When writing fails, nothing is left.
///
/// # Errors
/// When writing fails.
pub(crate) fn publish(folder: &Dir, name: &str, content: &[u8]) -> Result<bool, FsError> {
    let rename = |temporary: &str| name_once(folder, temporary, name);
    write_and_name(folder, name, 0o600, |file| file.write_all(content), rename)?
        .context("store", name)
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
    use crate::safe::test_directory as folder;

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
