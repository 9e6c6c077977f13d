//! Reads bundles in place: directories, zip files and compressed tar files.

#[cfg(feature = "archives")]
mod archive;

use std::io::{ErrorKind, Read as _, Seek as _};

use cap_std::fs::{Dir, File};
use traj_core::port::{
    BundleContent, BundleFile, BundleNames, BundleSource, BundleSourceError, BundleVisitor,
};

use crate::error::FsError;
use crate::safe::directory::open_subfolder;
use crate::safe::open::{Access, open_regular};

const BLOBS: &str = BundleFile::BLOB_FOLDER;

/// A bundle; its name is that of its directory entry.
#[derive(Debug)]
pub struct FsBundleSource {
    name: String,
    form: OpenBundle,
}

#[derive(Debug)]
enum OpenBundle {
    Folder(Dir),
    #[cfg(feature = "archives")]
    Zip(File),
    #[cfg(feature = "archives")]
    TarZst(File),
}

impl OpenBundle {
    /// Recognises an archive by its first bytes.
    fn of_file(name: &str, mut file: File) -> Result<Self, BundleSourceError> {
        let mut start = Vec::new();
        let read = file.by_ref().take(4).read_to_end(&mut start);
        read.and_then(|_| file.rewind()).map_err(|error| storage(name, error))?;
        match start.as_slice() {
            #[cfg(feature = "archives")]
            [b'P', b'K', 3 | 5, 4 | 6] => Ok(Self::Zip(file)),
            #[cfg(feature = "archives")]
            [0x28, 0xb5, 0x2f, 0xfd] => Ok(Self::TarZst(file)),
            #[cfg(not(feature = "archives"))]
            [b'P', b'K', 3 | 5, 4 | 6] | [0x28, 0xb5, 0x2f, 0xfd] => {
                Err(storage(name, std::io::Error::other(WithoutArchives)))
            }
            _ => Err(BundleSourceError::NotABundle { name: name.to_owned() }),
        }
    }
}

impl FsBundleSource {
    /// Opens the bundle `name` in `folder`. The first bytes of a file decide
    /// its format, not its name.
    ///
    /// # Errors
    /// When it is missing, a link, or neither a directory nor an archive. An
    /// archive is also refused in a build without the feature `archives`.
    pub fn open(folder: &Dir, name: &str) -> Result<Self, BundleSourceError> {
        let metadata = folder.symlink_metadata(name).map_err(|error| match error.kind() {
            ErrorKind::NotFound => BundleSourceError::NotFound { name: name.to_owned() },
            _ => storage(name, error),
        })?;
        let form = if metadata.is_dir() {
            let inner = open_subfolder(folder, name).map_err(|error| from_fs(name, error))?;
            OpenBundle::Folder(inner)
        } else {
            let file =
                open_regular(folder, name, Access::Read).map_err(|error| from_fs(name, error))?;
            OpenBundle::of_file(name, file)?
        };
        Ok(Self { name: name.to_owned(), form })
    }

    fn visit_folder(
        &self,
        folder: &Dir,
        visit: &mut BundleVisitor<'_>,
    ) -> Result<(), BundleSourceError> {
        folder.symlink_metadata(manifest_name()).map_err(|error| match error.kind() {
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
            visit(&path, &mut PlainFile { name: &self.name, file })?;
        }
        Ok(())
    }

    /// The paths of all files, the manifest first. They are counted while
    /// listing: a directory may have more files than fit into memory.
    fn list(
        &self,
        folder: &Dir,
        names: &mut BundleNames,
    ) -> Result<Vec<String>, BundleSourceError> {
        let mut paths = Vec::new();
        let mut has_blobs = false;
        let files = self.entries(folder)?.filter(|entry| {
            let is_blobs = matches!(entry, Ok((name, true)) if name == BLOBS);
            has_blobs |= is_blobs;
            !is_blobs
        });
        take_all(names, files.map(|entry| Ok(entry?.0)), &mut paths)?;
        if has_blobs {
            let blobs = open_subfolder(folder, BLOBS).map_err(|error| from_fs(BLOBS, error))?;
            let files = self.entries(&blobs)?.map(|entry| Ok(format!("{BLOBS}/{}", entry?.0)));
            take_all(names, files, &mut paths)?;
        }
        let manifest = manifest_name();
        paths.sort_unstable_by(|one, other| {
            (*one != manifest, one).cmp(&(*other != manifest, other))
        });
        Ok(paths)
    }

    /// The names in a directory, and whether each is a directory itself.
    fn entries(
        &self,
        folder: &Dir,
    ) -> Result<impl Iterator<Item = Result<(String, bool), BundleSourceError>>, BundleSourceError>
    {
        let failed = |error| storage(&self.name, error);
        let entries = folder.entries().map_err(failed)?;
        Ok(entries.map(move |entry| {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            Ok((entry.file_name().to_string_lossy().into_owned(), kind.is_dir()))
        }))
    }
}

/// Collects the paths of files. Fails if one is unsafe or occurs twice.
fn take_all(
    names: &mut BundleNames,
    files: impl Iterator<Item = Result<String, BundleSourceError>>,
    paths: &mut Vec<String>,
) -> Result<(), BundleSourceError> {
    for path in files {
        let path = path?;
        match names.take(&path) {
            Err(BundleSourceError::UnsafeEntry { .. }) => {
                return Err(BundleSourceError::UnsafeFile { name: path });
            }
            taken => taken?,
        }
        paths.push(path);
    }
    Ok(())
}

/// The file that is read first.
fn manifest_name() -> String {
    BundleFile::Manifest.to_string()
}

impl BundleSource for FsBundleSource {
    fn visit(&self, visit: &mut BundleVisitor<'_>) -> Result<(), BundleSourceError> {
        match &self.form {
            OpenBundle::Folder(folder) => self.visit_folder(folder, visit),
            #[cfg(feature = "archives")]
            OpenBundle::Zip(file) => archive::visit_zip(&self.name, file, visit),
            #[cfg(feature = "archives")]
            OpenBundle::TarZst(file) => archive::visit_tar_zst(&self.name, file, visit),
        }
    }
}

/// Why an archive cannot be read in this build.
#[cfg(not(feature = "archives"))]
#[derive(Debug, thiserror::Error)]
#[error("it is an archive, and traj-fs was built without its feature `archives`")]
struct WithoutArchives;

/// A file in a bundle that is a directory.
struct PlainFile<'n> {
    name: &'n str,
    file: File,
}

impl BundleContent for PlainFile<'_> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_directory_is_not_listed_to_its_end() {
        let endless = (0_u64..).map(|number| Ok(number.to_string()));
        let taken = take_all(&mut BundleNames::default(), endless, &mut Vec::new());
        assert!(matches!(taken, Err(BundleSourceError::TooManyEntries { .. })), "{taken:?}");
    }

    #[cfg(not(feature = "archives"))]
    #[test]
    fn without_the_feature_an_archive_is_reported_as_such() {
        use std::error::Error as _;
        let temporary = tempfile::tempdir().unwrap();
        let authority = cap_std::ambient_authority();
        let directory = Dir::open_ambient_dir(temporary.path(), authority).unwrap();
        for start in [&b"PK\x03\x04"[..], &b"\x28\xb5\x2f\xfd"[..]] {
            directory.write("bundle", start).unwrap();
            let error = FsBundleSource::open(&directory, "bundle").unwrap_err();
            let cause = error.source().unwrap().to_string();
            assert!(cause.contains("feature `archives`"), "{cause}");
        }
    }
}
