//! Session stores, and the files of the sessions that they list.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use traj_core::care::session_store::{
    SessionStore, StoredSession, default_store_path, stored_session_candidates,
};
use traj_fs::open_file;

use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;

/// A store in its open directory.
#[derive(Debug)]
pub(crate) struct StorePlace {
    pub(crate) path: PathBuf,
    pub(crate) store: SessionStore,
}

impl StorePlace {
    /// Reads the store that the user named, or an agent's default store.
    pub(crate) fn read(
        store: Option<&Path>,
        agent: &str,
        host: &Host,
    ) -> Result<Self, CommandError> {
        let path = match store {
            Some(path) => host.absolute(path),
            None => {
                let state = host.facts.agents_root().ok_or_else(|| {
                    CommandError::failure("cannot find the session store")
                        .hint("set HOME, or pass the store with --store")
                })?;
                PathBuf::from(default_store_path(&state, agent))
            }
        };
        let unreadable = |error: Box<dyn std::error::Error + Send + Sync>| {
            CommandError::failure(format!("cannot read the session store {}", path.display()))
                .because(error)
        };
        let missing = || {
            CommandError::failure(format!("there is no session store {}", path.display()))
                .hint("check the path, or pass another store with --store")
        };
        let (parent, name) = host.parent_and_name(&path)?;
        let folder = host.folder_if_any(&parent)?.ok_or_else(missing)?;
        let mut file = open_file(&folder, &name).map_err(|error| match error {
            error if error.is_not_found() => missing(),
            error => unreadable(error.into()),
        })?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| unreadable(error.into()))?;
        let store = SessionStore::parse(&String::from_utf8_lossy(&bytes)).map_err(|error| {
            let message = format!("the session store {} cannot be used", path.display());
            CommandError::new(ErrorKind::Damaged, message)
                .because(error)
                .hint("repair it, or pass another store with --store")
        })?;
        Ok(Self { path, store })
    }

    /// The file of a listed session: the candidate that exists, else the first.
    pub(crate) fn file_of(
        &self,
        session: &StoredSession,
        host: &Host,
    ) -> Result<PathBuf, CommandError> {
        let folder = self.path.parent().map(Path::to_string_lossy).unwrap_or_default();
        let candidates = stored_session_candidates(session, &folder).map_err(|error| {
            CommandError::failure("the stored session has no usable file")
                .because(error)
                .hint("correct its entry in the store, or name the file itself")
        })?;
        let exists = |file: &&String| {
            host.folder_of(Path::new(file)).is_ok_and(|(folder, name)| {
                folder.symlink_metadata(name).is_ok_and(|metadata| metadata.is_file())
            })
        };
        let found = candidates.iter().find(exists).or(candidates.first());
        found
            .map(PathBuf::from)
            .ok_or_else(|| CommandError::failure("the stored session has no usable file"))
    }

    /// The sessions that the store lists, each with its file. Sessions without
    /// a usable file are skipped.
    pub(crate) fn listed(&self, host: &Host) -> impl Iterator<Item = (&StoredSession, PathBuf)> {
        let sessions = self.store.sessions.iter();
        sessions.filter_map(|session| Some((session, self.file_of(session, host).ok()?)))
    }

    /// The file of the session with this key.
    pub(crate) fn file_of_key(
        key: &str,
        store: Option<&Path>,
        agent: &str,
        host: &Host,
    ) -> Result<PathBuf, CommandError> {
        let place = Self::read(store, agent, host)?;
        let session = place.store.find(key).map_err(|error| {
            CommandError::failure(format!("there is no session {key}"))
                .because(error)
                .hint("run `traj sessions` to list the sessions")
        })?;
        place.file_of(session, host)
    }
}
