//! Where programs keep their sessions, and how the files there are named.
//! Shared by the listing of sessions and the search for one.

use std::path::{Path, PathBuf};

use traj_core::care::prune::classify;

use crate::compose::Host;

/// The name of a store in its directory.
pub(crate) const STORE: &str = "sessions.json";

/// Whether a file name is that of a transcript or rollout: a JSON Lines file
/// that does not accompany another session.
pub(crate) fn is_transcript_name(name: &str) -> bool {
    name.ends_with(".jsonl") && classify(name).is_none()
}

/// The directory of Codex: `CODEX_HOME`, else `.codex` in the home directory.
pub(crate) fn codex_home(host: &Host) -> Option<PathBuf> {
    let named = host.facts.variables.get("CODEX_HOME").map(|path| host.absolute(Path::new(path)));
    named.or_else(|| host.facts.home().map(|home| Path::new(&home).join(".codex")))
}

/// The directory in which Codex keeps its rollouts.
pub(crate) fn rollouts_of_codex(host: &Host) -> Option<PathBuf> {
    codex_home(host).map(|home| home.join("sessions"))
}
