//! Session files, which other programs write: reading, following and rewriting
//! them.
//!
//! - `sources`: opening the files that a session consists of;
//! - `followed_file` and `directory_watch`: reading on while a file grows, and
//!   being woken when it does;
//! - `rewriter`: replacing a session file that its owner may be writing to;
//! - `process_table`: which processes have a file open.

#[cfg(feature = "watch")]
mod directory_watch;
mod followed_file;
mod process_table;
mod rewriter;
pub(crate) mod sources;

#[cfg(feature = "watch")]
pub use self::directory_watch::FolderWatch;
pub use self::followed_file::FollowedFile;
pub use self::process_table::ProcessTable;
pub use self::rewriter::FsSessionRewriter;
pub use self::sources::FsSources;
