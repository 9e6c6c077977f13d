//! The sessions of this machine: those below the configured roots, else those of
//! OpenClaw's stores, the files next to the stores, and the files of every other
//! agent.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, Metadata};
use traj_core::agents::{Agent, FileKind};
use traj_core::care::session_store::is_safe_id;
use traj_core::dialect::{Dialect, Head, sniff};
use traj_core::limits::Reading;
use traj_core::location::{session_stem, sidecar_beside};
use traj_core::timestamp::UnixMillis;

use super::agent_choice::AgentChoice;
use super::agent_files::{self, AgentFile, FileStamp};
use super::gathered::{open_source, sessions_of_database};
use super::places::{STORE, is_transcript_name, rollouts_of_codex};
use super::store::StorePlace;
use super::{ChosenSession, Subject};
use crate::command_error::CommandError;
use crate::compose::Host;

/// How many bytes of a file are read to find its workspace. The header of a
/// rollout can be long.
const HEAD_BYTES: u64 = Reading::standard().header_bytes as u64;

/// How many bytes of a file are read to find its id.
const ID_BYTES: u64 = Reading::standard().id_bytes as u64;

/// The beginning of a rollout's file name.
const ROLLOUT: &str = "rollout-";

/// The length of the id at the end of a rollout's file name.
const UUID: usize = 36;

/// How many levels below a root are searched. Sessions of agents are two or
/// three levels below their common directory, rollouts four.
const DEEPEST: usize = 5;

/// A session that the user may have named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KnownSession {
    /// Its key in the store.
    pub(super) key: Option<String>,
    /// The id: from the store, else from the file name.
    pub(super) id: String,
    pub(super) file: PathBuf,
    /// Of a file that was found where its agent keeps it.
    stamp: Option<FileStamp>,
    /// Of a session in a database: the agent's working directory, and when it last
    /// changed.
    in_database: Option<(Option<String>, Option<UnixMillis>)>,
}

impl KnownSession {
    /// Key or id, and file, for people.
    pub(super) fn shown(&self) -> String {
        let name = self.key.as_deref().unwrap_or(&self.id);
        format!("{name}, {}", self.file.display())
    }

    pub(super) fn chosen(&self, host: &Host) -> Subject {
        Subject::Session(ChosenSession::at(host.absolute(&self.file), self.key.clone()))
    }
}

/// The sessions that were found, and the first store that could not be read.
#[derive(Debug, Default)]
pub(super) struct SessionListing {
    pub(super) sessions: Vec<KnownSession>,
    pub(super) problem: Option<CommandError>,
    /// The directories that were searched.
    pub(super) folders: Vec<PathBuf>,
    /// Databases whose sessions were not looked up yet.
    databases: Vec<AgentFile>,
}

impl SessionListing {
    /// The sessions of one store, of one agent, or of this machine.
    pub(super) fn read(store: Option<&Path>, agent: Option<&str>, host: &Host) -> Self {
        let mut listing = Self::default();
        if let Some(store) = store {
            listing.add_store(store, host);
            return listing;
        }
        let roots = host.facts.roots();
        let choice = AgentChoice::of(agent);
        if choice == AgentChoice::All && !roots.is_empty() {
            for root in roots {
                listing.add_tree(Path::new(&root), host);
            }
            return listing;
        }
        if let Some(state) = host.facts.agents_root() {
            let agents = Path::new(&state).join("agents");
            for name in folders_in(&agents, host) {
                if choice.has_agent_of_openclaw(&name) && is_safe_id(&name) {
                    listing.add_agent(&agents.join(name).join("sessions"), host);
                }
            }
        }
        if choice == AgentChoice::All
            && let Some(rollouts) = rollouts_of_codex(host)
        {
            listing.add_folders_of_rollouts(&rollouts, host);
        }
        for agent in choice.agents() {
            listing.add_files_of(agent, host);
        }
        listing
    }

    /// Adds the sessions of the databases that changed after a time. One that
    /// cannot be read has no sessions for us: the file itself can be named.
    pub(super) fn add_databases(&mut self, after: Option<UnixMillis>, host: &Host) {
        for database in std::mem::take(&mut self.databases) {
            let changed = database.stamp.modified();
            let changed = changed.max(database.parts.newest.and_then(UnixMillis::new));
            if after.is_some() && changed < after {
                continue;
            }
            for session in sessions_of_database(&database.path, host).unwrap_or_default() {
                let file = format!("{}#{}", database.path.display(), session.id);
                let changed = session.changed.and_then(UnixMillis::new).or(changed);
                self.sessions.push(KnownSession {
                    key: None,
                    id: session.id,
                    file: PathBuf::from(file),
                    stamp: Some(database.stamp),
                    in_database: Some((session.workspace, changed)),
                });
            }
        }
    }

    /// When the files of a session last changed; `None` without a transcript.
    pub(super) fn modified(known: &KnownSession, host: &Host) -> Option<UnixMillis> {
        if let Some((_, changed)) = &known.in_database {
            return *changed;
        }
        if let Some(stamp) = &known.stamp {
            return stamp.modified();
        }
        let (folder, name) = host.folder_of(&known.file).ok()?;
        let metadata = folder.symlink_metadata(&name).ok().filter(Metadata::is_file)?;
        // A growing sidecar also means that the session is in use.
        let sidecar = folder.symlink_metadata(sidecar_beside(&name)).ok();
        let times = [Some(metadata), sidecar].into_iter().flatten();
        times.filter_map(|found| FileStamp::of(&found).modified()).max()
    }

