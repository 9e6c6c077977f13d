//! Where exports go. The folder in the workspace is made with the first bundle
//! and not before: a failed export leaves nothing.

use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use traj_core::id::BundleName;
use traj_core::port::{BundleSink, BundleSinkError, BundleWriter, NameTaken};
use traj_fs::{BundleForm, FsBundleSink, FsError, create_subfolder, open_subfolder};

use crate::command_error::CommandError;
use crate::compose::Host;

/// The way from the workspace to its exports.
const FOLDERS: [&str; 2] = [".openclaw", "trajectory-exports"];

/// The folder for bundles.
#[derive(Debug)]
pub(crate) struct ExportPlace {
    folder: Dir,
    /// What has to be made below the folder.
    missing: &'static [&'static str],
    form: BundleForm,
    /// Where bundles will lie.
    pub(crate) path: PathBuf,
}

impl ExportPlace {
    /// A folder that the user named as a root.
    pub(crate) fn named(root: &Path, form: BundleForm, host: &Host) -> Result<Self, CommandError> {
        let folder = host.named_root(root)?;
        Ok(Self { folder, missing: &[], form, path: host.absolute(root) })
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
        Ok(Self { folder, missing, form, path })
    }

    fn made(&self, name: &BundleName) -> Result<Dir, BundleSinkError> {
        let failed = |error: FsError| match error.refusal() {
            Some(_) => BundleSinkError::UnsafePlace { name: name.as_str().to_owned() },
            None => storage(name, error),
        };
        let mut folder = self.folder.try_clone().map_err(|error| storage(name, error))?;
        for part in self.missing {
            folder = create_subfolder(&folder, part).map_err(failed)?;
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
        FsBundleSink::new(self.made(name)?, self.form).begin(name, taken)
    }
}

fn storage(
    name: &BundleName,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> BundleSinkError {
    BundleSinkError::Storage { name: name.as_str().to_owned(), source: error.into() }
}
