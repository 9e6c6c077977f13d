//! Detects whether files changed, without reading them.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use cap_std::fs::{Dir, Metadata, MetadataExt as _};
use serde::{Deserialize, Serialize};
use traj_core::timestamp::UnixMillis;
use traj_fs::open_subfolder;

/// How many levels below a session's directory its files may be.
const DEEPEST: usize = 3;

/// The size, the time of the last change and the identity of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct FileStamp {
    pub(crate) bytes: u64,
    seconds: i64,
    nanos: i64,
    inode: u64,
    device: u64,
}

impl FileStamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            seconds: metadata.mtime(),
            nanos: metadata.mtime_nsec(),
            inode: metadata.ino(),
            device: metadata.dev(),
        }
    }

    /// The time of the last change, rounded up by at most a millisecond.
    pub(crate) fn modified(&self) -> Option<UnixMillis> {
        let millis = self.seconds.checked_mul(1_000)?;
        UnixMillis::new(millis.checked_add(self.nanos / 1_000_000 + 1)?)
    }
}

/// The stamp of several files together, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartsStamp {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    /// The sum of a hash of each file's name and stamp.
    sum: u64,
    pub(crate) newest: Option<i64>,
}

impl PartsStamp {
    pub(super) fn add(&mut self, name: &str, metadata: &Metadata) {
        let stamp = FileStamp::of(metadata);
        let mut hasher = DefaultHasher::new();
        (name, stamp).hash(&mut hasher);
        self.files += 1;
        self.bytes = self.bytes.saturating_add(stamp.bytes);
        self.sum = self.sum.wrapping_add(hasher.finish());
        self.newest = self.newest.max(stamp.modified().map(UnixMillis::as_millis));
    }

    /// Adds the files of another stamp.
    pub(super) fn merge(&mut self, other: &Self) {
        self.files += other.files;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sum = self.sum.wrapping_add(other.sum);
        self.newest = self.newest.max(other.newest);
    }

    /// Adds the files below a directory.
    pub(super) fn add_below(&mut self, folder: &Dir, name: &str) {
        self.add_tree(folder, name, DEEPEST);
    }

    fn add_tree(&mut self, folder: &Dir, path: &str, depth: usize) {
        let Ok(entries) = folder.entries() else { return };
        for entry in entries.flatten() {
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
                continue;
            };
            let below = format!("{path}/{name}");
            if kind.is_file() {
                if let Ok(metadata) = entry.metadata() {
                    self.add(&below, &metadata);
                }
            } else if kind.is_dir()
                && depth > 0
                && let Ok(inner) = open_subfolder(folder, &name)
            {
                self.add_tree(&inner, &below, depth - 1);
            }
        }
    }
}
