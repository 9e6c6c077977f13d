//! Sessions that are not plain files: their rows are copied to a private file,
//! which is rewritten whenever the source or its log changes.

use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

use cap_std::fs::{Dir, MetadataExt as _};
use traj_core::gather::SessionAddress;
use traj_core::port::{Source, Sources as _};
use traj_core::run::Origin;
use traj_fs::{FollowedFile, FsSources, TemporaryFolder, write_private_file};

use crate::command_error::CommandError;
use crate::compose::Host;
use crate::resolve::Session;

/// How much is copied at once.
const BLOCK: usize = 1024 * 1024;

/// The version of a file: its length, its time, and which file it is.
type Version = Option<(u64, Option<SystemTime>, u64)>;

/// Copies of the rows of one session.
#[derive(Debug)]
pub(super) struct GatheredFiles {
    sources: FsSources,
    folder: Dir,
    /// The file, and the log beside it.
    names: [String; 2],
    versions: Option<[Version; 2]>,
    /// What is copied: the source, the copy, and what its rows are.
    copies: Vec<(String, &'static str, Origin)>,
    place: TemporaryFolder,
}

impl GatheredFiles {
    /// The rows of a session: its recorded events if it has any, else its
    /// transcript, or both.
    pub(super) fn of(
        session: &Session,
        wants_transcript: bool,
        host: &Host,
    ) -> Result<Self, CommandError> {
        let path = path_of(&session.path)?;
        let sources = session.sources(host)?;
        let address = SessionAddress::parse(&session.name);
        let is_address = session.folder.symlink_metadata(&session.name).is_err();
        let address = address.filter(|_| is_address);
        let file = address.map_or(session.name.as_str(), |address| address.file);
        let names = [file.to_owned(), format!("{file}-wal")];
        let recorded = format!("{path}.trajectory.jsonl");
        let mut copies = Vec::new();
        if address.is_some() && sources.open(&recorded).is_ok() {
            copies.push((recorded, "events.jsonl", Origin::Runtime));
        }
        if wants_transcript || copies.is_empty() {
            copies.push((path, "session.jsonl", Origin::Transcript));
        }
        let folder = session.folder.try_clone();
        let folder = folder.map_err(|error| unreadable(&session.path, error))?;
        let place = host.temporary_folder()?;
        let mut files = Self { sources, folder, names, versions: None, copies, place };
        files.refresh()?;
        Ok(files)
    }

    /// The copies, to be followed.
    pub(super) fn followed(&self) -> Result<Vec<FollowedFile>, CommandError> {
        let followed = self.copies.iter().map(|(_, name, origin)| {
            let folder = self.place.folder().try_clone();
            let folder = folder.map_err(|error| unreadable(Path::new(name), error))?;
            Ok(FollowedFile::new(folder, (*name).to_owned(), *origin))
        });
        followed.collect()
    }

    /// Copies the rows again if the source changed.
    pub(super) fn refresh(&mut self) -> Result<(), CommandError> {
        let versions = [0, 1].map(|at| self.names.get(at).and_then(|name| self.version(name)));
        if self.versions == Some(versions) {
            return Ok(());
        }
        for (source, copy, _) in &self.copies {
            match self.sources.open(source) {
                Ok(rows) => {
                    let written = write_private_file(self.place.folder(), copy, |file| {
                        copy_rows(&*rows, file)
                    });
                    written.map_err(|error| unreadable(Path::new(source), error))?;
                }
                // Its owner is changing it, or it is gone for a moment.
                Err(_) if self.versions.is_some() => return Ok(()),
                Err(error) => return Err(unreadable(Path::new(source), error)),
            }
        }
        self.versions = Some(versions);
        Ok(())
    }

    fn version(&self, name: &str) -> Version {
        let found = self.folder.symlink_metadata(name).ok()?;
        let modified = found.modified().ok().map(cap_std::time::SystemTime::into_std);
        Some((found.len(), modified, found.ino()))
    }
}

fn copy_rows(rows: &dyn Source, file: &mut dyn Write) -> std::io::Result<()> {
    let mut block = vec![0; BLOCK];
    let mut from = 0;
    while from < rows.len() {
        let rest = usize::try_from(rows.len() - from).unwrap_or(BLOCK).min(BLOCK);
        let block = block.get_mut(..rest).unwrap_or_default();
        rows.read_exact_at(from, block).map_err(std::io::Error::other)?;
        file.write_all(block)?;
        from += rest as u64;
    }
    Ok(())
}

fn path_of(path: &Path) -> Result<String, CommandError> {
    path.to_str().map(str::to_owned).ok_or_else(|| CommandError::not_utf8(path))
}

fn unreadable(
    path: &Path,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> CommandError {
    CommandError::failure(format!("cannot read the session {}", path.display())).because(error)
}
