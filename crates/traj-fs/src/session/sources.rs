//! Opens input files, which are read at offsets.

use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::fs::{Dir, File, FileExt as _, Metadata, MetadataExt as _};
use traj_core::gather::{GatheredPart, SessionAddress};
use traj_core::port::{Source, SourceError, Sources};

use crate::error::{Context as _, FsError, Refusal};
use crate::safe::directory::{open_folder_below_links, open_subfolder};
use crate::safe::open::{Access, open_replaceable};
use crate::session::gathering::{Gathering, OpenedFile, Wanted};
use crate::stop_flag::StopFlag;

/// The files that were read for a session besides its own, as they were then.
/// Clones share them.
#[derive(Clone, Debug, Default)]
pub struct FilesBeside {
    files: Arc<Mutex<Vec<(String, Metadata)>>>,
}

impl FilesBeside {
    fn note(&self, name: &str, file: &File) {
        if let Ok(found) = file.metadata() {
            let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
            files.push((name.to_owned(), found));
        }
    }

    /// Their names, in the order in which they were opened.
    #[must_use]
    pub fn take(&self) -> Vec<(String, Metadata)> {
        std::mem::take(&mut self.files.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Reads only files below the given directories.
///
/// Names are paths. Relative ones are resolved against the given current
/// directory. No link below a root is followed; the caller decides how to open
/// the root itself.
#[derive(Debug)]
pub struct FsSources {
    current_dir: PathBuf,
    /// The path of each root, with its directory if that exists.
    roots: Vec<(PathBuf, Option<Dir>)>,
    /// The root of the filesystem, for relocated sidecars.
    relocated: Option<Dir>,
    stop: StopFlag,
    gathering: Option<Gathering>,
    beside: FilesBeside,
}

impl FsSources {
    /// Starts without roots. Relative names are resolved against `current_dir`.
    #[must_use]
    pub fn new(current_dir: impl Into<PathBuf>) -> Self {
        Self {
            current_dir: current_dir.into(),
            roots: Vec::new(),
            relocated: None,
            stop: StopFlag::default(),
            gathering: None,
            beside: FilesBeside::default(),
        }
    }

    /// Notes the other files that gathering a session opens.
    #[must_use]
    pub fn noting(mut self, beside: &FilesBeside) -> Self {
        self.beside = beside.clone();
        self
    }

    /// Also reads sessions that are not plain files: their rows are gathered. A
    /// session in a database is named `FILE#SESSION`.
    #[must_use]
    pub fn gathering(mut self, gathering: Gathering) -> Self {
        self.gathering = Some(gathering);
        self
    }

    /// Reads fail once `stop` is true.
    #[must_use]
    pub fn stopping_at(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = StopFlag::new(stop);
        self
    }

    /// Also reads below `folder`, which is at the absolute `path`.
    #[must_use]
    pub fn with_root(mut self, path: impl Into<PathBuf>, folder: Dir) -> Self {
        self.roots.push((path.into(), Some(folder)));
        self
    }

    /// Also allows `path`, where no directory exists: files below it are
    /// missing, not forbidden.
    #[must_use]
    pub fn with_missing_root(mut self, path: impl Into<PathBuf>) -> Self {
        self.roots.push((path.into(), None));
        self
    }

    /// Also reads sidecars that a pointer leads to, anywhere below `root`, the
    /// root of the filesystem. Links above the directory of such a file are
    /// followed; the directory and the file must not be links.
    #[must_use]
    pub fn with_relocated(mut self, root: Dir) -> Self {
        self.relocated = Some(root);
        self
    }

    /// The root that contains a path, and the rest of the path.
    fn find(&self, path: &Path) -> Option<(Option<&Dir>, PathBuf)> {
        let holding = self.roots.iter().filter_map(|(root, folder)| {
            let rest = path.strip_prefix(root).ok()?;
            Some((root.components().count(), folder.as_ref(), rest.to_path_buf()))
        });
        holding.max_by_key(|(depth, ..)| *depth).map(|(_, folder, rest)| (folder, rest))
    }
}

impl Sources for FsSources {
    fn open(&self, name: &str) -> Result<Box<dyn Source>, SourceError> {
        let Some(gathering) = &self.gathering else {
            return self.plain(self.opened(name)?, name);
        };
        let (opened, wanted) = match self.opened(name) {
            Err(error) if error.is_not_found() => {
                let (address, is_sidecar) = SessionAddress::parse_either(name).ok_or(error)?;
                let kind =
                    if is_sidecar { GatheredPart::Runtime } else { GatheredPart::Transcript };
                (self.opened(address.file)?, Wanted { session: Some(address.session), kind })
            }
            opened => (opened?, Wanted::ALL),
        };
        // What it needs beside it is read as it is.
        let plain = PlainSources { sources: self, gathering, room: gathering.room() };
        gathering.source(opened, name, wanted, &plain, &self.stop)
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, SourceError> {
        let path = self.path_of(folder)?;
        let (root, rest) = self.find(&path).ok_or_else(|| outside(folder))?;
        let Some(root) = root else { return Ok(Vec::new()) };
        match names_below(root, &rest) {
            Err(error) if error.is_not_found() => Ok(Vec::new()),
            names => names.map_err(|error| source_error(error, folder)),
        }
    }

    fn open_relocated(&self, name: &str) -> Result<Box<dyn Source>, SourceError> {
        match (self.open(name), &self.relocated) {
            (Err(SourceError::Outside { .. }), Some(root)) => {
                let path = self.path_of(name)?;
                let parts = path.parent().zip(path.file_name());
                let (parent, file) = parts.ok_or_else(|| outside(name))?;
                let parent = open_folder_below_links(root, parent)
                    .map_err(|error| source_error(error, name))?;
                self.plain(opened_below(&parent, Path::new(file), name)?, name)
            }
            (opened, _) => opened,
        }
    }
}

impl FsSources {
    fn path_of(&self, name: &str) -> Result<PathBuf, SourceError> {
        let path = self.current_dir.join(name);
        let climbs = path.components().any(|part| part == Component::ParentDir);
        if climbs { Err(outside(name)) } else { Ok(path) }
    }

    /// Opens a file as it is.
    fn opened(&self, name: &str) -> Result<OpenedFile, SourceError> {
        let path = self.path_of(name)?;
        let (root, rest) = self.find(&path).ok_or_else(|| outside(name))?;
        let root = root.ok_or_else(|| SourceError::NotFound { name: name.to_owned() })?;
        opened_below(root, &rest, name)
    }

    fn plain(&self, opened: OpenedFile, name: &str) -> Result<Box<dyn Source>, SourceError> {
        let source = FsSource::new(name.to_owned(), opened.file, self.stop.clone());
        Ok(Box::new(source.map_err(|error| storage(error, name))?))
    }
}

/// The same files, none of them gathered. Compressed ones are unpacked.
#[derive(Debug)]
struct PlainSources<'s> {
    sources: &'s FsSources,
    gathering: &'s Gathering,
    /// How many bytes compressed files may still contain.
    room: AtomicU64,
}

impl Sources for PlainSources<'_> {
    fn open(&self, name: &str) -> Result<Box<dyn Source>, SourceError> {
        let opened = self.sources.opened(name)?;
        self.sources.beside.note(name, &opened.file);
        let stop = &self.sources.stop;
        match self.gathering.unpacked_beside(&opened, name, &self.room, stop)? {
            Some(unpacked) => Ok(unpacked),
            None => self.sources.plain(opened, name),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, SourceError> {
        self.sources.list(folder)
    }
}

/// How many files of a directory are listed.
const MOST_NAMES: usize = 20_000;

/// The names of the regular files in a directory.
fn names_below(root: &Dir, path: &Path) -> Result<Vec<String>, FsError> {
    let mut folder: Option<Dir> = None;
    for part in path.iter() {
        let part = part.to_str();
        let unsafe_name = || FsError::refused("list", &path.to_string_lossy(), Refusal::UnsafeName);
        let part = part.ok_or_else(unsafe_name)?;
        folder = Some(open_subfolder(folder.as_ref().unwrap_or(root), part)?);
    }
    let mut names = Vec::new();
    let shown = path.to_string_lossy();
    for entry in folder.as_ref().unwrap_or(root).entries().context("list", &shown)? {
        let entry = entry.context("list", &shown)?;
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if let Some(name) = entry.file_name().to_str().filter(|_| is_file) {
            names.push(name.to_owned());
        }
        if names.len() >= MOST_NAMES {
            break;
        }
    }
    Ok(names)
}

fn opened_below(root: &Dir, path: &Path, name: &str) -> Result<OpenedFile, SourceError> {
    open_below(root, path).map_err(|error| source_error(error, name))
}

fn open_below(root: &Dir, path: &Path) -> Result<OpenedFile, FsError> {
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    let unsafe_name = || FsError::refused("open", &path.to_string_lossy(), Refusal::UnsafeName);
    let parts = parts.ok_or_else(unsafe_name)?;
    let (name, folders) = parts.split_last().ok_or_else(unsafe_name)?;
    let mut inner: Option<Dir> = None;
    for folder in folders {
        inner = Some(open_subfolder(inner.as_ref().unwrap_or(root), folder)?);
    }
    let folder = match inner {
        Some(folder) => folder,
        None => root.try_clone().context("open", name)?,
    };
    // A file may be replaced while it is being opened: that is not an attack.
    let file = open_replaceable(&folder, name, Access::Read)?;
    Ok(OpenedFile { folder, name: (*name).to_owned(), file })
}

fn outside(name: &str) -> SourceError {
    SourceError::Outside { name: name.to_owned() }
}

pub(super) fn source_error(error: FsError, name: &str) -> SourceError {
    let name = name.to_owned();
    if error.is_not_found() {
        return SourceError::NotFound { name };
    }
    match error.refusal() {
        Some(_) => SourceError::NotRegular { name },
        None => SourceError::Storage { name, source: Box::new(error) },
    }
}

fn storage(error: std::io::Error, name: &str) -> SourceError {
    SourceError::Storage { name: name.to_owned(), source: Box::new(error) }
}

/// A file, with the length it had when it was opened.
#[derive(Debug)]
pub(crate) struct FsSource {
    name: String,
    file: File,
    snapshot: Metadata,
    stop: StopFlag,
}

impl FsSource {
    pub(crate) fn new(name: String, file: File, stop: StopFlag) -> Result<Self, std::io::Error> {
        let snapshot = file.metadata()?;
        Ok(Self { name, file, snapshot, stop })
    }
}

impl Source for FsSource {
    fn len(&self) -> u64 {
        self.snapshot.len()
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), SourceError> {
        let read = self.stop.check().and_then(|()| self.file.read_exact_at(buffer, offset));
        read.map_err(|error| {
            if error.kind() == std::io::ErrorKind::UnexpectedEof {
                SourceError::Changed { name: self.name.clone() }
            } else {
                storage(error, &self.name)
            }
        })
    }

    fn check_unchanged(&self) -> Result<(), SourceError> {
        let now = self.file.metadata().map_err(|error| storage(error, &self.name))?;
        let stamp = |metadata: &Metadata| (metadata.mtime(), metadata.mtime_nsec());
        // Appending changes the time too, so a longer file counts as appended
        // to, not as changed.
        let is_rewritten = now.len() == self.snapshot.len() && stamp(&now) != stamp(&self.snapshot);
        if now.len() < self.snapshot.len() || is_rewritten {
            return Err(SourceError::Changed { name: self.name.clone() });
        }
        Ok(())
    }
}
