//! `cargo xtask codex`: installs the Codex CLI that the end-to-end tests start.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::programs::npm::{Pins, Place};
use crate::workspace::Workspace;

pub(crate) const PINS: Pins =
    Pins { name: "codex", title: "the real Codex CLI", place: Place::Target, entry: program };

/// The executable for this machine; its path differs between versions.
fn program(workspace: &Workspace, folder: &Path) -> Result<PathBuf> {
    let sh = &workspace.sh;
    let scope = folder.join("node_modules/@openai");
    for package in sh.read_dir(&scope)? {
        for platform in sh.read_dir(package.join("vendor")).unwrap_or_default() {
            for place in ["bin/codex", "codex/codex"] {
                let program = platform.join(place);
                if program.exists() {
                    return Ok(program);
                }
            }
        }
    }
    bail!("the package has no executable for this machine")
}
