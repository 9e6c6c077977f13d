//! Third-party programs that tests run, installed by npm from pins.
//!
//! Each pinned version has a directory `tests/NAME/VERSION` with a package file
//! and its lock. npm checks the packages against the hashes in the lock and puts
//! them into `target/NAME/VERSION`. None of this is committed or shipped.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use xshell::cmd;

use crate::ci::Outcome;
use crate::workspace::Workspace;

/// The pinned versions of one program.
pub(crate) struct Pins {
    /// The name of the directory with the pins, of the directory that they are
    /// installed into, and of the link in it that the tests start.
    pub(crate) name: &'static str,
    /// What tests cannot use without it, for people.
    pub(crate) title: &'static str,
    /// Finds the target of the link in the directory of an installed version.
    pub(crate) entry: fn(&Workspace, &Path) -> Result<PathBuf>,
}

impl Pins {
    /// Installs every missing version, or fails.
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<()> {
        if let Outcome::Skipped(reason) = self.install_all(workspace)? {
            bail!(reason);
        }
        Ok(())
    }

    /// Installs every pinned version that is not installed yet.
    pub(crate) fn install_all(&self, workspace: &Workspace) -> Result<Outcome> {
        let sh = &workspace.sh;
        let target = workspace.target()?.join(self.name);
        let mut versions: Vec<PathBuf> = sh.read_dir(Path::new("tests").join(self.name))?;
        versions.retain(|pin| pin.join("package.json").exists());
        versions.sort();
        let missing: Vec<&PathBuf> =
            versions.iter().filter(|pin| !self.is_installed(workspace, pin, &target)).collect();
        if missing.is_empty() {
            return Ok(Outcome::Passed);
        }
        if cmd!(sh, "npm --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
            return Ok(Outcome::Skipped(format!(
                "npm is NOT INSTALLED: tests with {} do not run",
                self.title
            )));
        }
        for pin in missing {
            if let Err(error) = self.install(workspace, pin, &target) {
                return Ok(Outcome::Skipped(format!(
                    "{} could NOT BE INSTALLED, tests with it do not run: {error:#}",
                    self.title
                )));
            }
        }
        Ok(Outcome::Passed)
    }

    fn is_installed(&self, workspace: &Workspace, pin: &Path, target: &Path) -> bool {
        let Some(version) = pin.file_name() else { return false };
        let lock = "package-lock.json";
        let read = |path: PathBuf| workspace.sh.read_file(path).ok();
        let folder = target.join(version);
        folder.join(self.name).exists() && read(pin.join(lock)) == read(folder.join(lock))
    }

    fn install(&self, workspace: &Workspace, pin: &Path, target: &Path) -> Result<()> {
        let sh = &workspace.sh;
        let version = pin.file_name().context("a pin is a directory")?;
        let folder = target.join(version);
        sh.remove_path(&folder)?;
        sh.create_dir(&folder)?;
        sh.copy_file(pin.join("package.json"), &folder)?;
        sh.copy_file(pin.join("package-lock.json"), folder.join("package-lock.json"))?;
        {
            let _inside = sh.push_dir(&folder);
            // npm runs no package scripts and leaves out other platforms.
            cmd!(sh, "npm install --ignore-scripts --no-audit --no-fund --no-save --silent")
                .run()?;
        }
        let entry = (self.entry)(workspace, &folder)?;
        // Last, so that an interrupted installation does not look complete.
        std::os::unix::fs::symlink(entry, folder.join(self.name))?;
        Ok(())
    }
}
