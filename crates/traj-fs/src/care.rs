//! Maintains the files that sessions leave on the disk: shortens and removes
//! them.
//!
//! - `line_log`: logs of lines, such as the queue of trims;
//! - `blob_directory`: the blobs of a sidecar;
//! - `orphans`: files of deleted sessions.

mod blob_directory;
mod line_log;
mod orphans;

pub use self::blob_directory::FsBlobFolder;
pub use self::line_log::FsLineLog;
pub use self::orphans::{FoundOrphans, FsOrphans};
