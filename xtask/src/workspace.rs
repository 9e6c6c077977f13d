//! The workspace as cargo and git see it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use xshell::{Shell, cmd};

/// The checkout, with a shell whose current directory is its root.
pub(crate) struct Workspace {
    pub(crate) sh: Shell,
    pub(crate) root: PathBuf,
}

/// One member of the workspace, as its manifest declares it.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The manifest, relative to the root.
    pub(crate) manifest: PathBuf,
    pub(crate) published: bool,
    /// Whether other crates can depend on it.
    pub(crate) library: bool,
    pub(crate) dependencies: Vec<Dependency>,
}

/// One entry of a member's dependency tables.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) normal: bool,
}

impl Workspace {
    /// Finds the workspace of the current directory. Where this program was
    /// built says nothing: clones can share a target directory.
    pub(crate) fn locate() -> Result<Self> {
        let sh = Shell::new()?;
        let manifest =
            cmd!(sh, "cargo locate-project --workspace --message-format plain").quiet().read()?;
        let root = Path::new(&manifest).parent().map(Path::to_path_buf).unwrap_or_default();
        ensure!(
            root.join("xtask/Cargo.toml").is_file(),
            "{} is not a workspace with an xtask: run `cargo xtask` in a clone",
            root.display()
        );
        sh.change_dir(&root);
        Ok(Self { sh, root })
    }

    /// The content of a file, named relative to the root.
    pub(crate) fn read(&self, path: impl AsRef<Path>) -> Result<String> {
        Ok(self.sh.read_file(path.as_ref())?)
    }

    /// Builds the tests with the binaries that they start. Built alone, a binary would
    /// have other features, and all its dependencies would be built twice.
    pub(crate) fn build_tests(&self) -> Result<()> {
        let sh = &self.sh;
        cmd!(sh, "cargo build --locked --workspace --all-features --bins --tests --bench figures")
            .run()?;
        Ok(())
    }

    /// The directory of the binaries that [`Self::build_tests`] builds.
    pub(crate) fn binaries(&self) -> Result<PathBuf> {
        Ok(self.target()?.join("debug"))
    }

    /// The target directory, as an absolute path.
    pub(crate) fn target(&self) -> Result<PathBuf> {
        let metadata = self.metadata(&["--no-deps"])?;
        let target = metadata["target_directory"].as_str();
        Ok(PathBuf::from(target.context("cargo metadata names no target directory")?))
    }

    /// Files that are, or would be, tracked: a new file is checked before it is added.
    pub(crate) fn files(&self) -> Result<Vec<String>> {
        let sh = &self.sh;
        let listing = cmd!(sh, "git ls-files --cached --others --exclude-standard")
            .quiet()
            .read()
            .context("tidy lists the files with git: run it in a clone")?;
        // A file deleted but not yet committed is still listed.
        Ok(listing.lines().filter(|path| sh.path_exists(path)).map(str::to_owned).collect())
    }

    /// `cargo metadata` with the given extra arguments.
    pub(crate) fn metadata(&self, extra: &[&str]) -> Result<Value> {
        let sh = &self.sh;
        let text = cmd!(sh, "cargo metadata --format-version 1 {extra...}").quiet().read()?;
        Ok(serde_json::from_str(&text)?)
    }

    /// The packages that a member pulls in on Linux with its default features, one per
    /// line. The platform is fixed, so that the answer is the same everywhere.
    pub(crate) fn packages_of(&self, name: &str) -> Result<String> {
        let sh = &self.sh;
        let target = "x86_64-unknown-linux-gnu";
        let tree = cmd!(sh, "cargo tree --locked --package {name} --edges normal --prefix none");
        Ok(tree.args(["--target", target]).quiet().read()?)
    }

    /// The members, in the order of their names.
    pub(crate) fn members(&self) -> Result<Vec<Member>> {
        let metadata = self.metadata(&["--no-deps"])?;
        let Some(packages) = metadata["packages"].as_array() else {
            bail!("cargo metadata lists no packages");
        };
        let mut members =
            packages.iter().map(|package| self.member(package)).collect::<Result<Vec<_>>>()?;
        members.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(members)
    }

    fn member(&self, package: &Value) -> Result<Member> {
        let text = |key: &str| {
            package[key]
                .as_str()
                .map(str::to_owned)
                .with_context(|| format!("package without {key}"))
        };
        let manifest = PathBuf::from(text("manifest_path")?);
        let dependencies =
            package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(Member {
            name: text("name")?,
            version: text("version")?,
            manifest: manifest.strip_prefix(&self.root).unwrap_or(&manifest).to_path_buf(),
            // `publish = false` is an empty list of registries; absent means everywhere.
            published: package["publish"]
                .as_array()
                .is_none_or(|registries| !registries.is_empty()),
            library: package["targets"].as_array().is_some_and(|targets| {
                targets.iter().any(|target| target["kind"][0].as_str() == Some("lib"))
            }),
            dependencies: dependencies
                .iter()
                .map(|entry| Dependency {
                    name: entry["name"].as_str().unwrap_or_default().to_owned(),
                    normal: entry["kind"].is_null(),
                })
                .collect(),
        })
    }
}
