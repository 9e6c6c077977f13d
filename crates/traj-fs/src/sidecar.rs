//! The sidecar of a session on the disk: lines beside the session file, and the
//! long strings they refer to.
//!
//! In reading order:
//!
//! - `store`: finds and reads sidecars;
//! - `writer`: appends batches while others may append too; its module
//!   `durable` forces them to the disk;
//! - `handle`: the open file, and whether it is still the one under its name;
//! - `ownership`: whether a file is the sidecar of a session;
//! - `scan`: finds the last line number of a file that others appended to;
//! - `roll`: replaces the file with its newest lines;
//! - `blobs` and `blob_references`: store long strings in separate files, and
//!   remove those that no line refers to any more.

mod blob_references;
mod blobs;
mod handle;
mod ownership;
mod roll;
mod scan;
mod store;
mod writer;

pub use self::store::FsTrajectoryStore;
