//! A directory for one test, with a session in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Dir, MetadataExt as _, PermissionsExt as _};
use tempfile::TempDir;
use traj_core::event::RunContext;
use traj_core::memory::FixedClock;
use traj_core::settings::Settings;
use traj_core::timestamp::UnixMillis;
use traj_fs::{FsTrajectoryStore, Recorder};

use super::{SidecarContent, redactor, session};

/// A directory with a session called `chat.jsonl` and its recorder's files.
#[derive(Debug)]
pub struct Place {
    /// The directory, as a capability.
    pub folder: Dir,
    path: PathBuf,
    /// Removes the directory on drop; `None` if the caller owns it.
    _temporary: Option<TempDir>,
}

impl Place {
    /// The sidecar's name.
    pub const SIDECAR: &str = "chat.trajectory.jsonl";
    /// The pointer's name.
    pub const POINTER: &str = "chat.trajectory-path.json";
    /// The name of the blob directory.
    pub const BLOBS: &str = "chat.trajectory.blobs";

    /// An empty directory.
    ///
    /// # Panics
    /// If it cannot be created.
    pub fn new() -> Self {
        let temporary = TempDir::new().expect("a temporary folder");
        let path = temporary.path().canonicalize().expect("its path without links");
        Self { _temporary: Some(temporary), ..Self::at(&path) }
    }

    /// A directory that exists already.
    ///
    /// # Panics
    /// When it does not.
    #[expect(clippy::disallowed_methods, reason = "a test opens its own directory")]
    pub fn at(path: &Path) -> Self {
        let folder = Dir::open_ambient_dir(path, cap_std::ambient_authority());
        let folder = folder.expect("a folder to test in");
        Self { folder, path: path.to_owned(), _temporary: None }
    }

    /// The directory's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The store of sidecars beside the session.
    ///
    /// # Panics
    /// When the directory's handle cannot be duplicated.
    pub fn store(&self) -> FsTrajectoryStore {
        let folder = self.folder.try_clone().expect("a second handle");
        let path = self.path.to_string_lossy();
        FsTrajectoryStore::beside(folder, &path, "chat.jsonl").expect("a store")
    }

    /// A recorder of the session `chat`.
    pub fn recorder(&self, settings: &Settings) -> Recorder {
        self.recorder_of_run("run", settings)
    }

    /// A recorder of one run of the session `chat`.
    ///
    /// # Panics
    /// When the run's name is not an id.
    pub fn recorder_of_run(&self, run: &str, settings: &Settings) -> Recorder {
        let mut context = RunContext::new(session("chat"));
        context.run = Some(traj_core::id::RunId::parse(run).expect("a name is an id"));
        let clock = Arc::new(FixedClock::new(UnixMillis::EPOCH));
        Recorder::start(Arc::new(self.store()), clock, redactor(), context, settings)
    }

    /// The sidecar's bytes; empty if there is no sidecar.
    pub fn sidecar_bytes(&self) -> Vec<u8> {
        self.folder.read(Self::SIDECAR).unwrap_or_default()
    }

    /// The parsed sidecar.
    pub fn sidecar(&self) -> SidecarContent {
        SidecarContent::of(&self.sidecar_bytes())
    }

    /// The permission bits of a file or directory.
    ///
    /// # Panics
    /// If the name does not exist.
    pub fn mode(&self, name: &str) -> u32 {
        let metadata = self.folder.symlink_metadata(name).expect("something to look at");
        metadata.permissions().mode() & 0o7777
    }

    /// Device and inode of the sidecar.
    ///
    /// # Panics
    /// If there is no sidecar.
    pub fn identity(&self) -> (u64, u64) {
        let metadata = self.folder.symlink_metadata(Self::SIDECAR).expect("a sidecar");
        (metadata.dev(), metadata.ino())
    }

    /// The names in the directory, sorted.
    ///
    /// # Panics
    /// When the directory cannot be read.
    pub fn names(&self) -> Vec<String> {
        let entries = self.folder.entries().expect("a folder to read");
        let name = |entry: cap_std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.map(|entry| name(entry.expect("an entry"))).collect();
        names.sort();
        names
    }
}

impl Default for Place {
    fn default() -> Self {
        Self::new()
    }
}
