//! Writes bundles in a hidden directory, and publishes them with one rename.

#[cfg(feature = "archives")]
mod archive;
mod early_sync;
mod target;

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cap_std::fs::Dir;
use traj_core::id::BundleName;
use traj_core::port::{
    BundleFile, BundleFileWriter, BundleSink, BundleSinkError, BundleWriter, NameTaken, Scratch,
    Source,
};
use traj_core::redaction::Redacted;

use crate::error::{FsError, is_full};
use crate::safe::created_directories::CreatedDirectories;
use crate::safe::directory::{create_subfolder, make_private, open_subfolder};
use crate::safe::limited_file::LimitedFile;
use crate::safe::open::{Access, create_private, open_regular};
use crate::safe::replace::sync_folder;
use crate::safe::temporary_directory::TemporaryFolder;
use crate::scratch::FsScratch;
use crate::session::sources::FsSource;
use crate::stop_flag::StopFlag;
use early_sync::EarlySync;
use target::BundleTarget;
pub use target::is_bundle;

const BLOBS: &str = BundleFile::BLOB_FOLDER;

/// Bytes written at once.
const BUFFER: usize = 256 * 1024;

/// The form of a bundle on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BundleForm {
    /// A directory of files.
    Folder,
    /// One zip file.
    #[cfg(feature = "archives")]
    Zip,
    /// One zstd-compressed tar file.
    #[cfg(feature = "archives")]
    TarZst,
}

impl BundleForm {
    const fn extension(self) -> &'static str {
        match self {
            Self::Folder => "",
            #[cfg(feature = "archives")]
            Self::Zip => ".zip",
            #[cfg(feature = "archives")]
            Self::TarZst => ".tar.zst",
        }
    }
}

/// Writes bundles below one directory.
///
/// A bundle is written into a hidden directory beside its target (0700, files
/// 0600, whatever the umask) and renamed when it is complete and on the disk. A
/// crash leaves at most hidden files and directories, which the next export
/// removes, and empty directories above them.
#[derive(Debug)]
pub struct FsBundleSink {
    root: Dir,
    /// The directories from the root to the bundles; they may be missing.
    way: Vec<String>,
    form: BundleForm,
    stop: StopFlag,
}

impl FsBundleSink {
    /// Writes bundles below `root`, in this form.
    #[must_use]
    pub fn new(root: Dir, form: BundleForm) -> Self {
        Self { root, way: Vec::new(), form, stop: StopFlag::default() }
    }

    /// Writes bundles into these nested directories below the root. Missing
    /// ones are created (0700) with a bundle, and removed if it fails.
    #[must_use]
    pub fn in_subdirectories(mut self, way: Vec<String>) -> Self {
        self.way = way;
        self
    }

    /// Once `stop` is true, writing to a bundle, reading it back and committing
    /// it fail. The final rename is not interrupted.
    #[must_use]
    pub fn stopping_at(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = StopFlag::new(stop);
        self
    }
}

/// Why a bundle cannot be started.
enum BeginError {
    Fs(FsError),
    Sink(BundleSinkError),
}

impl From<FsError> for BeginError {
    fn from(error: FsError) -> Self {
        Self::Fs(error)
    }
}

impl FsBundleSink {
    /// Opens the staging directory, and creates the directories above it.
    fn open_place(&self, target: &BundleTarget) -> Result<StagingArea, BeginError> {
        target.check_way(&self.root, &self.way).map_err(BeginError::Sink)?;
        let mut made = CreatedDirectories::default();
        let root = made.open(&self.root, self.way.iter().map(String::as_str))?;
        target.check_place(&root).map_err(BeginError::Sink)?;
        let staging = TemporaryFolder::create(&root)?;
        Ok(StagingArea { staging, made })
    }
}

impl BundleSink for FsBundleSink {
    fn begin(
        &self,
        name: &BundleName,
        taken: NameTaken,
    ) -> Result<Box<dyn BundleWriter>, BundleSinkError> {
        let target = BundleTarget { name: name.clone(), form: self.form, taken };
        let mut opened = self.open_place(&target);
        // Another export may have created a directory, failed, and removed it.
        if matches!(&opened, Err(BeginError::Fs(error)) if error.is_not_found()) {
            opened = self.open_place(&target);
        }
        let place = opened.map_err(|error| match error {
            BeginError::Fs(error) => from_fs(name.as_str(), error),
            BeginError::Sink(error) => error,
        })?;
        let (files, stop) = (BTreeSet::new(), self.stop.clone());
        Ok(Box::new(FsBundleWriter { target, place, files, stop }))
    }
}

/// Where a bundle is staged. The fields are dropped in order: the staging
/// directory is removed before the directories above it.
#[derive(Debug)]
struct StagingArea {
    staging: TemporaryFolder,
    made: CreatedDirectories,
}

#[derive(Debug)]
struct FsBundleWriter {
    target: BundleTarget,
    place: StagingArea,
    files: BTreeSet<BundleFile>,
    stop: StopFlag,
}

impl FsBundleWriter {
    fn name(&self) -> &str {
        self.target.name.as_str()
    }

    /// The directory of a file, and its name there.
    fn place(&self, file: BundleFile) -> Result<(Dir, String), BundleSinkError> {
        let path = file.to_string();
        let folder = self.place.staging.folder();
        let (folder, name) = match path.split_once('/') {
            Some((inner, name)) => {
                let made = create_subfolder(folder, inner)
                    .and_then(|made| make_private(&made, inner).map(|()| made));
                (made.map_err(|error| from_fs(self.name(), error))?, name.to_owned())
            }
            None => (folder.try_clone().map_err(|error| sink_error(self.name(), error))?, path),
        };
        Ok((folder, name))
    }
}

