//! Third-party programs that tests run, installed by npm at pinned versions.
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
    /// The program's name for people.
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
        let versions = self.versions(workspace)?;
        self.install_missing(workspace, &versions)
    }

    /// Installs the newest pinned version, if it is not installed yet.
    pub(crate) fn install_newest(&self, workspace: &Workspace) -> Result<Outcome> {
        let versions = self.versions(workspace)?;
        let newest = versions.len().saturating_sub(1);
        self.install_missing(workspace, versions.get(newest..).unwrap_or_default())
    }

    /// The directories of the pins, oldest version first.
    fn versions(&self, workspace: &Workspace) -> Result<Vec<PathBuf>> {
        let mut versions: Vec<PathBuf> =
            workspace.sh.read_dir(Path::new("tests").join(self.name))?;
        versions.retain(|pin| pin.join("package.json").exists());
        versions.sort_by_key(|pin| numbers(pin));
        Ok(versions)
    }

    fn install_missing(&self, workspace: &Workspace, versions: &[PathBuf]) -> Result<Outcome> {
        let sh = &workspace.sh;
        let target = workspace.target()?.join(self.name);
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

/// The numbers of a version, for sorting.
fn numbers(pin: &Path) -> Vec<u64> {
    let name = pin.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').map(|number| number.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_sorted_by_number() {
        let mut pins = ["0.1000.0", "0.99.2", "0.99.10"].map(PathBuf::from);
        pins.sort_by_key(|pin| numbers(pin));
        assert_eq!(pins, ["0.99.2", "0.99.10", "0.1000.0"].map(PathBuf::from));
    }
}
