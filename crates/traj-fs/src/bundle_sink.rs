//! Bundles on the disk: written out of sight, made visible with one rename.

mod archive;
mod early_sync;
mod staging;

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write as _};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt as _, Permissions, PermissionsExt as _};
use traj_core::id::BundleName;
use traj_core::port::{
    BundleFile, BundleFileWriter, BundleSink, BundleSinkError, BundleWriter, NameTaken, Scratch,
    Source,
};
use traj_core::redaction::Redacted;

use crate::error::{FsError, is_full};
use crate::folder::{create_subfolder, make_private, open_subfolder};
use crate::new_file::NewFile;
use crate::open::{Access, open_regular};
use crate::replace::sync_folder;
use crate::scratch::FsScratch;
use crate::source::FsSource;
use crate::stop_flag::StopFlag;
use early_sync::EarlySync;
use staging::Staging;

/// What tells a bundle from other folders.
const MANIFEST: &str = "manifest.json";

/// How much is written at once.
const BUFFER: usize = 256 * 1024;

/// What a bundle looks like on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BundleForm {
    /// A folder of files.
    Folder,
    /// One zip file.
    Zip,
    /// One zstd-compressed tar file.
    TarZst,
}

impl BundleForm {
    const fn extension(self) -> &'static str {
        match self {
            Self::Folder => "",
            Self::Zip => ".zip",
            Self::TarZst => ".tar.zst",
        }
    }
}

/// Puts bundles below one folder.
///
/// A bundle is written into a hidden folder beside its target (0700, files
/// 0600, whatever the umask) and renamed when it is complete and on the disk.
/// A crash leaves at most the hidden folder, which the next export removes.
#[derive(Debug)]
pub struct FsBundleSink {
    root: Dir,
    form: BundleForm,
    stop: StopFlag,
}

impl FsBundleSink {
    /// Bundles go below `root` in this form.
    #[must_use]
    pub fn new(root: Dir, form: BundleForm) -> Self {
        Self { root, form, stop: StopFlag::default() }
    }

    /// Everything fails once `stop` is raised, up to the rename.
    #[must_use]
    pub fn stopping_at(mut self, stop: StopFlag) -> Self {
        self.stop = stop;
        self
    }
}

impl BundleSink for FsBundleSink {
    fn begin(
        &self,
        name: &BundleName,
        taken: NameTaken,
    ) -> Result<Box<dyn BundleWriter>, BundleSinkError> {
        let target = Target { name: name.clone(), form: self.form, taken };
        target.check_place(&self.root)?;
        let root = self.root.try_clone().map_err(|error| sink_error(name.as_str(), error))?;
        let staging = Staging::create(root).map_err(|error| from_fs(name.as_str(), error))?;
        let (files, stop) = (BTreeSet::new(), self.stop.clone());
        Ok(Box::new(FsBundleWriter { target, staging, files, stop }))
    }
}

/// Where a bundle will appear.
#[derive(Debug)]
struct Target {
    name: BundleName,
    form: BundleForm,
    taken: NameTaken,
}

impl Target {
    /// The path below the root, with this number if it is above one.
    fn path(&self, number: u32) -> String {
        let name = if number > 1 { self.name.with_counter(number) } else { self.name.clone() };
        let extension = self.form.extension();
        let plain = name.as_str().strip_suffix(extension).unwrap_or(name.as_str());
        format!("{plain}{extension}")
    }

    /// Looks early whether the place is free and safe, so that no work is
    /// done in vain.
    fn check_place(&self, root: &Dir) -> Result<(), BundleSinkError> {
        let path = self.path(1);
        if path.split('/').any(staging::is_reserved) {
            return Err(BundleSinkError::ReservedName { name: path });
        }
        let mut parts: Vec<&str> = path.split('/').collect();
        let last = parts.pop().unwrap_or_default();
        let mut folder: Option<Dir> = None;
        for part in parts {
            match open_subfolder(folder.as_ref().unwrap_or(root), part) {
                // A bundle with another one in it would not be sound any more.
                Ok(inner) if inner.symlink_metadata(MANIFEST).is_ok() => {
                    return Err(BundleSinkError::Exists { name: part.to_owned() });
                }
                Ok(inner) => folder = Some(inner),
                Err(error) if error.is_not_found() => return Ok(()),
                Err(error) => return Err(from_fs(&path, error)),
            }
        }
        let is_there = folder.as_ref().unwrap_or(root).symlink_metadata(last).is_ok();
        if is_there && self.taken == NameTaken::Refuse {
            return Err(BundleSinkError::Exists { name: path });
        }
        Ok(())
    }

    /// Gives what was staged its name.
    fn publish(&self, root: &Dir, staged: &str) -> Result<String, BundleSinkError> {
        for number in 1.. {
            let path = self.path(number);
            let (parents, last) = path.rsplit_once('/').unwrap_or(("", &path));
            let mut folder = root.try_clone().map_err(|error| sink_error(&path, error))?;
            for part in parents.split('/').filter(|part| !part.is_empty()) {
                folder = create_subfolder(&folder, part).map_err(|error| from_fs(&path, error))?;
                make_private(&folder, part).map_err(|error| from_fs(&path, error))?;
            }
            match staging::rename_to_free(root, staged, &folder, last) {
                Ok(()) => {
                    sync_folder(&folder, last).map_err(|error| from_fs(&path, error))?;
                    return Ok(path);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if self.taken == NameTaken::Refuse {
                        return Err(BundleSinkError::Exists { name: path });
                    }
                }
                Err(error) => return Err(sink_error(&path, error)),
            }
        }
        Err(BundleSinkError::Exists { name: self.path(1) })
    }
}

#[derive(Debug)]
struct FsBundleWriter {
    target: Target,
    staging: Staging,
    files: BTreeSet<BundleFile>,
    stop: StopFlag,
}

impl FsBundleWriter {
    fn name(&self) -> &str {
        self.target.name.as_str()
    }

    /// The folder a file lies in, and its name there.
    fn place(&self, file: BundleFile) -> Result<(Dir, String), BundleSinkError> {
        let path = file.to_string();
        let folder = self.staging.folder();
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
        let writer = BufWriter::with_capacity(BUFFER, NewFile::new(opened));
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
        let file = self.staging.nameless().map_err(|error| sink_error(self.name(), error))?;
        Ok(Box::new(FsScratch::of_file(file)))
    }

    fn commit(self: Box<Self>) -> Result<String, BundleSinkError> {
        let Self { target, mut staging, files, stop } = *self;
        let name = target.name.as_str().to_owned();
        let failed = |error: io::Error| sink_error(&name, error);
        stop.check().map_err(failed)?;
        if target.form == BundleForm::Folder {
            staging.sync().map_err(failed)?;
            let path = target.publish(staging.root(), staging.name())?;
            staging.keep();
            return Ok(path);
        }
        let files: Vec<BundleFile> = files.into_iter().collect();
        let archive = archive::pack(&staging, &files, target.form, &stop).map_err(failed)?;
        match target.publish(staging.root(), &archive) {
            Ok(path) => Ok(path),
            Err(error) => {
                staging.root().remove_file(&archive).ok();
                Err(error)
            }
        }
    }
}

#[derive(Debug)]
struct FsBundleFileWriter {
    bundle: String,
    writer: BufWriter<NewFile>,
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

/// Makes a new file that only its owner can read.
fn create_private(folder: &Dir, name: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600).follow(FollowSymlinks::No);
    let file = folder.open_with(name, &options)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
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
