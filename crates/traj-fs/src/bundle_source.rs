//! Bundles on the disk, read in place: a folder, a zip file or a compressed
//! tar file.

mod allowance;
mod archive;
mod damage;
mod tar_entries;
mod zip_layout;

use std::io::{ErrorKind, Read as _};

use cap_std::fs::{Dir, File};
use traj_core::port::{BundleContent, BundleNames, BundleSource, BundleSourceError, BundleVisitor};

use crate::error::FsError;
use crate::folder::open_subfolder;
use crate::open::{Access, open_regular};

/// The file that is read first.
const MANIFEST: &str = "manifest.json";

/// A bundle in a folder, named as its entry there.
#[derive(Debug)]
pub struct FsBundleSource {
    name: String,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Folder(Dir),
    Zip(File),
    TarZst(File),
}

impl FsBundleSource {
    /// Opens the bundle called `name` in `folder`. What it is shows in its
    /// first bytes, not in its name.
    ///
    /// # Errors
    /// When it is missing, a link, or nothing that holds a bundle.
    pub fn open(folder: &Dir, name: &str) -> Result<Self, BundleSourceError> {
        let metadata = folder.symlink_metadata(name).map_err(|error| match error.kind() {
            ErrorKind::NotFound => BundleSourceError::NotFound { name: name.to_owned() },
            _ => storage(name, error),
        })?;
        let form = if metadata.is_dir() {
            let inner = open_subfolder(folder, name).map_err(|error| from_fs(name, error))?;
            Form::Folder(inner)
        } else {
            let file =
                open_regular(folder, name, Access::Read).map_err(|error| from_fs(name, error))?;
            archive::recognise(file)
                .map_err(|error| storage(name, error))?
                .ok_or_else(|| BundleSourceError::NotABundle { name: name.to_owned() })?
        };
        Ok(Self { name: name.to_owned(), form })
    }

    fn visit_folder(
        &self,
        folder: &Dir,
        visit: &mut BundleVisitor<'_>,
    ) -> Result<(), BundleSourceError> {
        folder.symlink_metadata(MANIFEST).map_err(|error| match error.kind() {
            ErrorKind::NotFound => BundleSourceError::NoManifest { name: self.name.clone() },
            _ => storage(&self.name, error),
        })?;
        let mut names = BundleNames::default();
        for path in self.list(folder, &mut names)? {
            let (inner, name) = match path.split_once('/') {
                Some((inner, name)) => (Some(inner), name),
                None => (None, path.as_str()),
            };
            let opened = match inner {
                Some(inner) => open_subfolder(folder, inner)
                    .and_then(|dir| open_regular(&dir, name, Access::Read)),
                None => open_regular(folder, name, Access::Read),
            };
            let file = opened.map_err(|error| match error.refusal() {
                Some(_) => BundleSourceError::UnsafeFile { name: path.clone() },
                None => from_fs(&path, error),
            })?;
            visit(&path, &mut Plain { name: &self.name, file })?;
        }
        Ok(())
    }

    /// The paths of all files, the manifest first.
    fn list(
        &self,
        folder: &Dir,
        names: &mut BundleNames,
    ) -> Result<Vec<String>, BundleSourceError> {
        let mut paths = Vec::new();
        let entries = |dir: &Dir| -> Result<Vec<(String, bool)>, BundleSourceError> {
            let mut found = Vec::new();
            for entry in dir.entries().map_err(|error| storage(&self.name, error))? {
                let entry = entry.map_err(|error| storage(&self.name, error))?;
                let kind = entry.file_type().map_err(|error| storage(&self.name, error))?;
                found.push((entry.file_name().to_string_lossy().into_owned(), kind.is_dir()));
            }
            found.sort_unstable();
            Ok(found)
        };
        let mut take = |path: String| match names.take(&path) {
            Err(BundleSourceError::UnsafeEntry { .. }) => {
                Err(BundleSourceError::UnsafeFile { name: path })
            }
            taken => taken.map(|()| paths.push(path)),
        };
        for (name, is_dir) in entries(folder)? {
            if is_dir && name == "blobs" {
                let blobs = open_subfolder(folder, &name).map_err(|error| from_fs(&name, error))?;
                for (blob, _) in entries(&blobs)? {
                    take(format!("blobs/{blob}"))?;
                }
            } else {
                take(name)?;
            }
        }
        paths.sort_by_key(|path| path != MANIFEST);
        Ok(paths)
    }
}

impl BundleSource for FsBundleSource {
    fn visit(&self, visit: &mut BundleVisitor<'_>) -> Result<(), BundleSourceError> {
        match &self.form {
            Form::Folder(folder) => self.visit_folder(folder, visit),
            Form::Zip(file) => archive::visit_zip(&self.name, file, visit),
            Form::TarZst(file) => archive::visit_tar_zst(&self.name, file, visit),
        }
    }
}

/// A file as it lies on the disk.
struct Plain<'n> {
    name: &'n str,
    file: File,
}

impl BundleContent for Plain<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, BundleSourceError> {
        self.file.read(buffer).map_err(|error| storage(self.name, error))
    }
}

fn storage(name: &str, error: std::io::Error) -> BundleSourceError {
    BundleSourceError::Storage { name: name.to_owned(), source: Box::new(error) }
}

fn from_fs(name: &str, error: FsError) -> BundleSourceError {
    if error.is_not_found() {
        return BundleSourceError::NotFound { name: name.to_owned() };
    }
    match error.refusal() {
        Some(_) => BundleSourceError::NotABundle { name: name.to_owned() },
        None => BundleSourceError::Storage { name: name.to_owned(), source: Box::new(error) },
    }
}
