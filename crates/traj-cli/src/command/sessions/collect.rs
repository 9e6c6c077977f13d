//! Collects sessions from stores, from directories (recursively) and from files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use traj_core::agents::{Agent, FileKind};
use traj_core::care::prune::{ArtefactKind, classify};
use traj_core::care::session_store::{default_store_path, is_safe_id};
use traj_core::settings::Settings;
use traj_core::timestamp::UnixMillis;
use traj_fs::{is_bundle, open_subfolder};

use super::cache::FilesStamp;
use super::report::ListingProblem;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::resolve::agent_files::{self, AgentFile, FileStamp, Neighbours};
use crate::resolve::{AgentChoice, STORE, StorePlace, is_transcript_name};

/// The program that lists its sessions in stores.
const OPENCLAW: &str = "openclaw";

/// Directories deeper than this are not searched.
const DEEPEST: usize = 32;

/// A session file that was found, or that a store lists.
#[derive(Clone, Debug, Default)]
pub(super) struct FoundSession {
    pub(super) key: Option<String>,
    pub(super) file: PathBuf,
    pub(super) updated_at: Option<UnixMillis>,
    pub(super) running: bool,
    /// Whether the user or a store named it as a session.
    pub(super) is_named: bool,
    /// The id, as far as the path states it.
    pub(super) id: Option<String>,
    /// The program that keeps its sessions there.
    pub(super) agent: Option<&'static str>,
    /// Shows whether its files changed, if that is known.
    pub(super) stamp: Option<FilesStamp>,
    /// What the database says about it: its title, the agent's working
    /// directory, and when it last changed.
    pub(super) title: Option<String>,
    pub(super) workspace: Option<String>,
    pub(super) changed: Option<UnixMillis>,
    /// Whether there may be a sidecar. If the stamp is not known, there may be one.
    pub(super) may_have_sidecar: bool,
}

/// The sessions and sidecars that were found.
#[derive(Debug, Default)]
pub(super) struct Collection {
    pub(super) sessions: Vec<FoundSession>,
    /// Databases with sessions.
    pub(super) databases: Vec<AgentFile>,
    /// Files with the name of a sidecar.
    pub(super) sidecars: Vec<PathBuf>,
    pub(super) problems: Vec<ListingProblem>,
    /// Whether these are all sessions of this machine.
    pub(super) is_whole: bool,
    places: HashMap<PathBuf, usize>,
}

impl Collection {
    /// The sessions of a store, of an agent, or of this machine.
    pub(super) fn of_store(
        store: Option<&Path>,
        choice: AgentChoice<'_>,
        host: &Host,
    ) -> Result<Self, CommandError> {
        let mut collection = Self::default();
        match choice {
            _ if store.is_some() => collection.add_agent_of_openclaw(store, "main", host)?,
            AgentChoice::OfOpenClaw(id) => collection.add_agent_of_openclaw(None, id, host)?,
            AgentChoice::All | AgentChoice::Program(_) => collection.add_agents(choice, host)?,
        }
        Ok(collection)
    }

    /// Adds the sessions of a store and the files next to it.
    fn add_agent_of_openclaw(
        &mut self,
        store: Option<&Path>,
        agent: &str,
        host: &Host,
    ) -> Result<(), CommandError> {
        let fault = self.add_store_and_files(store, agent, host)?;
        match fault {
            Some(error) if self.sessions.is_empty() && self.sidecars.is_empty() => Err(error),
            _ => Ok(()),
        }
    }

    /// Like [`Self::add_agent_of_openclaw`]. Returns the error for a store that does not
    /// exist: even without one there may be files.
    fn add_store_and_files(
        &mut self,
        store: Option<&Path>,
        agent: &str,
        host: &Host,
    ) -> Result<Option<CommandError>, CommandError> {
        let (path, fault) = match StorePlace::read(store, agent, host) {
            Ok(place) => {
                self.add_store(&place, host);
                (Some(place.path), None)
            }
            Err(error) if store.is_none() => {
                let state = host.facts.agents_root();
                let path = state.map(|state| default_store_path(&state, agent));
                let is_missing = path.as_deref().is_some_and(|path| !exists(Path::new(path), host));
                if path.is_some() && !is_missing {
                    return Err(error);
                }
                (path.map(PathBuf::from), Some(error))
            }
            Err(error) => return Err(error),
        };
        let beside = path.as_deref().and_then(Path::parent);
        if let Some(beside) = beside
            && let Ok(Some(folder)) = host.folder_if_any(beside)
        {
            self.search(&folder, beside, DEEPEST, host);
        }
        if store.is_none() {
            let unknown = self.sessions.iter_mut().filter(|found| found.agent.is_none());
            unknown.for_each(|found| found.agent = Some(OPENCLAW));
        }
        Ok(fault)
    }

