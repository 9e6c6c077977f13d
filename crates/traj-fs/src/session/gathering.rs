//! Turns files that are not JSON lines into rows: compressed files, databases, and
//! whatever else `traj_core::gather` gathers.
//!
//! The rows are kept in a private file without a name, so that every reader works
//! on a [`Source`] as if the session were one plain file.
//!
//! - `zstd`: unpacks compressed files;
//! - `database_copy`: copies a database that its owner may be using;
//! - `sqlite_tables`: the tables of that copy.

#[cfg(feature = "sqlite")]
mod database_copy;
mod gathered_source;
#[cfg(feature = "sqlite")]
mod sqlite_tables;
#[cfg(feature = "zstd")]
mod unpack;

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
#[cfg(feature = "zstd")]
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::fs::{Dir, File, FileExt as _, MetadataExt as _};
use traj_core::gather::{Container, GatherError, GatheredFile, GatheredPart, RowWriter, file_rows};
use traj_core::limits::Reading;
use traj_core::port::{Source, SourceError, Sources};

use self::gathered_source::GatheredSource;
use crate::safe::open::{Access, open_replaceable};
use crate::scratch::FsScratch;
use crate::session::sources::FsSource;
use crate::stop_flag::StopFlag;

#[cfg(feature = "sqlite")]
pub use self::sqlite_tables::SqliteTables;

/// How many gathered sessions are kept: a transcript and its sidecar are opened
/// several times by one command.
const MOST_KEPT: usize = 4;

/// The limit on SQLite's memory holds for the whole process, so that the rows of one
/// session at a time are read: two with large values would refuse each other.
#[cfg(feature = "sqlite")]
static ONE_DATABASE: Mutex<()> = Mutex::new(());

/// Gathers the rows of files that are not JSON lines, into private files in one
/// directory. Clones share what they gathered.
#[derive(Clone, Debug)]
pub struct Gathering {
    inner: Arc<GatherPlace>,
}

#[derive(Debug)]
struct GatherPlace {
    #[cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "only SQLite opens by path"))]
    path: PathBuf,
    folder: Dir,
    limits: Reading,
    kept: Mutex<Vec<(Stamp, GatheredSource)>>,
}

/// Which rows of which version of which file.
#[derive(Clone, Debug, PartialEq)]
struct Stamp {
    /// The file, and the log beside it.
    files: [Option<[i128; 4]>; 2],
    session: Option<String>,
    kind: GatheredPart,
}

/// A file that was opened, in its directory.
#[derive(Debug)]
pub(super) struct OpenedFile {
    pub(super) folder: Dir,
    pub(super) name: String,
    pub(super) file: File,
}

/// Which rows of a file are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'w> {
    /// The session, if the name says which.
    pub(super) session: Option<&'w str>,
    pub(super) kind: GatheredPart,
}

impl Wanted<'_> {
    /// The whole file.
    pub(super) const ALL: Self = Self { session: None, kind: GatheredPart::Transcript };
}