    /// Whether a session can be read. What a store or a user names is not
    /// checked.
    pub(super) fn is_readable(known: &KnownSession, host: &Host) -> bool {
        let head = || head_of(&known.file, HEAD_BYTES, host).unwrap_or_default();
        known.stamp.is_none() || sniff(Head::of(&head())).is_some()
    }

    /// The workspace of a session, as stated in its transcript or sidecar.
    pub(super) fn workspace(known: &KnownSession, host: &Host) -> Option<String> {
        if let Some((workspace, _)) = &known.in_database {
            return workspace.clone();
        }
        let beside = PathBuf::from(sidecar_beside(&known.file.to_string_lossy()));
        let stated = |file: &Path| Dialect::stated_workspace(&head_of(file, HEAD_BYTES, host)?);
        stated(&known.file).or_else(|| stated(&beside))
    }

    /// The id stated in the transcript of a session. Not read for rollouts: their
    /// id is part of the file name.
    pub(super) fn stated_id(known: &KnownSession, host: &Host) -> Option<String> {
        let name = known.file.file_name()?.to_string_lossy();
        if name.starts_with(ROLLOUT) || known.in_database.is_some() {
            return None;
        }
        Dialect::stated_session(&head_of(&known.file, ID_BYTES, host)?)
    }

    fn add(&mut self, key: Option<String>, id: String, file: PathBuf) {
        self.sessions.push(KnownSession { key, id, file, stamp: None, in_database: None });
    }

    fn add_store(&mut self, store: &Path, host: &Host) {
        match StorePlace::read(Some(store), "main", host) {
            Ok(place) => {
                for (session, file) in place.listed(host) {
                    self.add(Some(session.key.clone()), session.session_id.clone(), file);
                }
            }
            Err(error) => self.problem = self.problem.take().or(Some(error)),
        }
    }

    fn add_agent(&mut self, sessions: &Path, host: &Host) {
        let Ok(Some(folder)) = host.folder_if_any(sessions) else { return };
        self.folders.push(sessions.to_path_buf());
        if folder.symlink_metadata(STORE).is_ok() {
            self.add_store(&sessions.join(STORE), host);
        }
        for name in names_in(&folder, false) {
            let file = sessions.join(&name);
            if is_transcript_name(&name) && self.sessions.iter().all(|known| known.file != file) {
                self.add(None, id_in(&name).to_owned(), file);
            }
        }
    }

    /// Adds the sessions in a directory and below it.
    fn add_tree(&mut self, root: &Path, host: &Host) {
        let mut folders = vec![root.to_path_buf()];
        for _ in 0..=DEEPEST {
            for folder in &folders {
                self.add_agent(folder, host);
            }
            let inner = folders.iter().flat_map(|folder| {
                folders_in(folder, host).into_iter().map(|name| folder.join(name))
            });
            folders = inner.collect();
        }
    }

    /// Adds the directories of rollouts: `YEAR/MONTH/DAY`.
    fn add_folders_of_rollouts(&mut self, folder: &Path, host: &Host) {
        let mut folders = vec![folder.to_path_buf()];
        for _ in 0..3 {
            let inner = folders.iter().flat_map(|folder| {
                folders_in(folder, host).into_iter().map(|name| folder.join(name))
            });
            folders = inner.collect();
        }
        self.folders.extend(folders);
    }

    /// Adds the files of an agent that are not known yet.
    fn add_files_of(&mut self, agent: &'static Agent, host: &Host) {
        let known: HashSet<PathBuf> =
            self.sessions.iter().map(|known| host.absolute(&known.file)).collect();
        for found in agent_files::files_of(agent, host) {
            if found.kind == FileKind::Database {
                self.databases.push(found);
            } else if !known.contains(&found.path) {
                let name = found.path.file_name().unwrap_or_default().to_string_lossy();
                let id = found.id.unwrap_or_else(|| id_in(&name).to_owned());
                let (file, stamp) = (found.path, Some(found.stamp));
                self.sessions.push(KnownSession { key: None, id, file, stamp, in_database: None });
            }
        }
    }
}

/// The id in the name of a session file.
fn id_in(name: &str) -> &str {
    let stem = session_stem(name);
    let end = stem.len().checked_sub(UUID).and_then(|at| stem.get(at..));
    end.filter(|_| name.starts_with(ROLLOUT)).unwrap_or(stem)
}

fn folders_in(path: &Path, host: &Host) -> Vec<String> {
    // The paths of the state directory and of Codex may contain links.
    host.named_root(path).map(|folder| names_in(&folder, true)).unwrap_or_default()
}

/// The sorted names of the files or directories in a directory.
fn names_in(folder: &Dir, wants_folders: bool) -> Vec<String> {
    let Ok(entries) = folder.entries() else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| {
            let kind = entry.file_type();
            kind.is_ok_and(|kind| if wants_folders { kind.is_dir() } else { kind.is_file() })
        })
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// The beginning of a session's rows.
fn head_of(file: &Path, most: u64, host: &Host) -> Option<Vec<u8>> {
    let source = open_source(file, host).ok()?.ok()?;
    let mut head = vec![0; usize::try_from(source.len().min(most)).ok()?];
    source.read_exact_at(0, &mut head).ok()?;
    Some(head)
}
