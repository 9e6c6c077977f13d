//! The entries of a directory with sessions: which are sessions, and what belongs
//! to each.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;

use cap_std::fs::{Dir, Metadata};
use traj_core::agents::{Agent, FileKind};
use traj_core::care::prune::{ArtefactKind, classify};
use traj_core::gather::{storage_folder, sub_agent_folder};
use traj_core::location::{pointer_beside, session_stem, sidecar_beside};
use traj_fs::open_subfolder;

use super::PartsStamp;
use crate::compose::Host;

/// How many characters of an id some file names have.
const SHORT_ID: usize = 8;

/// The directory with the messages of opencode's old sessions. A message is written
/// again when its parts are complete.
const MESSAGES: &str = "message";

/// The entries of a directory with sessions.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    /// Files that belong to no other one, by name.
    pub(crate) files: Vec<(String, Metadata)>,
    /// The names of sidecars.
    pub(crate) sidecars: Vec<String>,
    /// Names that are not UTF-8.
    pub(crate) not_utf8: Vec<OsString>,
    /// The files of recorders and the logs of databases, by the stem of what they
    /// belong to.
    beside: HashMap<String, PartsStamp>,
    /// The files of sub-agents whose names do not state their session.
    shared: PartsStamp,
    folders: Vec<String>,
    /// The directory with the files of sub-agents, if it is beside this one.
    helpers: Option<Dir>,
    /// The directories: by name, and by the beginning of the name.
    folder_of: HashMap<String, usize>,
}

impl Neighbours {
    /// Reads a directory of an agent, or of any.
    pub(crate) fn of_folder(
        agent: Option<&Agent>,
        folder: &Dir,
        path: &Path,
    ) -> std::io::Result<Self> {
        let mut neighbours = Self::default();
        for entry in folder.entries()?.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let name = match entry.file_name().into_string() {
                Ok(name) => name,
                Err(name) => {
                    neighbours.not_utf8.push(name);
                    continue;
                }
            };
            if kind.is_dir() {
                neighbours.folders.push(name);
            } else if kind.is_file()
                && let Ok(metadata) = entry.metadata()
            {
                neighbours.add_file(agent, path, name, metadata);
            }
        }
        neighbours.files.sort_by(|(one, _), (other, _)| one.cmp(other));
        neighbours.sidecars.sort();
        neighbours.folders.sort();
        for (at, name) in neighbours.folders.iter().enumerate() {
            if let Some(beginning) = name.get(..SHORT_ID) {
                neighbours.folder_of.entry(beginning.to_owned()).or_insert(at);
            }
            neighbours.folder_of.insert(name.clone(), at);
        }
        Ok(neighbours)
    }

    /// Looks for one file of a directory, and for what belongs to it.
    pub(super) fn of_file(agent: &Agent, folder: &Dir, path: &Path, file: &str) -> Self {
        let mut neighbours = Self::default();
        let names =
            [file.to_owned(), format!("{file}-wal"), sidecar_beside(file), pointer_beside(file)];
        for name in names {
            if let Ok(metadata) = folder.symlink_metadata(&name)
                && metadata.is_file()
            {
                neighbours.add_file(Some(agent), path, name, metadata);
            }
        }
        neighbours
    }

    /// Also stamps the files of sub-agents and messages that are in a directory beside
    /// this one, which is at `path`.
    pub(crate) fn with_sub_agents(mut self, path: &Path, host: &Host) -> Self {
        let of_messages = path.join("session.json");
        if let Some(storage) = of_messages.to_str().and_then(storage_folder) {
            let storage = host.named_root(Path::new(storage)).ok();
            self.helpers = storage.and_then(|storage| open_subfolder(&storage, MESSAGES).ok());
            return self;
        }
        // The name of the session does not matter to where its directory is.
        let session = path.join("session.jsonl");
        let of_session = session.to_str().and_then(sub_agent_folder);
        let folder = of_session.as_deref().and_then(|folder| Path::new(folder).parent());
        if let Some(folder) = folder
            && let (Some(project), Some(name)) = (folder.parent(), folder.file_name())
            && let (Ok(project), Some(name)) = (host.named_root(project), name.to_str())
        {
            self.helpers = open_subfolder(&project, name).ok();
        }
        self
    }

    /// The names of the directories.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &str> {
        self.folders.iter().map(String::as_str)
    }

    fn add_file(&mut self, agent: Option<&Agent>, path: &Path, name: String, metadata: Metadata) {
        let artefact = classify(&name);
        let whose = artefact.map(|(_, stem)| stem).or_else(|| name.strip_suffix("-wal"));
        if let Some(whose) = whose {
            self.beside.entry(whose.to_owned()).or_default().add(&name, &metadata);
            if artefact.is_some_and(|(kind, _)| kind == ArtefactKind::Sidecar) {
                self.sidecars.push(name);
            }
        } else if is_part(agent, &path.join(&name)) {
            self.shared.add(&name, &metadata);
        } else {
            self.files.push((name, metadata));
        }
    }

    /// Whether a file of a recorder is beside a session.
    pub(crate) fn has_artefacts(&self, file: &str) -> bool {
        self.beside(file).files > 0
    }

    /// The stamp of the files of recorders, and of the log of a database.
    fn beside(&self, file: &str) -> PartsStamp {
        let mut beside = PartsStamp::default();
        let stem = session_stem(file);
        let names = [Some(stem), Some(file).filter(|file| *file != stem)];
        let stamps = names.into_iter().flatten().filter_map(|name| self.beside.get(name));
        stamps.for_each(|stamp| beside.merge(stamp));
        beside
    }

    /// The stamp of all files that belong to a session file.
    pub(crate) fn parts_of(&self, folder: &Dir, file: &str) -> PartsStamp {
        let mut parts = self.beside(file);
        parts.merge(&self.shared);
        // The directory of a session has its name, or begins with the id with
        // which the name ends.
        let stem = session_stem(file);
        let short = stem.len().checked_sub(SHORT_ID).and_then(|at| stem.get(at..));
        let mut names = [Some(stem), short].into_iter().flatten();
        let own = names.find_map(|name| self.folders.get(*self.folder_of.get(name)?));
        if let Some(name) = own
            && let Ok(inner) = open_subfolder(folder, name)
        {
            parts.add_below(&inner, name);
        }
        let id = stem.strip_suffix(".json").unwrap_or(stem);
        if let Some(helpers) = &self.helpers
            && let Ok(inner) = open_subfolder(helpers, id)
        {
            parts.add_below(&inner, id);
        }
        parts
    }
}

/// Whether a file belongs to another session of its agent.
fn is_part(agent: Option<&Agent>, file: &Path) -> bool {
    let Some(path) = file.to_str() else { return false };
    let is_part = |agent: &Agent| agent.kind_of(path) == Some(FileKind::Part);
    agent.map_or_else(|| Agent::all().iter().any(is_part), is_part)
}
