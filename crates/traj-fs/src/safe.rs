//! Building blocks that are safe against links, races and crashes. Everything
//! else in this crate opens, writes and removes files through them.
//!
//! In reading order:
//!
//! - `open`: opens regular files, never through a link, never with a second
//!   name;
//! - `directory`: opens and creates directories, one path component at a time;
//! - `lock`: advisory locks between processes;
//! - `lease`: files that exist as long as their process does something;
//! - `position` and `limited_file`: read at an offset, and write up to the file
//!   size limit;
//! - `replace`: replaces a file as a whole;
//! - `publish`: gives a finished file its name, unless the name exists;
//! - `temporary_name` and `temporary_directory`: names and directories of work
//!   in progress, and how to recognise those a crash left;
//! - `created_directories`: directories that are removed again if the work
//!   fails;
//! - `remove_checked`: removes exactly the file that was inspected.

pub(crate) mod created_directories;
pub(crate) mod directory;
pub(crate) mod lease;
pub(crate) mod limited_file;
pub(crate) mod lock;
pub(crate) mod open;
pub(crate) mod position;
pub(crate) mod publish;
pub(crate) mod remove_checked;
pub(crate) mod replace;
pub(crate) mod temporary_directory;
pub(crate) mod temporary_name;

/// A directory of a test, and its handle.
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test opens its own directory")]
pub(crate) fn test_directory() -> (tempfile::TempDir, cap_std::fs::Dir) {
    let temporary = tempfile::tempdir().unwrap();
    let authority = cap_std::ambient_authority();
    let folder = cap_std::fs::Dir::open_ambient_dir(temporary.path(), authority).unwrap();
    (temporary, folder)
}
