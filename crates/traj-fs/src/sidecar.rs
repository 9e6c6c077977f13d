//! The sidecar of a session on the disk: lines beside the session file, and the
//! long strings they refer to.
//!
//! In reading order:
//!
//! - `store`: where sidecars are, and reading them;
//! - `writer`: appending batches while others may append too, and `durable`,
//!   which puts them on the disk;
//! - `handle`: the open file, and whether it is still the one under its name;
//! - `ownership`: whether a file is the sidecar of a session;
//! - `scan`: the last line number of a file that others appended to;
//! - `roll`: a new file that keeps only the newest lines;
//! - `blobs` and `blob_references`: long strings in files of their own, and
//!   which of them no line refers to any more.

mod blob_references;
mod blobs;
mod handle;
mod ownership;
mod roll;
mod scan;
mod store;
mod writer;

pub use self::store::FsTrajectoryStore;
