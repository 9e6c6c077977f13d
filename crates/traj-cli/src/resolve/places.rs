//! Where programs keep their sessions, and which names the files there have:
//! whoever lists sessions and whoever looks for one ask here.

use std::path::{Path, PathBuf};

use traj_core::care::prune::classify;

use crate::compose::Host;

/// The name of a store in its directory.
pub(crate) const STORE: &str = "sessions.json";

/// Whether a file is named as transcripts and rollouts are: files of lines that
/// are nothing that goes with a session.
pub(crate) fn is_transcript_name(name: &str) -> bool {
    name.ends_with(".jsonl") && classify(name).is_none()
}

/// The directory that Codex keeps its rollouts in.
pub(crate) fn rollouts_of_codex(host: &Host) -> Option<PathBuf> {
    let named = host.facts.variables.get("CODEX_HOME").map(|path| host.absolute(Path::new(path)));
    let home = named.or_else(|| host.facts.home().map(|home| Path::new(&home).join(".codex")));
    home.map(|home| home.join("sessions"))
}