    /// Adds the sessions of the chosen programs.
    fn add_agents(&mut self, choice: AgentChoice<'_>, host: &Host) -> Result<(), CommandError> {
        for id in agents_of_openclaw(host) {
            if !choice.has_agent_of_openclaw(&id) {
                continue;
            }
            match self.add_store_and_files(None, &id, host) {
                Ok(_) => {}
                Err(error) if id == "main" => return Err(error),
                Err(error) => {
                    let root = host.facts.agents_root().unwrap_or_default();
                    self.report(Path::new(&default_store_path(&root, &id)), &error);
                }
            }
        }
        for agent in choice.agents() {
            let found = agent_files::files_of(agent, host);
            found.into_iter().for_each(|file| self.add_file_of_agent(file, host));
        }
        self.is_whole = choice == AgentChoice::All;
        Ok(())
    }

    fn add_file_of_agent(&mut self, found: AgentFile, host: &Host) {
        if found.kind == FileKind::Database {
            self.databases.push(found);
            return;
        }
        self.add(FoundSession {
            may_have_sidecar: found.has_artefacts || has_sidecar_folder(host),
            stamp: Some(FilesStamp { file: found.stamp, parts: found.parts }),
            id: found.id,
            agent: Some(found.agent.name),
            file: found.path,
            ..FoundSession::default()
        });
    }

    /// The sessions of the configured roots, else those of this machine.
    pub(super) fn of_roots_or_agents(host: &Host) -> Result<Self, CommandError> {
        let roots: Vec<PathBuf> = host.facts.roots().into_iter().map(PathBuf::from).collect();
        if roots.is_empty() {
            Self::of_store(None, AgentChoice::All, host)
        } else {
            Self::of_roots(&roots, host)
        }
    }

    /// The sessions in the named directories, files and stores.
    pub(super) fn of_roots(roots: &[PathBuf], host: &Host) -> Result<Self, CommandError> {
        let mut collection = Self::default();
        for root in roots {
            let path = host.real_path(root);
            let is_file = host.folder_of(&path).is_ok_and(|(folder, name)| {
                folder.symlink_metadata(name).is_ok_and(|found| !found.is_dir())
            });
            if !is_file {
                let folder = host.named_root(root)?;
                collection.search_tree(&folder, &path, host);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                let place = StorePlace::read(Some(&path), "main", host)?;
                collection.add_store(&place, host);
            } else if is_sidecar(&path) {
                collection.sidecars.push(path);
            } else {
                collection.add(FoundSession {
                    file: path,
                    is_named: true,
                    ..FoundSession::default()
                });
            }
        }
        Ok(collection)
    }

    /// Adds a session, or completes one that is known without a key.
    fn add(&mut self, found: FoundSession) {
        match self.places.get(&found.file).and_then(|at| self.sessions.get_mut(*at)) {
            Some(known) if known.key.is_none() => {
                let is_named = known.is_named || found.is_named;
                let (stamp, agent) = (found.stamp.or(known.stamp), found.agent.or(known.agent));
                let id = found.id.or(known.id.take());
                let may_have_sidecar = known.may_have_sidecar || found.may_have_sidecar;
                *known = FoundSession { is_named, stamp, agent, id, may_have_sidecar, ..found };
            }
            // Several keys may point to one file.
            Some(known) if found.key.is_some() && found.key != known.key => {
                self.sessions.push(found);
            }
            Some(_) => {}
            None => {
                self.places.insert(found.file.clone(), self.sessions.len());
                self.sessions.push(found);
            }
        }
    }

    fn add_store(&mut self, place: &StorePlace, host: &Host) {
        for (session, file) in place.listed(host) {
            self.add(FoundSession {
                key: Some(session.key.clone()),
                file,
                updated_at: session.updated_at.and_then(UnixMillis::new),
                running: session.running,
                is_named: true,
                ..FoundSession::default()
            });
        }
    }

    /// Searches a directory, and its store if it has one.
    fn search_tree(&mut self, folder: &Dir, path: &Path, host: &Host) {
        let stores = self.search(folder, path, 0, host);
        for store in stores {
            match StorePlace::read(Some(&store), "main", host) {
                Ok(place) => self.add_store(&place, host),
                Err(error) => self.report(&store, &error),
            }
        }
    }

