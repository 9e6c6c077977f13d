//! Directories that are created for some work, and removed if it fails.

use cap_std::fs::Dir;

use crate::error::{Context as _, FsError};
use crate::safe::directory::{make_private, make_subfolder, open_subfolder};
use crate::safe::replace::sync_folder;

/// Directories that were created. The empty ones are removed on drop, unless
/// [`CreatedDirectories::keep`] was called.
#[derive(Debug, Default)]
pub(crate) struct CreatedDirectories {
    /// Each directory with its parent, the outermost first.
    made: Vec<(Dir, String)>,
}

impl CreatedDirectories {
    /// Opens the directory that `names` lead to from `folder`. Creates missing
    /// ones (0700).
    pub(crate) fn open<'n>(
        &mut self,
        folder: &Dir,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Dir, FsError> {
        let clone = |folder: &Dir| folder.try_clone().context("open the directory", ".");
        let mut folder = clone(folder)?;
        for name in names {
            folder = match open_subfolder(&folder, name) {
                Err(error) if error.is_not_found() => {
                    let parent = clone(&folder)?;
                    let is_new = make_subfolder(&folder, name)?;
                    if is_new {
                        self.made.push((parent, name.to_owned()));
                    }
                    let inner = open_subfolder(&folder, name)?;
                    if is_new {
                        make_private(&inner, name)?;
                    }
                    inner
                }
                opened => opened?,
            };
        }
        Ok(folder)
    }

    /// Forces the entries of the new directories to the disk.
    pub(crate) fn sync(&self) -> Result<(), FsError> {
        self.made.iter().try_for_each(|(parent, name)| sync_folder(parent, name))
    }

    /// Keeps the directories.
    pub(crate) fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for CreatedDirectories {
    fn drop(&mut self) {
        while let Some((parent, name)) = self.made.pop() {
            // A directory that is in use by now stays.
            parent.remove_dir(name).ok();
        }
    }
}
