//! Third-party programs that tests run, installed by npm at pinned versions.
//!
//! Each pinned version has a directory with a package file and its lock:
//! `tests/NAME/VERSION`, or `tests/agents/NAME/VERSION`. npm checks the packages
//! against the hashes in the lock and puts them into `target/NAME/VERSION`, or into
//! the cache of agents. None of this is committed or shipped.

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
    /// Where the versions are pinned and installed.
    pub(crate) place: Place,
    /// Finds the target of the link in the directory of an installed version.
    pub(crate) entry: fn(&Workspace, &Path) -> Result<PathBuf>,
}

/// Where the versions of a program are pinned and installed.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// Pinned in `tests/NAME`, installed into `target/NAME`.
    Target,
    /// Pinned in `tests/agents/NAME`, installed into a cache outside `target`:
    /// these programs are large, and do not depend on the build.
    Cache,
}

impl Place {
    fn pins(self, name: &str) -> PathBuf {
        match self {
            Self::Target => Path::new("tests").join(name),
            Self::Cache => Path::new("tests/agents").join(name),
        }
    }

    fn installed(self, workspace: &Workspace, name: &str) -> Result<PathBuf> {
        match self {
            Self::Target => Ok(workspace.target()?.join(name)),
            Self::Cache => Ok(agents_cache(workspace)?.join(name)),
        }
    }
}

/// The directory of installed agents.
fn agents_cache(workspace: &Workspace) -> Result<PathBuf> {
    let variable = |name: &str| workspace.sh.var(name).ok().filter(|value| !value.is_empty());
    if let Some(named) = variable("TRAJ_TEST_AGENTS") {
        return Ok(PathBuf::from(named));
    }
    let cache = variable("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".cache")));
    Ok(cache.context("HOME is not set")?.join("traj-agents"))
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
        let mut versions: Vec<PathBuf> = workspace.sh.read_dir(self.place.pins(self.name))?;
        versions.retain(|pin| pin.join("package.json").exists());
        versions.sort_by_key(|pin| numbers(pin));
        Ok(versions)
    }

    fn install_missing(&self, workspace: &Workspace, versions: &[PathBuf]) -> Result<Outcome> {
        let sh = &workspace.sh;
        let target = self.place.installed(workspace, self.name)?;
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
