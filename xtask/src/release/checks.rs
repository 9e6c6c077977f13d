//! Checks before a version is published: the API changes only as far as the new
//! version allows, and the stated lower bounds of dependencies work.
//!
//! The tools need rustdoc's JSON and cargo's `-Z direct-minimal-versions`, which
//! are unstable; `RUSTC_BOOTSTRAP=1` lets the stable toolchain offer both. It is
//! set for these checks only, and no artefact of theirs is shipped.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use xshell::cmd;

use super::version;
use crate::tools::{PUBLIC_API, SEMVER_CHECKS};
use crate::workspace::{Member, Workspace};

/// Runs all checks on the committed state.
pub(super) fn run(
    workspace: &Workspace,
    members: &[Member],
    current: &str,
    next: &str,
) -> Result<()> {
    let room = workspace.target()?.join("release-checks");
    let libraries: Vec<&str> = members
        .iter()
        .filter(|member| member.published && member.library)
        .map(|member| member.name.as_str())
        .collect();
    let head = clone(workspace, &room, "HEAD")?;
    let tag = format!("v{current}");
    let sh = &workspace.sh;
    let tagged = cmd!(sh, "git rev-parse --quiet --verify {tag}").quiet().ignore_stdout().run();
    let listed = list_api(workspace, &room, &head, &libraries)?;
    if tagged.is_ok() {
        let baseline = clone(workspace, &room, &tag)?;
        compare_versions(workspace, &head, &baseline, &libraries, change(current, next)?)?;
        let before = list_api(workspace, &room, &baseline, &libraries)?;
        println!("\npublic API since {tag}:");
        cmd!(sh, "git --no-pager diff --no-index --unified=0 {before} {listed}")
            .ignore_status()
            .run()?;
    } else {
        println!("there is no tag {tag}: COMPATIBILITY WAS NOT CHECKED, only the API listed");
    }
    minimal_versions(workspace, &room, &head)
}

/// A fresh clone at this commit, so that the working tree stays as it is.
fn clone(workspace: &Workspace, room: &Path, commit: &str) -> Result<PathBuf> {
    let sh = &workspace.sh;
    let folder = room.join(commit);
    sh.remove_path(&folder)?;
    cmd!(sh, "git clone --quiet . {folder}").run()?;
    let id = cmd!(sh, "git rev-list -n 1 {commit}").quiet().read()?;
    cmd!(sh, "git -C {folder} checkout --quiet --detach {id}").run()?;
    Ok(folder)
}

/// Fails if the API changed more than this kind of release allows.
fn compare_versions(
    workspace: &Workspace,
    head: &Path,
    baseline: &Path,
    libraries: &[&str],
    change: &str,
) -> Result<()> {
    let sh = &workspace.sh;
    let program = SEMVER_CHECKS.install(workspace)?;
    let manifest = head.join("Cargo.toml");
    for name in libraries {
        cmd!(sh, "{program} semver-checks --manifest-path {manifest} -p {name} --all-features --baseline-root {baseline} --release-type {change}")
            .run()
            .with_context(|| format!("{name}: the version is too low for what changed"))?;
    }
    Ok(())
}

/// Writes the public API of each library to a separate file. Returns their directory.
fn list_api(
    workspace: &Workspace,
    room: &Path,
    sources: &Path,
    libraries: &[&str],
) -> Result<PathBuf> {
    let sh = &workspace.sh;
    let program = PUBLIC_API.install(workspace)?;
    let (build, manifest) = (room.join("build"), sources.join("Cargo.toml"));
    let lists = sources.join("target/public-api");
    sh.create_dir(&lists)?;
    for name in libraries {
        let list = cmd!(sh, "{program} --manifest-path {manifest} --target-dir {build} -p {name} --all-features -sss")
            .env("RUSTC_BOOTSTRAP", "1")
            .read()
            .with_context(|| format!("{name}: cannot list the public API"))?;
        println!("{name}: {} public items", list.lines().count());
        sh.write_file(lists.join(name), list + "\n")?;
    }
    Ok(lists)
}

/// Builds with the oldest version of every direct dependency that the manifests allow.
fn minimal_versions(workspace: &Workspace, room: &Path, head: &Path) -> Result<()> {
    let sh = &workspace.sh;
    let build = room.join("build");
    let _in_clone = sh.push_dir(head);
    cmd!(sh, "cargo update --quiet -Z direct-minimal-versions")
        .env("RUSTC_BOOTSTRAP", "1")
        .run()
        .context("a lower bound in [workspace.dependencies] cannot be met")?;
    cmd!(sh, "cargo check --locked --workspace --all-features --target-dir {build}")
        .run()
        .context("a lower bound in [workspace.dependencies] is too low")?;
    Ok(())
}

/// The kind of release by cargo's compatibility rules: below 1.0, a change of the
/// second number is a breaking one.
fn change(current: &str, next: &str) -> Result<&'static str> {
    let [major, minor, _] = version::parse(current)?;
    let [next_major, next_minor, _] = version::parse(next)?;
    let same_minor = minor == next_minor;
    Ok(match (major == next_major, major) {
        (true, 0) if same_minor => "minor",
        (true, 1..) if same_minor => "patch",
        (true, 1..) => "minor",
        _ => "major",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_release_is_the_one_that_cargo_sees() {
        for (current, next, kind) in [
            ("0.1.0", "0.1.1", "minor"),
            ("0.1.0", "0.2.0", "major"),
            ("0.9.0", "1.0.0", "major"),
            ("1.2.3", "1.2.4", "patch"),
            ("1.2.3", "1.3.0", "minor"),
            ("1.2.3", "2.0.0", "major"),
        ] {
            assert_eq!(change(current, next).unwrap(), kind, "{current} -> {next}");
        }
    }
}