impl BundleWriter for FsBundleWriter {
    fn create(&mut self, file: BundleFile) -> Result<Box<dyn BundleFileWriter>, BundleSinkError> {
        if self.files.contains(&file) {
            return Err(BundleSinkError::Repeated { file });
        }
        let (folder, name) = self.place(file)?;
        let opened =
            create_private(&folder, &name).map_err(|error| sink_error(self.name(), error))?;
        self.files.insert(file);
        let writer = BufWriter::with_capacity(BUFFER, LimitedFile::new(opened));
        let (bundle, stop) = (self.name().to_owned(), self.stop.clone());
        let early_sync = EarlySync::default();
        Ok(Box::new(FsBundleFileWriter { bundle, writer, early_sync, stop }))
    }

    fn read_back(&self, file: BundleFile) -> Result<Box<dyn Source>, BundleSinkError> {
        let (folder, name) = self.place(file)?;
        let opened = open_regular(&folder, &name, Access::Read)
            .map_err(|error| from_fs(self.name(), error))?;
        let source = FsSource::new(file.to_string(), opened, self.stop.clone());
        Ok(Box::new(source.map_err(|error| sink_error(self.name(), error))?))
    }

    fn scratch(&self) -> Result<Box<dyn Scratch>, BundleSinkError> {
        let folder = self.place.staging.folder().try_clone();
        let folder = folder.map_err(|error| sink_error(self.name(), error))?;
        Ok(Box::new(FsScratch::new(vec![folder])))
    }

    fn commit(self: Box<Self>) -> Result<String, BundleSinkError> {
        self.stop.check().map_err(|error| sink_error(self.name(), error))?;
        self.place.made.sync().map_err(|error| from_fs(self.name(), error))?;
        match self.target.form {
            BundleForm::Folder => self.commit_directory(),
            #[cfg(feature = "archives")]
            BundleForm::Zip => self.commit_archive(archive::zip),
            #[cfg(feature = "archives")]
            BundleForm::TarZst => self.commit_archive(archive::tar_zst),
        }
    }
}

impl FsBundleWriter {
    /// Publishes the staged directory itself.
    fn commit_directory(self) -> Result<String, BundleSinkError> {
        let staging = &self.place.staging;
        sync(staging.folder()).map_err(|error| from_fs(self.name(), error))?;
        self.stop.check().map_err(|error| sink_error(self.name(), error))?;
        let path = self.target.publish(staging.parent(), staging.name())?;
        self.place.staging.keep();
        self.place.made.keep();
        Ok(path)
    }

    /// Packs the staged directory and publishes the archive.
    #[cfg(feature = "archives")]
    fn commit_archive(self, pack: archive::Pack) -> Result<String, BundleSinkError> {
        let Self { target, place, files, stop } = self;
        let name = target.name.as_str().to_owned();
        let failed = |error: io::Error| sink_error(&name, error);
        let files: Vec<BundleFile> = files.into_iter().collect();
        let packed = archive::pack(&place.staging, &files, pack, &stop);
        let archive = packed.map_err(|error| from_fs(&name, error))?;
        // This comes before the archive appears, because nothing may fail after
        // that.
        place.staging.remove().map_err(failed)?;
        stop.check().map_err(failed)?;
        let path = target.publish(&archive.parent, &archive.name)?;
        archive.keep();
        place.made.keep();
        Ok(path)
    }
}

/// Forces a bundle's directories to the disk.
fn sync(folder: &Dir) -> Result<(), FsError> {
    match open_subfolder(folder, BLOBS) {
        Ok(blobs) => sync_folder(&blobs, BLOBS)?,
        Err(error) if error.is_not_found() => {}
        Err(error) => return Err(error),
    }
    sync_folder(folder, ".")
}

#[derive(Debug)]
struct FsBundleFileWriter {
    bundle: String,
    writer: BufWriter<LimitedFile>,
    early_sync: EarlySync,
    stop: StopFlag,
}

impl BundleFileWriter for FsBundleFileWriter {
    fn append(&mut self, text: &Redacted<String>) -> Result<(), BundleSinkError> {
        let bytes = text.as_ref().as_bytes();
        let written = self
            .stop
            .check()
            .and_then(|()| self.writer.write_all(bytes))
            .and_then(|()| self.early_sync.wrote(bytes.len(), self.writer.get_ref().as_file()));
        written.map_err(|error| sink_error(&self.bundle, error))
    }

    fn finish(mut self: Box<Self>) -> Result<(), BundleSinkError> {
        let flushed = self
            .writer
            .flush()
            .and_then(|()| self.early_sync.wait())
            .and_then(|()| self.writer.get_ref().as_file().sync_all());
        flushed.map_err(|error| sink_error(&self.bundle, error))
    }
}

fn sink_error(name: &str, error: io::Error) -> BundleSinkError {
    let name = name.to_owned();
    if is_full(&error) {
        return BundleSinkError::Full { name };
    }
    BundleSinkError::Storage { name, source: Box::new(error) }
}

fn from_fs(name: &str, error: FsError) -> BundleSinkError {
    match error {
        FsError::Io { source, .. } => sink_error(name, source),
        FsError::Refused { .. } => BundleSinkError::UnsafePlace { name: name.to_owned() },
        FsError::Held { .. } => sink_error(name, io::ErrorKind::WouldBlock.into()),
    }
}
