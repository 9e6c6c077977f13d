//! Where exports go. Folders are made with the bundle and not before, and
//! those that were made go again when it fails: a failed export leaves nothing.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cap_std::fs::Dir;
use traj_core::id::BundleName;
use traj_core::port::{BundleSink, BundleSinkError, BundleWriter, NameTaken};
use traj_fs::{BundleForm, FsBundleSink, FsError, StopFlag, create_subfolder, open_subfolder};

use crate::command_error::CommandError;
use crate::compose::Host;

/// The way from the workspace to its exports.
const FOLDERS: [&str; 2] = [".openclaw", "trajectory-exports"];

/// The folder for bundles.
#[derive(Debug)]
pub(crate) struct ExportPlace {
    folder: Dir,
    /// What has to be made below the folder.
    missing: Vec<String>,
    form: BundleForm,
    stop: StopFlag,
    /// What was made, each in its folder.
    made: Mutex<Vec<(Dir, String)>>,
    /// Where bundles will lie.
    pub(crate) path: PathBuf,
}

impl ExportPlace {
    /// A folder that the user named as a root.
    pub(crate) fn named(root: &Path, form: BundleForm, host: &Host) -> Result<Self, CommandError> {
        let (folder, missing) = host.nearest_root(root)?;
        Ok(Self::new(folder, missing, form, host.absolute(root)))
    }

    fn new(folder: Dir, missing: Vec<String>, form: BundleForm, path: PathBuf) -> Self {
        Self { folder, missing, form, stop: StopFlag::default(), made: Mutex::default(), path }
    }

    /// Writing fails once `stop` is raised.
    pub(crate) fn stopping_at(mut self, stop: StopFlag) -> Self {
        self.stop = stop;
        self
    }

    /// The exports of a workspace, which has to exist.
    pub(crate) fn in_workspace(
        workspace: &Path,
        form: BundleForm,
        host: &Host,
    ) -> Result<Self, CommandError> {
        let mut folder = host.folder(workspace).map_err(|error| {
            error.hint("the bundle goes under the workspace; --output-root DIR names another place")
        })?;
        let path = workspace.join(FOLDERS.join("/"));
        let mut missing = FOLDERS.as_slice();
        while let Some((name, rest)) = missing.split_first() {
            match open_subfolder(&folder, name) {
                Ok(inner) => folder = inner,
                Err(error) if error.is_not_found() => break,
                Err(error) => {
                    let message = format!("cannot use the folder {name} in the workspace");
                    return Err(CommandError::failure(message)
                        .because(error)
                        .hint("it must be a real folder; --output-root DIR names another place"));
                }
            }
            missing = rest;
        }
        let missing = missing.iter().map(|name| (*name).to_owned()).collect();
        Ok(Self::new(folder, missing, form, path))
    }

    /// Removes the folders that were made, unless something lies in them.
    pub(crate) fn remove_made(&self) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((parent, name)) = made.pop() {
            // One that is in use by now stays.
            parent.remove_dir(name).ok();
        }
    }

    fn opened(&self, name: &BundleName) -> Result<Dir, BundleSinkError> {
        let failed = |error: FsError| match error.refusal() {
            Some(_) => BundleSinkError::UnsafePlace { name: name.as_str().to_owned() },
            None => storage(name, error),
        };
        let mut folder = self.folder.try_clone().map_err(|error| storage(name, error))?;
        for part in &self.missing {
            let was_there = folder.symlink_metadata(part).is_ok();
            let inner = create_subfolder(&folder, part).map_err(failed)?;
            let parent = std::mem::replace(&mut folder, inner);
            if !was_there {
                let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
                made.push((parent, part.clone()));
            }
        }
        Ok(folder)
    }
}

impl BundleSink for ExportPlace {
    fn begin(
        &self,
        name: &BundleName,
        taken: NameTaken,
    ) -> Result<Box<dyn BundleWriter>, BundleSinkError> {
        let sink = FsBundleSink::new(self.opened(name)?, self.form);
        sink.stopping_at(self.stop.clone()).begin(name, taken)
    }
}

fn storage(
    name: &BundleName,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> BundleSinkError {
    BundleSinkError::Storage { name: name.as_str().to_owned(), source: error.into() }
}
