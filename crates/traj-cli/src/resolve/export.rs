//! Where exports are written, and what they read.
//!
//! Directories are created together with the bundle and removed again if the
//! export fails. [`setup`] prepares a request for this host; [`temporary`]
//! exports a session to a temporary directory, from which a verb reads it.

pub(crate) mod setup;
pub(crate) mod temporary;

use std::path::{Path, PathBuf};

use traj_fs::{BundleForm, FsBundleSink, open_subfolder};

use crate::command_error::CommandError;
use crate::compose::Host;

/// The path of the exports below the workspace.
const FOLDERS: [&str; 2] = [".openclaw", "trajectory-exports"];

/// The directory for bundles.
#[derive(Debug)]
pub(crate) struct ExportDestination {
    /// Writes the bundle.
    pub(crate) sink: FsBundleSink,
    /// The directory in which bundles will appear.
    pub(crate) path: PathBuf,
}

impl ExportDestination {
    /// A directory that the user named as a root.
    pub(crate) fn named(root: &Path, form: BundleForm, host: &Host) -> Result<Self, CommandError> {
        host.check_outside_bundles(root)?;
        let (folder, missing) = host.nearest_root(root)?;
        let sink = FsBundleSink::new(folder, form).in_subdirectories(missing);
        Ok(Self { sink, path: host.absolute(root) })
    }

    /// The exports directory of a workspace. The workspace must exist; its path
    /// may contain links, the directories below it may not.
    pub(crate) fn in_workspace(
        workspace: &Path,
        form: BundleForm,
        host: &Host,
    ) -> Result<Self, CommandError> {
        let root = host.named_root(workspace).map_err(|error| {
            error.hint("bundles are written below the workspace; choose another place with --output-root DIR")
        })?;
        // Reject a link or a file before any work is done.
        let mut folder = None;
        for name in FOLDERS {
            match open_subfolder(folder.as_ref().unwrap_or(&root), name) {
                Ok(inner) => folder = Some(inner),
                Err(error) if error.is_not_found() => break,
                Err(error) => {
                    let message = format!("cannot use the directory {name} in the workspace");
                    return Err(CommandError::failure(message).because(error).hint(
                        "it must be a real directory; choose another place with --output-root DIR",
                    ));
                }
            }
        }
        let way = FOLDERS.map(str::to_owned).to_vec();
        let sink = FsBundleSink::new(root, form).in_subdirectories(way);
        Ok(Self { sink, path: workspace.join(FOLDERS.join("/")) })
    }
}
