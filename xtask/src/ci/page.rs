//! The page of `traj view`: its script, and its behaviour in a real browser.
//!
//! npm installs the pinned tools into the checkout; git ignores them. Chromium
//! comes from the system, or from Debian's packages where that is allowed.

use anyhow::{Context as _, Result};
use xshell::{Shell, cmd};

use super::Outcome;
use crate::workspace::Workspace;

const SOURCES: &str = "crates/traj-export/page";
const TESTS: &str = "tests/page";

/// Checks the types of the script, and that the built files match the sources.
pub(super) fn script(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    let _inside = sh.push_dir(SOURCES);
    if let Some(skipped) = install(sh, "the script of the page") {
        return Ok(skipped);
    }
    cmd!(sh, "npm run check --silent").run()?;
    Ok(Outcome::Passed)
}

/// Drives pages in Chromium: generated ones, and those that `traj view` writes.
pub(super) fn browser(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    if !has_browser(sh) {
        install_browser(sh);
    }
    if !has_browser(sh) {
        return Ok(Outcome::Skipped(
            "Chromium is NOT INSTALLED: the page was NOT TESTED in a browser".to_owned(),
        ));
    }
    workspace.build_tests()?;
    let traj = workspace.binaries()?.join("traj");
    let _inside = sh.push_dir(TESTS);
    if let Some(skipped) = install(sh, "the page in a browser") {
        return Ok(skipped);
    }
    cmd!(sh, "npm test --silent").env("TRAJ", traj).run().context("the page in a browser")?;
    Ok(Outcome::Passed)
}

/// Installs what the lock file of the current directory names.
pub(super) fn install(sh: &Shell, what: &str) -> Option<Outcome> {
    if cmd!(sh, "npm --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        return Some(Outcome::Skipped(format!("npm is NOT INSTALLED: {what} was NOT CHECKED")));
    }
    let installed = cmd!(sh, "npm ci --ignore-scripts --no-audit --no-fund --silent").run();
    let error = installed.err()?;
    Some(Outcome::Skipped(format!("npm could NOT INSTALL the tools for {what}: {error}")))
}

pub(super) fn has_browser(sh: &Shell) -> bool {
    sh.var_os("CHROMIUM").is_some()
        || ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"].iter().any(
            |name| cmd!(sh, "which {name}").quiet().ignore_stdout().ignore_stderr().run().is_ok(),
        )
}

/// Tries to install Chromium with apt. The step fails later if it is missing.
pub(super) fn install_browser(sh: &Shell) {
    let packages = ["chromium", "fonts-dejavu-core"];
    let update = cmd!(sh, "apt-get update --quiet").run();
    let install = update.and_then(|()| {
        cmd!(sh, "apt-get install --yes --quiet --no-install-recommends {packages...}").run()
    });
    if let Err(error) = install {
        eprintln!("Chromium could not be installed: {error}");
    }
}
