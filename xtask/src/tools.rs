//! Programs from crates.io that checks run: pinned, and installed on first use.
//!
//! A fresh machine has a Rust toolchain and nothing else. Each tool is built
//! once into `target/tools` and reused while its pinned version stays the same.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use xshell::cmd;

use crate::workspace::Workspace;

/// One pinned program.
pub(crate) struct Tool {
    /// The crate and its executable.
    pub(crate) name: &'static str,
    /// The exact version.
    pub(crate) version: &'static str,
}

/// Checks licences, sources, banned crates and advisories.
pub(crate) const CARGO_DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };

/// Finds changes of the public API that need a higher version.
pub(crate) const SEMVER_CHECKS: Tool = Tool { name: "cargo-semver-checks", version: "0.51.0" };

/// Lists the public API.
pub(crate) const PUBLIC_API: Tool = Tool { name: "cargo-public-api", version: "0.52.0" };

impl Tool {
    /// The path of the executable. Builds and installs it if the pinned version is missing.
    pub(crate) fn install(&self, workspace: &Workspace) -> Result<PathBuf> {
        let sh = &workspace.sh;
        let root = workspace.target()?.join("tools");
        let program = root.join("bin").join(self.name);
        let reported = cmd!(sh, "{program} --version").quiet().ignore_stderr().read();
        if reported.is_ok_and(|line| self.is_pinned(&line)) {
            return Ok(program);
        }
        let Self { name, version } = self;
        let build = root.join("build");
        println!("installing {name} {version} into {} (once)", root.display());
        // Favour a quick build: the checks take seconds at any optimisation level.
        cmd!(sh, "cargo install --quiet --locked --force --version {version} --root {root} --target-dir {build} {name}")
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
            .run()
            .with_context(|| format!("cannot install {name} {version}"))?;
        sh.remove_path(&build)?;
        Ok(program)
    }

    /// Whether this is the version line of the pinned version: `cargo-deny 0.20.2`.
    fn is_pinned(&self, line: &str) -> bool {
        line.split_whitespace().last() == Some(self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_pinned_version_is_reused() {
        let tool = Tool { name: "cargo-deny", version: "0.20.2" };
        assert!(tool.is_pinned("cargo-deny 0.20.2"));
        assert!(!tool.is_pinned("cargo-deny 0.20.21"));
        assert!(!tool.is_pinned(""));
    }
}
