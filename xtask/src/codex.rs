//! `cargo xtask codex`: installs the Codex CLI that the end-to-end tests start.
//!
//! Each pinned version has a folder `tests/codex/VERSION` with a package file
//! and its lock; npm checks the packages against the lock's hashes and puts
//! them into `target/codex/VERSION`. Nothing of it is committed or shipped.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use xshell::cmd;

use crate::ci::Outcome;
use crate::workspace::Workspace;

/// Where the pins are.
const PINS: &str = "tests/codex";
/// What the tests start: a link to the executable for this machine.
const LINK: &str = "codex";

pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    if let Outcome::Skipped(reason) = install_all(workspace)? {
        bail!(reason);
    }
    Ok(())
}

/// Installs every pinned version that is not there yet.
pub(crate) fn install_all(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    let target = workspace.target()?.join("codex");
    let mut versions: Vec<PathBuf> = sh.read_dir(PINS)?;
    versions.sort();
    let missing: Vec<&PathBuf> =
        versions.iter().filter(|pin| !is_installed(workspace, pin, &target)).collect();
    if missing.is_empty() {
        return Ok(Outcome::Passed);
    }
    if cmd!(sh, "npm --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        return Ok(Outcome::Skipped(
            "npm is NOT INSTALLED: tests with the real Codex CLI do not run".to_owned(),
        ));
    }
    for pin in missing {
        if let Err(error) = install(workspace, pin, &target) {
            return Ok(Outcome::Skipped(format!(
                "the Codex CLI could NOT BE INSTALLED, tests with it do not run: {error:#}"
            )));
        }
    }
    Ok(Outcome::Passed)
}

fn is_installed(workspace: &Workspace, pin: &Path, target: &Path) -> bool {
    let Some(version) = pin.file_name() else { return false };
    let lock = "package-lock.json";
    let read = |path: PathBuf| workspace.sh.read_file(path).ok();
    let folder = target.join(version);
    folder.join(LINK).exists() && read(pin.join(lock)) == read(folder.join(lock))
}

fn install(workspace: &Workspace, pin: &Path, target: &Path) -> Result<()> {
    let sh = &workspace.sh;
    let version = pin.file_name().context("a pin is a folder")?;
    let folder = target.join(version);
    sh.remove_path(&folder)?;
    sh.create_dir(&folder)?;
    sh.copy_file(pin.join("package.json"), &folder)?;
    sh.copy_file(pin.join("package-lock.json"), folder.join("package-lock.json"))?;
    {
        let _inside = sh.push_dir(&folder);
        // Scripts of packages are not run; platforms that are not ours are left out.
        cmd!(sh, "npm install --ignore-scripts --no-audit --no-fund --no-save --silent").run()?;
    }
    let program = program(workspace, &folder)?;
    // Last, so that a broken installation is not taken for a whole one.
    std::os::unix::fs::symlink(program, folder.join(LINK))?;
    Ok(())
}

/// The executable for this machine, wherever the package of the platform has it.
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
