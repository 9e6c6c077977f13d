//! Stores the files of a dataset below a directory.

use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cap_std::fs::{Dir, FileType, MetadataExt as _};
use traj_core::port::{DatasetFile, DatasetKey, DatasetStore, DatasetStoreError, Stored};

use crate::error::{Context as _, FsError, Refusal};
use crate::safe::created_directories::CreatedDirectories;
use crate::safe::directory::open_subfolder;
use crate::safe::open::{Access, check_kind, open_unknown};
use crate::safe::publish::publish;
use crate::safe::remove_checked::remove_inspected;
use crate::safe::replace::{sweep_leftovers, sync_folder};

const LIST: &str = "list the directory";

/// Temporary files that are so old belong to no running program.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// The most swept directories to remember; beyond it, all are swept again.
const MOST_SWEPT: usize = 1024;

/// A dataset in a directory. Directories that it creates have the mode 0700, its
/// files 0600.
#[derive(Debug)]
pub struct FsDataset {
    folder: Dir,
    /// Leads from `folder` to the dataset, through directories that may be missing.
    below: Vec<String>,
    /// Directories from which this program removed what a crash left.
    swept: Mutex<BTreeSet<String>>,
}

/// A directory of the dataset and the name of a file in it.
struct Place<'k> {
    parents: Vec<&'k str>,
    name: &'k str,
}

impl<'k> Place<'k> {
    fn of(text: &'k str) -> Self {
        let mut parents: Vec<&str> = text.split('/').collect();
        let name = parents.pop().unwrap_or_default();
        Self { parents, name }
    }
}

impl FsDataset {
    /// A dataset in the directory that `below` leads to from `folder`. It is
    /// created with the first file.
    #[must_use]
    pub const fn new(folder: Dir, below: Vec<String>) -> Self {
        Self { folder, below, swept: Mutex::new(BTreeSet::new()) }
    }

    /// Opens a directory of the dataset; `None` if there is none.
    fn open(&self, parents: &[&str]) -> Result<Option<Dir>, FsError> {
        let mut folder = self.folder.try_clone().context(LIST, ".")?;
        let names = self.below.iter().map(String::as_str).chain(parents.iter().copied());
        for name in names {
            folder = match open_subfolder(&folder, name) {
                Err(error) if error.is_not_found() => return Ok(None),
                opened => opened?,
            };
        }
        Ok(Some(folder))
    }

    fn put(&self, place: &Place<'_>, content: &[u8]) -> Result<Stored, FsError> {
        let mut created = CreatedDirectories::default();
        let parents = self.below.iter().map(String::as_str).chain(place.parents.iter().copied());
        let folder = created.open(&self.folder, parents);
        let synced = created.sync();
        // Somebody else may be about to use them.
        created.keep();
        let folder = folder?;
        synced?;
        let stored = if exists(&folder, place.name)? || !publish(&folder, place.name, content)? {
            Stored::Exists
        } else {
            Stored::New
        };
        // Even if the name exists: its creator may not have got this far.
        sync_folder(&folder, place.name)?;
        self.sweep(&folder, place);
        Ok(stored)
    }

    /// Removes what a crash left beside a file that was just stored, once for
    /// each directory.
    fn sweep(&self, folder: &Dir, place: &Place<'_>) {
        let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
        if swept.len() >= MOST_SWEPT {
            swept.clear();
        }
        if !swept.insert(place.parents.join("/")) {
            return;
        }
        drop(swept);
        // The clock of the filesystem, which may be another machine's. Nothing
        // depends on the outcome.
        let stored = folder.symlink_metadata(place.name).and_then(|file| file.modified());
        if let Ok(now) = stored {
            sweep_leftovers(folder, now, ABANDONED).ok();
        }
    }

    fn read(&self, place: &Place<'_>) -> Result<Option<Vec<u8>>, FsError> {
        let Some(folder) = self.open(&place.parents)? else { return Ok(None) };
        let mut file = match open_unknown(&folder, place.name, Access::Read) {
            Err(error) if error.is_not_found() => return Ok(None),
            opened => opened?,
        };
        let mut content = Vec::new();
        file.read_to_end(&mut content).context("read", place.name)?;
        Ok(Some(content))
    }

    fn remove(&self, place: &Place<'_>) -> Result<(), FsError> {
        let Some(folder) = self.open(&place.parents)? else { return Ok(()) };
        let removed = open_unknown(&folder, place.name, Access::Read)
            .and_then(|file| remove_inspected(&folder, place.name, &file));
        match removed {
            // Somebody else removed it.
            Err(error) if error.is_not_found() => Ok(()),
            removed => removed,
        }
    }

