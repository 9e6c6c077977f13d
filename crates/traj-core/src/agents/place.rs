//! Turns the places of the table into directories of one host.

use super::{Agent, AgentFiles, FileKind, PathPattern};
use crate::json::Json;
use crate::settings::host::HostFacts;

/// How many directories above the current one are searched for files that a
/// program keeps in the workspace.
const HIGHEST: usize = 32;

/// Where files of an agent may be: in the directory that the first set variable
/// names, else in every default directory.
#[derive(Debug)]
pub(crate) struct AgentPlace {
    pub(crate) variables: &'static [Variable],
    pub(crate) defaults: &'static [Folder],
    pub(crate) files: &'static [AgentFiles],
}

/// A variable of a program.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    pub(crate) names: Named,
}

/// What a variable names.
#[derive(Debug)]
pub(crate) enum Named {
    /// A directory; the files are in this directory below it.
    Folder(&'static str),
    /// A file. A relative path starts in this directory.
    File(Folder),
}

/// A default directory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Folder {
    /// Below the home directory.
    Home(&'static str),
    /// Below `XDG_DATA_HOME`, else `.local/share` in the home directory.
    Data(&'static str),
    /// Below `XDG_CONFIG_HOME`, else `.config` in the home directory.
    Config(&'static str),
    /// The current directory and those above it.
    Workspace,
    /// Where OpenClaw keeps its agents.
    AgentsOfOpenClaw,
}

/// Where to look for files of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// The absolute path of a directory.
    pub folder: String,
    /// What to look for below it.
    pub wanted: Wanted,
}

/// What to look for in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wanted {
    /// Files with a path like this.
    Like(PathPattern, FileKind),
    /// The file with this name.
    Named(String, FileKind),
}

impl Agent {
    /// Where this agent keeps its files on a host. Directories need not exist.
    #[must_use]
    pub fn locations(&self, host: &HostFacts) -> Vec<Location> {
        let mut locations: Vec<Location> =
            self.places.iter().flat_map(|place| place.locations(host)).collect();
        let mut known = Vec::new();
        locations.retain(|location| {
            let is_new = !known.contains(location);
            known.push(location.clone());
            is_new
        });
        locations
    }

    /// The directories that belong to this agent alone: not the workspace.
    #[must_use]
    pub fn own_folders(&self, host: &HostFacts) -> Vec<String> {
        let is_own = |place: &&AgentPlace| {
            !place.defaults.iter().any(|folder| matches!(folder, Folder::Workspace))
        };
        let locations = self.places.iter().filter(is_own).flat_map(|place| place.locations(host));
        // A file may be anywhere.
        let whole = locations.filter(|location| matches!(location.wanted, Wanted::Like(..)));
        let mut folders: Vec<String> = whole.map(|location| location.folder).collect();
        folders.dedup();
        folders
    }

    /// The names of the variables that move its files.
    pub fn variables(&self) -> impl Iterator<Item = &'static str> {
        self.places.iter().flat_map(|place| place.variables).map(|variable| variable.name)
    }
}

impl AgentPlace {
    fn locations(&self, host: &HostFacts) -> Vec<Location> {
        let set = self.variables.iter().find_map(|variable| {
            host.variables.get(variable.name).map(|value| (&variable.names, value))
        });
        let folders = match set {
            Some((Named::Folder(below), value)) => vec![join(&host.absolute(value), below)],
            Some((Named::File(base), value)) => return self.named_file(base, value, host),
            None => self.defaults.iter().flat_map(|folder| folder.on(host)).collect(),
        };
        let below = |folder: String| {
            self.files.iter().map(move |files| Location {
                folder: folder.clone(),
                wanted: Wanted::Like(files.pattern, files.kind),
            })
        };
        folders.into_iter().flat_map(below).collect()
    }

    fn named_file(&self, base: &Folder, value: &str, host: &HostFacts) -> Vec<Location> {
        let is_absolute = value.starts_with(['/', '~']);
        let base = if is_absolute { None } else { base.on(host).into_iter().next() };
        let path = match base {
            Some(base) => join(&base, value),
            None => host.absolute(value),
        };
        let kind = self.files.first().map_or(FileKind::Session, |files| files.kind);
        let location = path.rsplit_once('/').map(|(folder, name)| Location {
            folder: folder.to_owned(),
            wanted: Wanted::Named(name.to_owned(), kind),
        });
        // A database in memory has no file.
        location.filter(|_| value != ":memory:").into_iter().collect()
    }
}

impl Folder {
    /// The directories on a host, outermost last.
    fn on(&self, host: &HostFacts) -> Vec<String> {
        let home = |below: &str| host.home().map(|home| join(&home, below));
        let of_user = |variable: &str, usual: &str, below: &str| {
            // The specification says that relative paths are ignored.
            let named = host.variables.get(variable).filter(|path| path.starts_with('/'));
            named.map(str::to_owned).or_else(|| home(usual)).map(|base| join(&base, below))
        };
        let folder = match self {
            Self::Home(below) => home(below),
            Self::Data(below) => of_user("XDG_DATA_HOME", ".local/share", below),
            Self::Config(below) => of_user("XDG_CONFIG_HOME", ".config", below),
            Self::Workspace => {
                let here = host.current_dir.trim_end_matches('/');
                let above = std::iter::successors(Some(here), |folder| {
                    folder.rsplit_once('/').map(|(above, _)| above)
                });
                let above = above.take(HIGHEST).filter(|folder| !folder.is_empty());
                return above.map(str::to_owned).collect();
            }
            Self::AgentsOfOpenClaw => host.agents_root(),
        };
        folder.into_iter().collect()
    }
}

/// A path below a directory.
fn join(folder: &str, below: &str) -> String {
    let folder = folder.trim_end_matches('/');
    if below.is_empty() { folder.to_owned() } else { format!("{folder}/{below}") }
}

/// The databases that a [`FileKind::Registry`] names: those of the projects that
/// Crush has seen. Nothing for a file that is not such a list.
#[must_use]
pub fn registered_databases(registry: &str) -> Vec<String> {
    let Ok(registry) = Json::parse(registry) else { return Vec::new() };
    let projects = registry.get("projects").unwrap_or(&registry);
    let projects = projects.as_array().unwrap_or_default();
    let text = |project: &Json<'_>, name: &str| {
        project.get(name).and_then(Json::as_str).filter(|path| !path.is_empty()).map(str::to_owned)
    };
    let database = |project: &Json<'_>| {
        let path = text(project, "path").or_else(|| project.as_str().map(str::to_owned));
        let data = text(project, "data_dir").or_else(|| Some(join(path.as_deref()?, ".crush")))?;
        let data = match path {
            Some(path) if !data.starts_with('/') => join(&path, &data),
            _ => data,
        };
        data.starts_with('/').then(|| join(&data, "crush.db"))
    };
    projects.iter().filter_map(database).collect()
}
