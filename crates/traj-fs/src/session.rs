//! Reads, follows and rewrites session files, which other programs write.
//!
//! - `sources`: opens the files of a session;
//! - `gathering`: turns databases and compressed files into rows;
//! - `followed_file` and `directory_watch`: follow a file as it grows, with
//!   notifications of changes;
//! - `rewriter`: rewrites a session file that its owner may be writing to;
//! - `process_table`: finds out whether a process has a file open for writing.

#[cfg(feature = "watch")]
mod directory_watch;
mod followed_file;
mod gathering;
mod process_table;
mod rewriter;
pub(crate) mod sources;

#[cfg(feature = "watch")]
pub use self::directory_watch::FolderWatch;
pub use self::followed_file::FollowedFile;
pub use self::gathering::Gathering;
#[cfg(feature = "sqlite")]
pub use self::gathering::SqliteTables;
pub use self::process_table::ProcessTable;
pub use self::rewriter::FsSessionRewriter;
pub use self::sources::{FilesBeside, FsSources};