    /// Visits the files whose name begins with `prefix`. Directories are opened
    /// one after the other, so that few are open however many there are.
    fn walk(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(DatasetFile) -> ControlFlow<()>,
    ) -> Result<(), FsError> {
        let (start, beginning) = prefix.rsplit_once('/').unwrap_or(("", prefix));
        if !start.is_empty() && DatasetKey::parse(start).is_err() {
            return Ok(());
        }
        let mut ahead = vec![(start.to_owned(), beginning)];
        while let Some((path, beginning)) = ahead.pop() {
            let parents: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
            let Some(folder) = self.open(&parents)? else { continue };
            for entry in folder.entries().context(LIST, &path)? {
                let entry = entry.context(LIST, &path)?;
                let name = entry.file_name();
                let Some(name) = name.to_str().filter(|name| name.starts_with(beginning)) else {
                    continue;
                };
                let inner =
                    if path.is_empty() { name.to_owned() } else { [&path, "/", name].concat() };
                // Somebody else's.
                let Ok(key) = DatasetKey::parse(inner.as_str()) else { continue };
                match look(&folder, name)? {
                    None => {}
                    Some(Found::Directory) => ahead.push((inner, "")),
                    Some(Found::File(bytes)) if visit(DatasetFile { key, bytes }).is_break() => {
                        return Ok(());
                    }
                    Some(Found::File(_)) => {}
                }
            }
        }
        Ok(())
    }
}

enum Found {
    Directory,
    File(u64),
}

/// What has a name; `None` if it was removed meanwhile.
fn look(folder: &Dir, name: &str) -> Result<Option<Found>, FsError> {
    let metadata = match folder.symlink_metadata(name).context(LIST, name) {
        Err(error) if error.is_not_found() => return Ok(None),
        metadata => metadata?,
    };
    if metadata.file_type() == FileType::dir() {
        return Ok(Some(Found::Directory));
    }
    check_kind(&metadata, name, LIST)?;
    Ok(Some(Found::File(metadata.size())))
}

/// Whether a file of the dataset has this name. Anything else is refused.
fn exists(folder: &Dir, name: &str) -> Result<bool, FsError> {
    match look(folder, name)? {
        None => Ok(false),
        Some(Found::File(_)) => Ok(true),
        Some(Found::Directory) => Err(FsError::refused("store", name, Refusal::NotRegular)),
    }
}

impl DatasetStore for FsDataset {
    fn put_if_absent(&self, key: &DatasetKey, content: &[u8]) -> Result<Stored, DatasetStoreError> {
        let place = Place::of(key.as_str());
        let stored = match self.put(&place, content) {
            // Somebody removed a directory that was empty a moment ago.
            Err(error) if error.is_not_found() => self.put(&place, content),
            stored => stored,
        };
        stored.map_err(explain)
    }

    fn get(&self, key: &DatasetKey) -> Result<Option<Vec<u8>>, DatasetStoreError> {
        self.read(&Place::of(key.as_str())).map_err(explain)
    }

    fn list(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(DatasetFile) -> ControlFlow<()>,
    ) -> Result<(), DatasetStoreError> {
        self.walk(prefix, visit).map_err(explain)
    }

    fn delete(&self, key: &DatasetKey) -> Result<(), DatasetStoreError> {
        self.remove(&Place::of(key.as_str())).map_err(explain)
    }
}

/// An error in the terms of the port.
fn explain(error: FsError) -> DatasetStoreError {
    use io::ErrorKind::{
        Interrupted, PermissionDenied, ReadOnlyFilesystem, ResourceBusy, StaleNetworkFileHandle,
        TimedOut, WouldBlock,
    };
    let kind = match &error {
        FsError::Io { source, .. } => source.kind(),
        FsError::Held { .. } => ResourceBusy,
        FsError::Refused { refusal: Refusal::Swapped, .. } => ResourceBusy,
        FsError::Refused { .. } => io::ErrorKind::Other,
    };
    match kind {
        Interrupted | ResourceBusy | StaleNetworkFileHandle | TimedOut | WouldBlock => {
            DatasetStoreError::busy(error)
        }
        PermissionDenied | ReadOnlyFilesystem => DatasetStoreError::Denied { source: error.into() },
        _ => DatasetStoreError::failed(error),
    }
}
