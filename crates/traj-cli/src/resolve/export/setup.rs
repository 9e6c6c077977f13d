//! What all exports on this host have in common: threads, the redactor, and the
//! directories that may be read.

use std::path::{Path, PathBuf};

use traj_core::redaction::{RedactionPolicy, Redactor};
use traj_core::settings::Settings;
use traj_export::{ExportRequest, Selection};
use traj_fs::FsSources;

use crate::command_error::CommandError;
use crate::compose::Host;
use crate::output::CommandOutput;

/// Makes a request use what this host has: its cores, where it starts from, and
/// where it keeps sidecars.
pub(crate) fn adapt(request: &mut ExportRequest, host: &Host) {
    request.workers = Host::workers();
    request.sidecar.current_dir.clone_from(&host.facts.current_dir);
    request.sidecar.trajectory_dir = Settings::from_host(&host.facts).trajectory_dir;
}

/// The redactor of this owner, with the paths and names of this host.
pub(crate) fn redactor(
    host: &Host,
    output: &CommandOutput,
    workspace: &Path,
) -> Result<Redactor, CommandError> {
    let key = host.marker_key().or_else(|error| {
        output.note(&format!("{}; using a temporary key for this run", error.message));
        Host::passing_key()
    })?;
    let labels = host.path_labels(Some(workspace));
    Ok(Redactor::new(RedactionPolicy::standard(key).with_paths(labels)))
}

/// A path as text, which is how inputs are named from here on.
pub(crate) fn text_of(path: &Path) -> Result<String, CommandError> {
    path.to_str().map(str::to_owned).ok_or_else(|| CommandError::not_utf8(path))
}

/// Reads below directories that the user named, and below those where sessions and
/// sidecars usually are. A named one that is missing is not an error yet: a sidecar
/// can be exported without its session.
pub(crate) fn readable(
    named: &[PathBuf],
    host: &Host,
    request: &ExportRequest,
) -> Result<FsSources, CommandError> {
    let mut sources = FsSources::new(&host.facts.current_dir).with_relocated(host.root()?);
    for folder in named {
        sources = match host.folder_if_any(folder)? {
            Some(opened) => sources.with_root(folder, opened),
            None => sources.with_missing_root(folder),
        };
    }
    if let Some(folder) = request.sidecar.trajectory_dir.as_deref().map(Path::new) {
        sources = match host.folder_if_any(folder) {
            Ok(Some(opened)) => sources.with_root(folder, opened),
            Ok(None) => sources.with_missing_root(folder),
            // Reading from it fails later, with a report.
            Err(_) => sources,
        };
    }
    let mut others: Vec<PathBuf> = Vec::new();
    others.extend(host.facts.state_dir().map(PathBuf::from));
    if let Selection::Key { store, .. } = &request.selection {
        // Sessions of sibling agents lie beside each other.
        let store = host.absolute(Path::new(store));
        let agents = store.ancestors().nth(3).filter(|folder| folder.ends_with("agents"));
        others.extend(agents.map(Path::to_path_buf));
    }
    for folder in others {
        // A directory that is not there holds nothing to read. The state directory
        // may be reached through a link.
        if let Ok(opened) = host.named_root(&folder) {
            sources = sources.with_root(folder, opened);
        }
    }
    Ok(sources)
}
