//! Where each agent stores its sessions: a table, and what it means on a host.
//!
//! The table says which variables and default directories a program uses, how
//! its files are named, which of them belong to another session, and which hold
//! several sessions. It reads nothing: [`Agent::locations`] turns it into paths
//! of one host, and the caller walks them.
//!
//! ```
//! use traj_core::agents::{Agent, FileKind};
//! use traj_core::settings::host::HostFacts;
//!
//! let host = HostFacts::new([("HOME", "/home/me")].into_iter().collect(), "/src/app");
//! let claude = Agent::named("claude").expect("an alias");
//! let projects = claude.locations(&host).into_iter().last().expect("two directories");
//! assert_eq!(projects.folder, "/home/me/.claude");
//!
//! let found = claude.kind_of("projects/-src-app/0b1c.jsonl");
//! assert_eq!(found, Some(FileKind::Session));
//! assert_eq!(claude.session_id("projects/-src-app/0b1c.jsonl"), Some("0b1c"));
//! ```

mod file_pattern;
mod place;
mod summary;
mod table;

pub use file_pattern::{NamePattern, PathPattern};
pub use place::{Location, Wanted, registered_databases};
pub use summary::SessionSummary;

use place::AgentPlace;
use table::AGENTS;

/// A program that runs agents, and where it keeps its sessions.
#[derive(Debug)]
#[non_exhaustive]
pub struct Agent {
    /// Its name, as in [`Dialect::agent`](crate::dialect::Dialect::agent).
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Other names that users type.
    pub aliases: &'static [&'static str],
    /// Where its files may be.
    pub(crate) places: &'static [AgentPlace],
    /// Files that belong to another session: those of sub-agents, for example.
    pub(crate) parts: &'static [PathPattern],
}

/// What a file of an agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// One session.
    Session,
    /// A database with several sessions.
    Database,
    /// A list of directories that have databases.
    Registry,
    /// A part of another session, such as the rows of a sub-agent.
    Part,
    /// One session, stored by an old version. The database of newer versions contains
    /// it too, so that it counts only if there is none.
    Old,
}

/// How a path states the id of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdPlace {
    /// The name without its ending.
    Stem,
    /// The UUID at the end of the name without its ending.
    LastUuid,
    /// What follows the last `_` in the name without its ending.
    AfterUnderscore,
    /// The name of the directory.
    Folder,
    /// The path does not state it.
    Nowhere,
}

/// Files of an agent, below one of its directories.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentFiles {
    pub(crate) pattern: PathPattern,
    pub(crate) kind: FileKind,
    pub(crate) id: IdPlace,
}

impl FileKind {
    /// Whether the file is one session.
    #[must_use]
    pub const fn is_session(self) -> bool {
        matches!(self, Self::Session | Self::Old)
    }
}

impl Agent {
    /// Every agent, by name.
    #[must_use]
    pub const fn all() -> &'static [Self] {
        AGENTS
    }

    /// The agent with this name or alias.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        AGENTS.iter().find(|agent| agent.name == name || agent.aliases.contains(&name))
    }

    /// The files of this agent, in the order of the table.
    fn files(&self) -> impl Iterator<Item = &'static AgentFiles> {
        self.places.iter().flat_map(|place| place.files)
    }

    /// What the file at this path is. The path need only end like the table's:
    /// it may start at any directory above the file.
    #[must_use]
    pub fn kind_of(&self, path: &str) -> Option<FileKind> {
        if self.parts.iter().any(|part| part.is_end_of(path)) {
            return Some(FileKind::Part);
        }
        self.files().find(|files| files.pattern.is_end_of(path)).map(|files| files.kind)
    }

    /// The id of the session at this path, as far as the path states it.
    #[must_use]
    pub fn session_id<'p>(&self, path: &'p str) -> Option<&'p str> {
        let files = self.files().find(|files| files.pattern.is_end_of(path))?;
        files.id.in_path(path)
    }
}

impl IdPlace {
    fn in_path(self, path: &str) -> Option<&str> {
        const UUID: usize = 36;
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = stem_of(name);
        let id = match self {
            Self::Stem => stem,
            Self::LastUuid => {
                stem.len().checked_sub(UUID).and_then(|at| stem.get(at..)).unwrap_or(stem)
            }
            Self::AfterUnderscore => stem.rsplit_once('_').map_or(stem, |(_, id)| id),
            Self::Folder => folders.rsplit_once('/').map_or(folders, |(_, folder)| folder),
            Self::Nowhere => return None,
        };
        (!id.is_empty()).then_some(id)
    }
}

/// A file name without the endings of sessions.
fn stem_of(name: &str) -> &str {
    let name = name.strip_suffix(".zst").unwrap_or(name);
    let endings = [".jsonl", ".json"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

#[cfg(test)]
mod tests;
