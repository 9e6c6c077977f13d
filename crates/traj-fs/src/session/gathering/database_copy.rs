//! A private copy of a database that its owner may be using.
//!
//! Reading the original would take locks that its owner waits for, and may write
//! an index beside it. So the database and its write-ahead log are copied, through
//! open handles, into a private directory. The copy is consistent if the log did
//! not start again meanwhile: until then, every page that its owner writes to the
//! database is also in the log, which hides it.

use std::io;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, File, FileExt as _, MetadataExt as _};
use traj_core::port::TablesError;

use super::OpenedFile;
use crate::error::FsError;
use crate::safe::limited_file::check_growth;
use crate::safe::open::{Access, create_private, open_replaceable};
use crate::safe::temporary_directory::TemporaryFolder;
use crate::stop_flag::StopFlag;

/// How much is copied at once.
const BLOCK: usize = 1024 * 1024;

/// How often a copy is tried: its owner may change the database meanwhile.
const TRIES: usize = 5;

/// The bytes of a log's header, which change when the log starts again.
const LOG_HEADER: usize = 32;

/// The first bytes of a rollback journal: its owner is in the middle of a change.
const JOURNAL: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

const DATABASE: &str = "database";
const LOG: &str = "database-wal";

/// A copy in its own directory, which disappears with it.
#[derive(Debug)]
pub(super) struct DatabaseCopy {
    folder: TemporaryFolder,
    parent: PathBuf,
    pub(super) bytes: u64,
}

/// What shows that a database changed while it was copied.
#[derive(PartialEq)]
struct Version {
    database: (u64, i64, i64),
    log: Option<Vec<u8>>,
}

impl Version {
    /// Whether what was copied in between fits together.
    fn is_followed_by(&self, later: &Self) -> bool {
        match (&self.log, &later.log) {
            (Some(log), Some(later)) if !log.is_empty() => log == later,
            _ => self == later,
        }
    }
}

impl DatabaseCopy {
    /// Copies a database into a new directory in `parent`, which is at `path`.
    pub(super) fn of(
        opened: &OpenedFile,
        path: &Path,
        parent: &Dir,
        most: u64,
        stop: &StopFlag,
    ) -> Result<Self, TablesError> {
        let folder = TemporaryFolder::create(parent).map_err(from_ours)?;
        for _ in 0..TRIES {
            let before = version(opened)?;
            let Some(bytes) = copy_both(opened, folder.folder(), most, stop)? else { continue };
            if before.is_followed_by(&version(opened)?) {
                return Ok(Self { folder, parent: path.to_path_buf(), bytes });
            }
        }
        Err(TablesError::Busy)
    }

    /// Where the copy is.
    pub(super) fn path(&self) -> PathBuf {
        self.parent.join(self.folder.name()).join(DATABASE)
    }
}

fn version(opened: &OpenedFile) -> Result<Version, TablesError> {
    let found = opened.file.metadata().map_err(failed)?;
    let log = beside(opened, "-wal")?.map(|log| head(&log, LOG_HEADER)).transpose()?;
    Ok(Version { database: (found.len(), found.mtime(), found.mtime_nsec()), log })
}

/// Copies the database, then its log; `None` if a change is under way.
fn copy_both(
    opened: &OpenedFile,
    target: &Dir,
    most: u64,
    stop: &StopFlag,
) -> Result<Option<u64>, TablesError> {
    if let Some(journal) = beside(opened, "-journal")?
        && head(&journal, JOURNAL.len())? == JOURNAL
    {
        return Ok(None);
    }
    let mut bytes = copy(&opened.file, target, DATABASE, most, stop)?;
    if let Some(log) = beside(opened, "-wal")? {
        bytes += copy(&log, target, LOG, most - bytes, stop)?;
    }
    Ok(Some(bytes))
}

/// The file beside the database whose name ends like this, if there is one.
fn beside(opened: &OpenedFile, ending: &str) -> Result<Option<File>, TablesError> {
    match open_replaceable(&opened.folder, &format!("{}{ending}", opened.name), Access::Read) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(from_ours(error)),
    }
}

/// The first bytes of a file.
fn head(file: &File, bytes: usize) -> Result<Vec<u8>, TablesError> {
    let mut head = vec![0; bytes];
    let count = file.read_at(&mut head, 0).map_err(failed)?;
    head.truncate(count);
    Ok(head)
}

/// Copies a file; returns its length.
fn copy(
    file: &File,
    target: &Dir,
    name: &str,
    most: u64,
    stop: &StopFlag,
) -> Result<u64, TablesError> {
    match target.remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    if file.metadata().map_err(failed)?.len() > most {
        return Err(TablesError::TooLarge);
    }
    let copied = create_private(target, name).map_err(failed)?;
    let mut block = vec![0; BLOCK];
    let mut position = 0;
    loop {
        stop.check().map_err(failed)?;
        let count = file.read_at(&mut block, position).map_err(failed)?;
        if count == 0 {
            return Ok(position);
        }
        if position + count as u64 > most {
            return Err(TablesError::TooLarge);
        }
        check_growth(position, count).map_err(failed)?;
        let read = block.get(..count).unwrap_or_default();
        copied.write_all_at(read, position).map_err(failed)?;
        position += count as u64;
    }
}

fn failed(error: io::Error) -> TablesError {
    TablesError::Storage(error.into())
}

fn from_ours(error: FsError) -> TablesError {
    TablesError::Storage(error.into())
}