impl Gathering {
    /// Keeps private files in `folder`, a directory for temporary files. `path` is
    /// its path, without links.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, folder: Dir, limits: Reading) -> Self {
        let (path, kept) = (path.into(), Mutex::default());
        Self { inner: Arc::new(GatherPlace { path, folder, limits, kept }) }
    }

    /// The rows of a file: the file itself if it can be read in place.
    pub(super) fn source(
        &self,
        opened: OpenedFile,
        name: &str,
        wanted: Wanted<'_>,
        sources: &dyn Sources,
        stop: &StopFlag,
    ) -> Result<Box<dyn Source>, SourceError> {
        let failed = |error: GatherError| error.into_source_error(name);
        let container = container_of(&opened.file).map_err(|error| storage(error, name))?;
        let stamp = Stamp::of(&opened, wanted).map_err(|error| storage(error, name))?;
        if container != Container::Plain
            && let Some(kept) = self.kept(&stamp, name)
        {
            return Ok(kept);
        }
        let mut scratch = self.scratch().map_err(|error| storage(error, name))?;
        let mut rows = RowWriter::new(&mut scratch, self.inner.limits.gathered_bytes);
        let gathered = match container {
            Container::Sqlite => self.database(&opened, wanted, stop, &mut rows),
            _ if wanted.session.is_some() => {
                return Err(SourceError::NotFound { name: name.to_owned() });
            }
            Container::Zstd => self.compressed(&opened, name, sources, stop, &mut rows),
            _ => {
                let source = FsSource::new(name.to_owned(), opened.file, stop.clone());
                let source = source.map_err(|error| storage(error, name))?;
                let file = GatheredFile { name, source: &source, sources };
                if !file_rows(&file, &mut rows).map_err(failed)? {
                    return Ok(Box::new(source));
                }
                Ok(())
            }
        };
        let length = gathered.and_then(|()| rows.finish()).map_err(failed)?;
        Ok(Box::new(self.keep(stamp, GatheredSource::new(name, scratch, length))))
    }

    /// A new private file.
    fn scratch(&self) -> std::io::Result<FsScratch> {
        Ok(FsScratch::new(vec![self.inner.folder.try_clone()?]))
    }

    fn kept(&self, stamp: &Stamp, name: &str) -> Option<Box<dyn Source>> {
        let kept = self.inner.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, source) = kept.iter().find(|(known, _)| known == stamp)?;
        Some(Box::new(source.named(name)))
    }

    fn keep(&self, stamp: Stamp, source: GatheredSource) -> GatheredSource {
        let mut kept = self.inner.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| *known != stamp);
        if kept.len() >= MOST_KEPT {
            kept.remove(0);
        }
        kept.push((stamp, source.clone()));
        source
    }

    #[cfg(feature = "zstd")]
    fn compressed(
        &self,
        opened: &OpenedFile,
        name: &str,
        sources: &dyn Sources,
        stop: &StopFlag,
        rows: &mut RowWriter<'_>,
    ) -> Result<(), GatherError> {
        let source = self.unpacked(opened, name, self.inner.limits.gathered_bytes, stop)?;
        // What is inside may need to be gathered itself.
        if file_rows(&GatheredFile { name, source: &source, sources }, rows)? {
            return Ok(());
        }
        source.copy_to(rows)
    }

    /// The content of a compressed file, up to a number of bytes.
    #[cfg(feature = "zstd")]
    fn unpacked(
        &self,
        opened: &OpenedFile,
        name: &str,
        most: u64,
        stop: &StopFlag,
    ) -> Result<GatheredSource, GatherError> {
        let mut plain = self.scratch().map_err(|error| storage(error, name))?;
        let mut unpacked = RowWriter::new(&mut plain, most);
        unpack::file(&opened.file, stop, &mut unpacked)?;
        let length = unpacked.finish()?;
        Ok(GatheredSource::new(name, plain, length))
    }

    /// The content of a file that belongs to a session, if it is compressed. All
    /// files of a session share the `room` for what they contain. One that is damaged
    /// counts as missing: the session itself can be read.
    #[cfg(feature = "zstd")]
    pub(super) fn unpacked_beside(
        &self,
        opened: &OpenedFile,
        name: &str,
        room: &AtomicU64,
        stop: &StopFlag,
    ) -> Result<Option<Box<dyn Source>>, SourceError> {
        if container_of(&opened.file).map_err(|error| storage(error, name))? != Container::Zstd {
            return Ok(None);
        }
        let unpacked = self.unpacked(opened, name, room.load(Ordering::Relaxed), stop);
        let source = unpacked.map_err(|error| match error {
            GatherError::Damaged => SourceError::NotFound { name: name.to_owned() },
            error => error.into_source_error(name),
        })?;
        room.fetch_sub(source.len(), Ordering::Relaxed);
        Ok(Some(Box::new(source)))
    }

    /// Without the feature `zstd`, such a file is not looked into.
    #[cfg(not(feature = "zstd"))]
    #[expect(clippy::unused_self, reason = "as with the feature `zstd`")]
    #[expect(clippy::unnecessary_wraps, reason = "as with the feature `zstd`")]
    pub(super) fn unpacked_beside(
        &self,
        _opened: &OpenedFile,
        _name: &str,
        _room: &AtomicU64,
        _stop: &StopFlag,
    ) -> Result<Option<Box<dyn Source>>, SourceError> {
        Ok(None)
    }

    /// How many bytes all compressed files of a session may contain together.
    pub(super) fn room(&self) -> AtomicU64 {
        AtomicU64::new(self.inner.limits.gathered_bytes)
    }

    #[cfg(not(feature = "zstd"))]
    #[expect(clippy::unused_self, reason = "as with the feature `zstd`")]
    fn compressed(
        &self,
        _opened: &OpenedFile,
        name: &str,
        _sources: &dyn Sources,
        _stop: &StopFlag,
        _rows: &mut RowWriter<'_>,
    ) -> Result<(), GatherError> {
        Err(storage(WithoutFeature("zstd"), name).into())
    }

    #[cfg(feature = "sqlite")]
    fn database(
        &self,
        opened: &OpenedFile,
        wanted: Wanted<'_>,
        stop: &StopFlag,
        rows: &mut RowWriter<'_>,
    ) -> Result<(), GatherError> {
        let GatherPlace { path, folder, limits, .. } = &*self.inner;
        let _turn = ONE_DATABASE.lock().unwrap_or_else(PoisonError::into_inner);
        let tables = SqliteTables::of_copy(opened, path, folder, limits, stop)?;
        traj_core::gather::session_rows(&opened.name, &tables, wanted.session, wanted.kind, rows)
    }

    #[cfg(not(feature = "sqlite"))]
    #[expect(clippy::unused_self, reason = "as with the feature `sqlite`")]
    fn database(
        &self,
        opened: &OpenedFile,
        _wanted: Wanted<'_>,
        _stop: &StopFlag,
        _rows: &mut RowWriter<'_>,
    ) -> Result<(), GatherError> {
        Err(storage(WithoutFeature("sqlite"), &opened.name).into())
    }

    /// The tables of a database, if the file `name` directly inside `folder` is
    /// one.
    ///
    /// # Errors
    /// When the file is a link or cannot be read.
    #[cfg(feature = "sqlite")]
    pub fn tables(&self, folder: &Dir, name: &str) -> Result<Option<SqliteTables>, GatherError> {
        let error = |error| GatherError::from(crate::session::sources::source_error(error, name));
        let file = open_replaceable(folder, name, Access::Read).map_err(error)?;
        let failed = |error: std::io::Error| GatherError::from(storage(error, name));
        if container_of(&file).map_err(failed)? != Container::Sqlite {
            return Ok(None);
        }
        let folder = folder.try_clone().map_err(failed)?;
        let opened = OpenedFile { folder, name: name.to_owned(), file };
        let GatherPlace { path, folder, limits, .. } = &*self.inner;
        let tables = SqliteTables::of_copy(&opened, path, folder, limits, &StopFlag::default())?;
        Ok(Some(tables))
    }
}

