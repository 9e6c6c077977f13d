//! The setup that all exports on this host share: threads, the redactor, and
//! the directories that may be read.

use std::path::{Path, PathBuf};

use traj_core::redaction::{RedactionPolicy, Redactor};
use traj_core::settings::Settings;
use traj_export::{ExportRequest, Selection};
use traj_fs::FsSources;

use crate::command_error::CommandError;
use crate::compose::Host;
use crate::output::CommandOutput;
use crate::resolve::with_sub_agents;

/// Adapts a request to this host: its cores, its current directory and its
/// sidecar directory.
pub(crate) fn adapt(request: &mut ExportRequest, host: &Host) {
    request.workers = Host::workers();
    request.sidecar.current_dir.clone_from(&host.facts.current_dir);
    request.sidecar.trajectory_dir = Settings::from_host(&host.facts).trajectory_dir;
}

/// A redactor with the owner's key and the paths and names of this host.
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

/// A path as a string, the form in which export requests name their inputs.
pub(crate) fn text_of(path: &Path) -> Result<String, CommandError> {
    path.to_str().map(str::to_owned).ok_or_else(|| CommandError::not_utf8(path))
}

/// The directories that may be read: those that the user named, and the usual
/// locations of sessions and sidecars. A missing one is not an error yet: a
/// sidecar can be exported without its session.
pub(crate) fn readable(
    named: &[PathBuf],
    host: &Host,
    request: &ExportRequest,
) -> Result<FsSources, CommandError> {
    let mut sources = FsSources::new(&host.facts.current_dir).with_relocated(host.root()?);
    if let Some(gathering) = host.gathering() {
        sources = sources.gathering(gathering);
    }
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
            // Reading from it fails later, with an error.
            Err(_) => sources,
        };
    }
    let mut others: Vec<PathBuf> = Vec::new();
    let roots = [host.facts.state_dir(), host.facts.agents_root()];
    others.extend(roots.into_iter().flatten().map(PathBuf::from));
    others.dedup();
    if let Selection::Key { store, .. } = &request.selection {
        // Sessions of sibling agents are next to each other.
        let store = host.absolute(Path::new(store));
        let agents = store.ancestors().nth(3).filter(|folder| folder.ends_with("agents"));
        others.extend(agents.map(Path::to_path_buf));
    }
    for folder in others {
        // A missing directory has nothing to read. The path of the state directory
        // may contain links.
        if let Ok(opened) = host.named_root(&folder) {
            sources = sources.with_root(folder, opened);
        }
    }
    Ok(match &request.selection {
        Selection::File { session, .. } => with_sub_agents(sources, Path::new(session), host),
        _ => sources,
    })
}
