//! The files of a session, before any of them is read as a whole.

use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use traj_core::care::prune::classify;
use traj_core::gather::SessionAddress;
use traj_core::location::session_stem;
use traj_core::timestamp::UnixMillis;

use super::cache::{CachedSession, FilesStamp, SessionCache};
use super::collect::{FoundSession, problem};
use super::report::ListingProblem;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::resolve::Session as Place;
use crate::resolve::agent_files::FileStamp;

/// A session whose files are known.
#[derive(Debug, Default)]
pub(super) struct Candidate {
    pub(super) found: FoundSession,
    pub(super) id: String,
    pub(super) sidecar: Option<PathBuf>,
    /// When its files last changed. No event in them is newer.
    pub(super) modified: Option<UnixMillis>,
    /// Whether it is a sidecar without a transcript.
    pub(super) is_alone: bool,
    /// Shows whether its files changed; `None` if that is not known.
    pub(super) stamp: Option<FilesStamp>,
    /// The result of an earlier reading of the same files.
    pub(super) cached: Option<CachedSession>,
}

impl Candidate {
    /// The session that was found. Its sidecar is searched for if there may be
    /// one that is not known from an earlier reading.
    pub(super) fn of(
        found: &FoundSession,
        cache: &SessionCache,
        host: &Host,
    ) -> Result<Self, ListingProblem> {
        let cached = cache.get(&found.file).filter(|cached| Some(cached.stamp) == found.stamp);
        let cached = cached.filter(|cached| is_unchanged(cached, host)).cloned();
        match (cached, found.stamp) {
            (Some(cached), Some(stamp)) => {
                let sidecar = cached.sidecar.clone();
                let elsewhere = sidecar.iter().chain(&cached.others).filter_map(modified_at);
                let modified = modified_of(found, &stamp).max(elsewhere.max());
                let sidecar = sidecar.map(|(path, _)| path);
                Ok(Self { modified, sidecar, cached: Some(cached), ..Self::plain(found) })
            }
            (None, Some(stamp)) if !found.may_have_sidecar => {
                Ok(Self { modified: modified_of(found, &stamp), ..Self::plain(found) })
            }
            _ => locate(found, host),
        }
    }

    fn plain(found: &FoundSession) -> Self {
        let name = found.file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let id = found.id.clone().unwrap_or_else(|| session_stem(&name).to_owned());
        Self { found: found.clone(), id, stamp: found.stamp, ..Self::default() }
    }

    /// A sidecar that belongs to none of the transcripts.
    pub(super) fn without_transcript(sidecar: &Path, host: &Host) -> Self {
        let name = sidecar.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let stem = classify(name).map_or(name, |(_, stem)| stem);
        let transcript = format!("{stem}.jsonl");
        let folder = host.folder_of(sidecar).ok().map(|(folder, _)| folder);
        // A transcript with that name belongs to another session.
        let is_taken =
            folder.as_ref().is_some_and(|folder| folder.symlink_metadata(&transcript).is_ok());
        let file =
            if is_taken { sidecar.to_path_buf() } else { sidecar.with_file_name(transcript) };
        Self {
            found: FoundSession { file, ..FoundSession::default() },
            id: stem.to_owned(),
            sidecar: Some(sidecar.to_path_buf()),
            modified: folder.and_then(|folder| stamp_in(&folder, name)?.modified()),
            is_alone: true,
            ..Self::default()
        }
    }

    pub(super) fn newest(&self) -> Option<UnixMillis> {
        self.modified.max(self.found.updated_at)
    }

    /// What the cache may keep of a reading.
    pub(super) fn to_cache(&self, host: &Host) -> Option<CachedSession> {
        let stamp = self.stamp.filter(|_| !self.is_alone)?;
        self.found.file.to_str()?;
        let sidecar = match &self.sidecar {
            Some(path) => {
                path.to_str()?;
                Some((path.clone(), stamp_at(path, host)?))
            }
            None => None,
        };
        let cached = self.cached.clone().unwrap_or_default();
        Some(CachedSession { stamp, sidecar, ..cached })
    }
}

/// Whether the files of a known session that are elsewhere are as they were.
fn is_unchanged(cached: &CachedSession, host: &Host) -> bool {
    let mut elsewhere = cached.sidecar.iter().chain(&cached.others);
    elsewhere.all(|(path, stamp)| stamp_at(path, host).as_ref() == Some(stamp))
}

/// Finds the sidecar of a session, and when its files changed.
fn locate(found: &FoundSession, host: &Host) -> Result<Candidate, ListingProblem> {
    let unusable = |error: CommandError| problem(&found.file, &error);
    let place = Place::at(&found.file, host).map_err(unusable)?;
    let sidecar = place.sidecar(host).map_err(unusable)?.found;
    // In a sidecar directory, sidecars have the file names of sessions.
    let sidecar = sidecar.filter(|sidecar| sidecar.path != found.file);
    let recorded = sidecar.as_ref().and_then(|sidecar| stamp_in(&sidecar.folder, &sidecar.name));
    let own = stamp_in(&place.folder, &place.name);
    let stamps = [own, recorded].into_iter().flatten();
    Ok(Candidate {
        found: found.clone(),
        id: place.id.to_string(),
        modified: stamps.filter_map(|stamp| stamp.modified()).max().or(found.changed),
        sidecar: sidecar.map(|sidecar| sidecar.path),
        stamp: found.stamp,
        ..Candidate::default()
    })
}

fn modified_of(found: &FoundSession, stamp: &FilesStamp) -> Option<UnixMillis> {
    if found.changed.is_some() {
        return found.changed;
    }
    stamp.file.modified().max(stamp.parts.newest.and_then(UnixMillis::new))
}

fn modified_at((_, stamp): &(PathBuf, FileStamp)) -> Option<UnixMillis> {
    stamp.modified()
}

fn stamp_at(path: &Path, host: &Host) -> Option<FileStamp> {
    let (folder, name) = host.folder_of(path).ok()?;
    let of_database = || stamp_in(&folder, SessionAddress::parse(&name)?.file);
    stamp_in(&folder, &name).or_else(of_database)
}

fn stamp_in(folder: &Dir, name: &str) -> Option<FileStamp> {
    folder.symlink_metadata(name).ok().map(|metadata| FileStamp::of(&metadata))
}
