//! Where `cargo xtask agents` has put the programs.

use std::path::PathBuf;

use crate::host::pinned::variable;

/// The pinned version of Node.js, for agents that need a newer one than the host has.
pub(super) const VERSION: &str = "24.21.0";

/// The link to an installed program; `None` if it is not installed.
pub(super) fn installed(name: &str, version: &str) -> Option<PathBuf> {
    let entry = cache()?.join(name).join(version).join(name);
    entry.exists().then_some(entry)
}

/// The directory of installed agents: outside `target`, because they are large.
fn cache() -> Option<PathBuf> {
    if let Some(named) = variable("TRAJ_TEST_AGENTS") {
        return Some(PathBuf::from(named));
    }
    let cache = variable("XDG_CACHE_HOME").map(PathBuf::from);
    let cache =
        cache.or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    Some(cache.join("traj-agents"))
}