/// The container of an open file.
fn container_of(file: &File) -> std::io::Result<Container> {
    let mut head = [0; Container::HEAD];
    let mut length = 0;
    while length < head.len() {
        match file.read_at(&mut head[length..], length as u64)? {
            0 => break,
            count => length += count,
        }
    }
    Ok(Container::of(head.get(..length).unwrap_or_default()))
}

impl Stamp {
    fn of(opened: &OpenedFile, wanted: Wanted<'_>) -> std::io::Result<Self> {
        let log = open_replaceable(&opened.folder, &format!("{}-wal", opened.name), Access::Read);
        let files = [Some(stamp_of(&opened.file)?), log.ok().and_then(|log| stamp_of(&log).ok())];
        Ok(Self { files, session: wanted.session.map(str::to_owned), kind: wanted.kind })
    }
}

fn stamp_of(file: &File) -> std::io::Result<[i128; 4]> {
    let found = file.metadata()?;
    let changed = i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec());
    Ok([found.dev().into(), found.ino().into(), found.len().into(), changed])
}

fn storage(error: impl Into<Box<dyn std::error::Error + Send + Sync>>, name: &str) -> SourceError {
    SourceError::Storage { name: name.to_owned(), source: error.into() }
}

#[cfg(not(all(feature = "zstd", feature = "sqlite")))]
#[derive(Debug, thiserror::Error)]
#[error("traj-fs was built without its feature `{0}`")]
struct WithoutFeature(&'static str);
