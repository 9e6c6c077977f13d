//! Looking after what sessions leave on the disk: shortening it and clearing it
//! away.
//!
//! - `line_log` and `blob_directory`: the sidecar's lines and blobs, as `trim`
//!   edits them;
//! - `orphans`: sidecars, pointers and blobs whose session is gone.

mod blob_directory;
mod line_log;
mod orphans;

pub use self::blob_directory::FsBlobFolder;
pub use self::line_log::FsLineLog;
pub use self::orphans::{FsRemains, Remains};
