//! `cargo xtask openclaw`: installs the part of OpenClaw that loads sessions.
//!
//! The package itself is pinned, but not all of its dependencies: only the few
//! that the module for sessions imports. That takes a few megabytes instead of
//! hundreds.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::programs::npm::{Pins, Place};
use crate::workspace::Workspace;

pub(crate) const PINS: Pins = Pins {
    name: "openclaw",
    title: "the real OpenClaw",
    place: Place::Target,
    entry: session_manager,
};

/// The module with the session manager; its name carries a hash.
fn session_manager(workspace: &Workspace, folder: &Path) -> Result<PathBuf> {
    let modules = workspace.sh.read_dir(folder.join("node_modules/openclaw/dist"))?;
    let is_wanted = |module: &PathBuf| {
        let name = module.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("session-manager-")
            && module.extension().is_some_and(|extension| extension == "js")
    };
    modules.into_iter().find(is_wanted).context("the package has no session manager")
}
