//! Collects sessions from stores, from directories (recursively) and from files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use traj_core::care::prune::{ArtefactKind, classify};
use traj_core::care::session_store::default_store_path;
use traj_core::timestamp::UnixMillis;
use traj_fs::{is_bundle, open_subfolder};

use super::report::ListingProblem;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::resolve::{STORE, StorePlace, is_transcript_name, rollouts_of_codex};

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
}

/// The sessions and sidecars that were found.
#[derive(Debug, Default)]
pub(super) struct Collection {
    pub(super) sessions: Vec<FoundSession>,
    /// Files with the name of a sidecar.
    pub(super) sidecars: Vec<PathBuf>,
    pub(super) problems: Vec<ListingProblem>,
    places: HashMap<PathBuf, usize>,
}

impl Collection {
    /// The sessions of a store, of an agent, or of this machine.
    pub(super) fn of_store(
        store: Option<&Path>,
        agent: Option<&str>,
        host: &Host,
    ) -> Result<Self, CommandError> {
        let mut collection = Self::default();
        let read = StorePlace::read(store, agent.unwrap_or("main"), host);
        let (path, fault) = match read {
            Ok(place) => {
                collection.add_store(&place, host);
                (Some(place.path), None)
            }
            // Even without a store there may be files.
            Err(error) if store.is_none() => {
                let state = host.facts.agents_root();
                let path = state.map(|state| default_store_path(&state, agent.unwrap_or("main")));
                let is_missing = path.as_deref().is_some_and(|path| !exists(Path::new(path), host));
                if !is_missing {
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
            collection.search(&folder, beside, DEEPEST);
        }
        if store.is_none() && agent.is_none() {
            collection.add_rollouts(host);
        }
        match fault {
            Some(error) if collection.sessions.is_empty() && collection.sidecars.is_empty() => {
                Err(error)
            }
            _ => Ok(collection),
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

    /// Adds the Codex rollouts, if there are any.
    fn add_rollouts(&mut self, host: &Host) {
        let Some(rollouts) = rollouts_of_codex(host) else { return };
        let path = host.real_path(&rollouts);
        if let Ok(Some(folder)) = host.folder_if_any(&path) {
            self.search_tree(&folder, &path, host);
        }
    }

    /// Adds a session, or completes one that is known without a key.
    fn add(&mut self, found: FoundSession) {
        match self.places.get(&found.file).and_then(|at| self.sessions.get_mut(*at)) {
            Some(known) if known.key.is_none() => {
                let is_named = known.is_named || found.is_named;
                *known = FoundSession { is_named, ..found };
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
            });
        }
    }

    /// Searches a directory, and its store if it has one.
    fn search_tree(&mut self, folder: &Dir, path: &Path, host: &Host) {
        let stores = self.search(folder, path, 0);
        for store in stores {
            match StorePlace::read(Some(&store), "main", host) {
                Ok(place) => self.add_store(&place, host),
                Err(error) => self.report(&store, &error),
            }
        }
    }

    /// Searches a directory recursively. Returns the stores in it.
    fn search(&mut self, folder: &Dir, path: &Path, depth: usize) -> Vec<PathBuf> {
        let mut stores = Vec::new();
        let entries = match folder.entries() {
            Ok(entries) => entries,
            Err(error) => {
                self.report(path, &CommandError::failure("cannot be read").because(error));
                return stores;
            }
        };
        let mut names: Vec<_> = entries
            .flatten()
            .filter_map(|entry| Some((entry.file_name(), entry.file_type().ok()?)))
            .collect();
        names.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, kind) in names {
            let file = path.join(&name);
            let Some(name) = name.to_str() else {
                if name.as_encoded_bytes().ends_with(b".jsonl") {
                    self.report(&file, &CommandError::not_utf8(&file));
                }
                continue;
            };
            if kind.is_dir() && depth < DEEPEST {
                match open_subfolder(folder, name) {
                    // The files of a bundle are not sessions.
                    Ok(inner) if is_bundle(&inner) => {}
                    Ok(inner) => stores.extend(self.search(&inner, &file, depth + 1)),
                    Err(error) => {
                        self.report(&file, &CommandError::failure("cannot be read").because(error));
                    }
                }
            } else if kind.is_file() && name == STORE {
                stores.push(file);
            } else if kind.is_file() && is_sidecar(&file) {
                self.sidecars.push(file);
            } else if kind.is_file() && is_transcript_name(name) {
                self.add(FoundSession { file, ..FoundSession::default() });
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

fn exists(file: &Path, host: &Host) -> bool {
    host.folder_of(file).is_ok_and(|(folder, name)| folder.symlink_metadata(name).is_ok())
}
