//! `cargo xtask peers`: installs the programs that the page is compared with.
//!
//! The Python programs are installed into `target/peers/python` and pinned by the
//! hashes of all their files; the Rust program is built with its own lock file.
//! Only `cargo xtask bench` and `sweep` need them. None of this is committed or
//! shipped.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use xshell::cmd;

use crate::ci::Outcome;
use crate::workspace::Workspace;

/// The program in Rust, and its version.
const CRATE: (&str, &str) = ("weavr", "1.2.0");

const REQUIREMENTS: &str = "tests/peers/requirements.txt";

/// Installs every program, or fails.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    if let Outcome::Skipped(reason) = install(workspace)? {
        bail!(reason);
    }
    Ok(())
}

/// The directory with the programs.
pub(crate) fn folder(workspace: &Workspace) -> Result<PathBuf> {
    Ok(workspace.target()?.join("peers"))
}

/// Installs what is missing, and what drives the browser.
pub(crate) fn install(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    for program in ["python3", "npm"] {
        if cmd!(sh, "{program} --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
            return Ok(Outcome::Skipped(format!(
                "{program} is NOT INSTALLED: the page is NOT COMPARED with other programs"
            )));
        }
    }
    let installed = python(workspace).and_then(|()| rust(workspace)).and_then(|()| node(workspace));
    Ok(match installed {
        Ok(()) => Outcome::Passed,
        Err(error) => Outcome::Skipped(format!(
            "programs could NOT BE INSTALLED, the page is NOT COMPARED with them: {error:#}"
        )),
    })
}

fn python(workspace: &Workspace) -> Result<()> {
    let sh = &workspace.sh;
    let folder = folder(workspace)?;
    let (environment, marker) = (folder.join("python"), folder.join("requirements.txt"));
    let wanted = workspace.read(REQUIREMENTS)?;
    if sh.read_file(&marker).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    sh.remove_path(&environment)?;
    cmd!(sh, "python3 -m venv {environment}").run()?;
    let pip = environment.join("bin/pip");
    cmd!(sh, "{pip} install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r {REQUIREMENTS}")
        .run()
        .context("pip failed")?;
    // Last, so that an interrupted installation does not look complete.
    sh.write_file(marker, wanted)?;
    Ok(())
}

fn rust(workspace: &Workspace) -> Result<()> {
    let sh = &workspace.sh;
    let root = folder(workspace)?;
    let (name, version) = CRATE;
    let program = root.join("bin").join(name);
    let reported = cmd!(sh, "{program} --version").quiet().ignore_stderr().read();
    if reported.is_ok_and(|line| line.split_whitespace().last() == Some(version)) {
        return Ok(());
    }
    let build = root.join("build");
    println!("installing {name} {version} into {} (once)", root.display());
    cmd!(sh, "cargo install --quiet --locked --force --version {version} --root {root} --target-dir {build} {name}")
        .run()?;
    sh.remove_path(&build)?;
    Ok(())
}

fn node(workspace: &Workspace) -> Result<()> {
    let sh = &workspace.sh;
    let _inside = sh.push_dir("tests/page");
    cmd!(sh, "npm ci --ignore-scripts --no-audit --no-fund --silent").run()?;
    Ok(())
}
