//! The sessions of this machine as files, for verbs that read each of them as a
//! whole.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use traj_core::redaction::{RedactionPolicy, Redactor};
use traj_core::run::Prices;
use traj_core::timestamp::UnixMillis;

use super::cache::SessionCache;
use super::candidate::Candidate;
use super::collect::{Collection, FoundSession};
use super::databases;
use super::read::{self, Reader};
use super::report::ListingProblem;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::resolve::ChosenSession;
use crate::resolve::agent_files::FileStamp;

/// The files of a session.
#[derive(Debug)]
pub(in crate::command) struct SessionFiles {
    candidate: Candidate,
}

/// The sessions that were found, and what cannot be read.
#[derive(Debug, Default)]
pub(in crate::command) struct FoundFiles {
    pub(in crate::command) sessions: Vec<SessionFiles>,
    /// Files that cannot be read, each with the reason.
    pub(in crate::command) problems: Vec<(String, String)>,
}

/// All sessions that `traj sessions` lists; parts of others are among them.
pub(in crate::command) fn every_session(host: &Host) -> Result<FoundFiles, CommandError> {
    let mut collection = Collection::of_roots_or_agents(host)?;
    let redactor = Redactor::new(RedactionPolicy::standard(Host::passing_key()?));
    let prices = Prices::default();
    let reader = Reader { redactor: &redactor, prices: &prices, host };
    let mut cache = SessionCache::default();
    for database in std::mem::take(&mut collection.databases) {
        match databases::sessions_of(&database, &mut cache, reader) {
            Ok(found) => collection.sessions.extend(found),
            Err(problem) => collection.problems.push(problem),
        }
    }
    let mut problems = collection.problems;
    let mut candidates = Vec::new();
    for session in &collection.sessions {
        match Candidate::of(session, &cache, host) {
            Ok(candidate) => candidates.push(candidate),
            Err(problem) => problems.push(problem),
        }
    }
    let used: HashSet<PathBuf> =
        candidates.iter().filter_map(|candidate| candidate.sidecar.clone()).collect();
    candidates.retain(|candidate| !used.contains(&candidate.found.file));
    let alone = collection.sidecars.iter().filter(|sidecar| !used.contains(*sidecar));
    candidates.extend(alone.map(|sidecar| Candidate::without_transcript(sidecar, host)));
    // A store may have several keys for one file.
    let mut seen = HashSet::new();
    candidates.retain(|candidate| seen.insert(candidate.found.file.clone()));
    let sessions = candidates.into_iter().map(|candidate| SessionFiles { candidate }).collect();
    let told = |ListingProblem { file, problem }| (file, problem);
    Ok(FoundFiles { sessions, problems: problems.into_iter().map(told).collect() })
}

impl SessionFiles {
    /// The files of a session that the user named.
    pub(in crate::command) fn named(
        chosen: &ChosenSession,
        host: &Host,
    ) -> Result<Self, CommandError> {
        let found = FoundSession {
            file: chosen.file.clone(),
            key: chosen.key.clone(),
            is_named: true,
            ..FoundSession::default()
        };
        let candidate = Candidate::of(&found, &SessionCache::default(), host);
        let mut candidate = candidate.map_err(|problem| CommandError::failure(problem.problem))?;
        if chosen.sidecar.is_some() {
            candidate.sidecar.clone_from(&chosen.sidecar);
        }
        Ok(Self { candidate })
    }

    /// The path of the session, or of its sidecar if it has only that.
    pub(in crate::command) fn path(&self) -> &Path {
        let alone = self.candidate.sidecar.as_deref().filter(|_| self.candidate.is_alone);
        alone.unwrap_or(&self.candidate.found.file)
    }

    /// As the session that an export reads.
    pub(in crate::command) fn chosen(&self) -> ChosenSession {
        ChosenSession {
            file: self.candidate.found.file.clone(),
            key: self.candidate.found.key.clone(),
            sidecar: self.candidate.sidecar.clone(),
        }
    }

    /// When its files last changed.
    pub(in crate::command) fn modified(&self) -> Option<UnixMillis> {
        self.candidate.modified
    }

    /// Shows whether the files changed, compared with another call. A session in a
    /// database says itself when it changed.
    pub(in crate::command) fn stamp(&self, host: &Host) -> u64 {
        let found = &self.candidate.found;
        let mut hasher = DefaultHasher::new();
        match found.changed {
            Some(changed) => changed.as_millis().hash(&mut hasher),
            None => {
                stamp_of(&found.file, host).hash(&mut hasher);
                // Files beside it, such as those of sub-agents.
                found.stamp.map(|stamp| format!("{:?}", stamp.parts)).hash(&mut hasher);
            }
        }
        self.candidate.sidecar.as_deref().map(|path| stamp_of(path, host)).hash(&mut hasher);
        hasher.finish()
    }

    /// The directory that the agent worked in.
    pub(in crate::command) fn workspace(&self, host: &Host) -> Option<String> {
        read::stated_workspace(&self.candidate, host)
    }

    /// Whether it is a separate session.
    pub(in crate::command) fn is_session(&self, host: &Host) -> Result<bool, CommandError> {
        read::is_session(&self.candidate, host)
    }
}

fn stamp_of(file: &Path, host: &Host) -> Option<FileStamp> {
    let (folder, name) = host.folder_of(file).ok()?;
    let name =
        traj_core::gather::SessionAddress::parse(&name).map_or(&*name, |address| address.file);
    let metadata = folder.symlink_metadata(name).ok()?;
    Some(FileStamp::of(&metadata))
}