    /// Searches a directory recursively. Returns the stores in it.
    fn search(&mut self, folder: &Dir, path: &Path, depth: usize, host: &Host) -> Vec<PathBuf> {
        let mut stores = Vec::new();
        let neighbours = match Neighbours::of_folder(None, folder, path) {
            Ok(neighbours) => neighbours.with_sub_agents(path, host),
            Err(error) => {
                self.report(path, &CommandError::failure("cannot be read").because(error));
                return stores;
            }
        };
        for name in &neighbours.not_utf8 {
            let file = path.join(name);
            if name.as_encoded_bytes().ends_with(b".jsonl") {
                self.report(&file, &CommandError::not_utf8(&file));
            }
        }
        self.sidecars.extend(neighbours.sidecars.iter().map(|name| path.join(name)));
        for (name, metadata) in &neighbours.files {
            let file = path.join(name);
            if name == STORE {
                stores.push(file);
            } else if let Some(agent) = agent_of_database(&file) {
                self.databases.push(AgentFile {
                    agent,
                    kind: FileKind::Database,
                    id: None,
                    stamp: FileStamp::of(metadata),
                    parts: neighbours.parts_of(folder, name),
                    has_artefacts: false,
                    path: file,
                });
            } else if is_session_name(name, &file) {
                let parts = neighbours.parts_of(folder, name);
                self.add(FoundSession {
                    stamp: Some(FilesStamp { file: FileStamp::of(metadata), parts }),
                    may_have_sidecar: neighbours.has_artefacts(name) || has_sidecar_folder(host),
                    file,
                    ..FoundSession::default()
                });
            }
        }
        for name in neighbours.folders() {
            if depth >= DEEPEST {
                break;
            }
            let inner_path = path.join(name);
            match open_subfolder(folder, name) {
                // The files of a bundle are not sessions.
                Ok(inner) if is_bundle(&inner) => {}
                Ok(inner) => stores.extend(self.search(&inner, &inner_path, depth + 1, host)),
                Err(error) => {
                    let error = CommandError::failure("cannot be read").because(error);
                    self.report(&inner_path, &error);
                }
            }
        }
        stores
    }

    pub(super) fn report(&mut self, file: &Path, error: &CommandError) {
        self.problems.push(problem(file, error));
    }
}

/// The problem with a file, with its causes.
pub(super) fn problem(file: &Path, error: &CommandError) -> ListingProblem {
    let said = std::iter::once(error.message.clone()).chain(error.causes());
    let problem = said.collect::<Vec<_>>().join(": ");
    ListingProblem { file: file.to_string_lossy().into_owned(), problem }
}

/// Whether a file has the name of a sidecar next to its transcript.
fn is_sidecar(file: &Path) -> bool {
    let kind = file.file_name().and_then(|name| name.to_str()).and_then(classify);
    kind.is_some_and(|(kind, _)| kind == ArtefactKind::Sidecar)
}

/// The agent that keeps its sessions in a database with this name.
fn agent_of_database(file: &Path) -> Option<&'static Agent> {
    let path = file.to_str()?;
    Agent::all().iter().find(|agent| agent.kind_of(path) == Some(FileKind::Database))
}

/// Whether a file in any directory may be a session.
fn is_session_name(name: &str, file: &Path) -> bool {
    is_transcript_name(name)
        || file.to_str().is_some_and(|path| {
            let mut kinds = Agent::all().iter().filter_map(|agent| agent.kind_of(path));
            kinds.any(FileKind::is_session)
        })
}

/// The ids of the agents of OpenClaw that have files, and `main`.
fn agents_of_openclaw(host: &Host) -> Vec<String> {
    let mut ids = vec!["main".to_owned()];
    let agents = host.facts.agents_root().map(|root| Path::new(&root).join("agents"));
    let folder = agents.and_then(|path| host.named_root(&path).ok());
    let entries = folder.iter().filter_map(|folder| folder.entries().ok()).flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
    ids.extend(names.filter(|name| name != "main" && is_safe_id(name)));
    ids.sort();
    ids
}

/// Whether sidecars may be elsewhere than beside their sessions.
fn has_sidecar_folder(host: &Host) -> bool {
    Settings::from_host(&host.facts).trajectory_dir.is_some()
}

fn exists(file: &Path, host: &Host) -> bool {
    host.folder_of(file).is_ok_and(|(folder, name)| folder.symlink_metadata(name).is_ok())
}
