//! Building blocks that are safe against links, races and crashes. Everything
//! else in this crate opens, writes and removes files through them.
//!
//! In reading order:
//!
//! - `open`: regular files, never through a link, never with a second name;
//! - `directory`: directories, one path component at a time;
//! - `lock`: advisory locks between processes;
//! - `position` and `limited_file`: reading at an offset, and writing no
//!   further than the process may;
//! - `replace`: a whole new file in the place of an old one;
//! - `temporary_name` and `temporary_directory`: names and directories of work
//!   in progress, and how to recognise those a crash left;
//! - `created_directories`: directories to undo when the work fails;
//! - `remove_checked`: removing exactly the file that was inspected.

pub(crate) mod created_directories;
pub(crate) mod directory;
pub(crate) mod limited_file;
pub(crate) mod lock;
pub(crate) mod open;
pub(crate) mod position;
pub(crate) mod remove_checked;
pub(crate) mod replace;
pub(crate) mod temporary_directory;
pub(crate) mod temporary_name;
