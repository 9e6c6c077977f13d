//! Walks the places in which agents keep their files.
//!
//! Only names and sizes are read. Links below a directory of the table are not
//! followed; the directory itself may be one.

mod neighbours;
mod stamp;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use traj_core::agents::{
    Agent, FileKind, Location, NamePattern, PathPattern, Wanted, registered_databases,
};
use traj_fs::open_subfolder;

pub(crate) use self::neighbours::Neighbours;
pub(crate) use self::stamp::{FileStamp, PartsStamp};

use crate::compose::Host;

/// Registries are small; a larger file is not one.
const LONGEST_REGISTRY: u64 = 4 << 20;

/// A file of an agent that has sessions.
#[derive(Clone, Debug)]
pub(crate) struct AgentFile {
    pub(crate) agent: &'static Agent,
    pub(crate) path: PathBuf,
    pub(crate) kind: FileKind,
    /// The id of its session, as far as the path states it.
    pub(crate) id: Option<String>,
    pub(crate) stamp: FileStamp,
    /// The files that belong to it: of sub-agents, and those of a recorder.
    pub(crate) parts: PartsStamp,
    /// Whether a file of a recorder is beside it.
    pub(crate) has_artefacts: bool,
}

/// The files of an agent on this machine, by path, each once.
pub(crate) fn files_of(agent: &'static Agent, host: &Host) -> Vec<AgentFile> {
    let mut walk = Walk { agent, host, found: HashMap::new() };
    for location in agent.locations(&host.facts) {
        walk.location(&location);
    }
    let mut found: Vec<AgentFile> = walk.found.into_values().collect();
    // A database has what the old files had.
    if found.iter().any(|file| file.kind != FileKind::Old) {
        found.retain(|file| file.kind != FileKind::Old);
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

struct Walk<'a> {
    agent: &'static Agent,
    host: &'a Host,
    found: HashMap<PathBuf, AgentFile>,
}

impl Walk<'_> {
    fn location(&mut self, location: &Location) {
        let named = Path::new(&location.folder);
        // A directory that is missing or closed has no sessions for us.
        let Ok(folder) = self.host.named_root(named) else { return };
        let path = self.host.real_path(named);
        match &location.wanted {
            Wanted::Like(pattern, kind) => self.like(&folder, &path, *pattern, *kind),
            Wanted::Named(name, kind) => {
                self.files(&folder, &path, Some(name), *kind, |found| found == name);
            }
            _ => {}
        }
    }

    /// Finds the files below a directory whose path is like a pattern.
    fn like(&mut self, folder: &Dir, path: &Path, pattern: PathPattern, kind: FileKind) {
        let names: Vec<NamePattern> = pattern.names().collect();
        self.below(folder, path, &names, kind);
    }

    fn below(&mut self, folder: &Dir, path: &Path, names: &[NamePattern], kind: FileKind) {
        let Some((first, rest)) = names.split_first() else { return };
        if rest.is_empty() {
            self.files(folder, path, first.only(), kind, |name| first.fits(name));
            return;
        }
        let folders = match first.only() {
            Some(name) => vec![name.to_owned()],
            None => folders_in(folder, |name| first.fits(name)),
        };
        for name in folders {
            if let Ok(inner) = open_subfolder(folder, &name) {
                self.below(&inner, &path.join(&name), rest, kind);
            }
        }
    }

    /// Takes the files of a directory whose names fit.
    fn files(
        &mut self,
        folder: &Dir,
        path: &Path,
        only: Option<&str>,
        kind: FileKind,
        fits: impl Fn(&str) -> bool,
    ) {
        let neighbours = match only {
            Some(file) => Neighbours::of_file(self.agent, folder, path, file),
            // A directory that cannot be read has no sessions for us.
            None => Neighbours::of_folder(Some(self.agent), folder, path).unwrap_or_default(),
        };
        let neighbours = neighbours.with_sub_agents(path, self.host);
        for (name, metadata) in neighbours.files.iter().filter(|(name, _)| fits(name)) {
            let file = path.join(name);
            let Some(text) = file.to_str() else { continue };
            if self.found.contains_key(&file) {
                continue;
            }
            if kind == FileKind::Registry {
                self.registry(folder, name);
                continue;
            }
            let found = AgentFile {
                agent: self.agent,
                kind,
                id: self.agent.session_id(text).map(str::to_owned),
                stamp: FileStamp::of(metadata),
                parts: neighbours.parts_of(folder, name),
                has_artefacts: neighbours.has_artefacts(name),
                path: file,
            };
            self.found.insert(found.path.clone(), found);
        }
    }

    /// Takes the databases that a registry names.
    fn registry(&mut self, folder: &Dir, name: &str) {
        use std::io::Read as _;
        let Ok(file) = traj_fs::open_file(folder, name) else { return };
        let mut text = String::new();
        if file.take(LONGEST_REGISTRY).read_to_string(&mut text).is_err() {
            return;
        }
        for database in registered_databases(&text) {
            let named = self.host.absolute(Path::new(&database));
            let Ok((parent, name)) = self.host.parent_and_name(&named) else { continue };
            if let Ok(folder) = self.host.named_root(&parent) {
                let path = self.host.real_path(&parent);
                let fits = |found: &str| found == name;
                self.files(&folder, &path, Some(&name), FileKind::Database, fits);
            }
        }
    }
}

fn folders_in(folder: &Dir, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let Ok(entries) = folder.entries() else { return Vec::new() };
    let folders =
        entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| fits(name)).collect()
}
