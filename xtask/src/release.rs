//! `cargo xtask release`: one commit that bumps the version, then publishing.
//!
//! Both halves print their plan and carry it out only with `--execute`. Before
//! a bump, the public API and the lower bounds of dependencies are checked. The
//! bump touches the root manifest, the lock file and the changelog, never code.
//! Publishing happens in a fresh clone, because ignored files of a working tree
//! can end up in a package.

mod changelog;
mod checks;
mod order;
mod version;

use anyhow::{Context as _, Result, bail, ensure};
use xshell::cmd;

use crate::flags;
use crate::workspace::Workspace;

const MANIFEST: &str = "Cargo.toml";
const CHANGELOG: &str = "CHANGELOG.md";

pub(crate) fn run(workspace: &Workspace, flags: &flags::Release) -> Result<()> {
    match (&flags.version, flags.publish) {
        (Some(version), false) => bump(workspace, version, flags),
        (None, true) => publish(workspace, flags.execute),
        _ => bail!("name a version to bump to, or use --publish, not both"),
    }
}

fn bump(workspace: &Workspace, next: &str, flags: &flags::Release) -> Result<()> {
    let sh = &workspace.sh;
    let members = workspace.members()?;
    let current = members.iter().find(|member| member.published).context("nothing is published")?;
    let current = current.version.as_str();
    ensure!(
        version::parse(next)? > version::parse(current)?,
        "{next} is not above the current version {current}"
    );
    let manifest = version::bump(&workspace.read(MANIFEST)?, current, next)?;
    let today = cmd!(sh, "date -u +%Y-%m-%d").quiet().read()?;
    let changelog = changelog::release(&workspace.read(CHANGELOG)?, next, &today)?;

    println!("{current} -> {next}, dated {today}");
    println!("publish order: {}", order::publish_order(&members)?.join(", "));
    println!("\nchangelog section:\n{}", changelog::section(&changelog, next)?);
    if flags.skip_checks {
        println!("--skip-checks: neither the public API nor minimal versions were CHECKED");
    } else {
        checks::run(workspace, &members, current, next)?;
    }
    if !flags.execute {
        println!("dry run: nothing was changed; --execute writes and commits");
        return Ok(());
    }
    let status = cmd!(sh, "git status --porcelain").quiet().read()?;
    ensure!(status.is_empty(), "the working tree has changes; commit them first");
    sh.write_file(MANIFEST, manifest)?;
    sh.write_file(CHANGELOG, changelog)?;
    cmd!(sh, "cargo update --workspace").run()?;
    let subject = format!("release: {next}");
    cmd!(sh, "git commit --quiet --message {subject} -- Cargo.toml Cargo.lock CHANGELOG.md")
        .run()?;
    println!("committed; RELEASING.md describes the next step");
    Ok(())
}

fn publish(workspace: &Workspace, execute: bool) -> Result<()> {
    let sh = &workspace.sh;
    let members = workspace.members()?;
    let names = order::publish_order(&members)?;
    let version =
        members.iter().find(|member| member.published).map(|member| member.version.as_str());
    println!("publish {} in this order: {}", version.unwrap_or("?"), names.join(", "));
    if !execute {
        println!("dry run: nothing was published; --execute publishes from a fresh clone");
        return Ok(());
    }
    let tag = format!("v{}", version.context("nothing is published")?);
    let head = cmd!(sh, "git rev-parse HEAD").quiet().read()?;
    let tagged =
        cmd!(sh, "git rev-list -n 1 {tag}").ignore_stderr().quiet().read().unwrap_or_default();
    ensure!(
        head == tagged,
        "HEAD is not {tag}: tag the release commit once its checks have passed"
    );
    let clone = workspace.target()?.join("release-clone");
    sh.remove_path(&clone)?;
    cmd!(sh, "git clone --quiet --branch {tag} . {clone}").run()?;
    let _in_clone = sh.push_dir(&clone);
    for name in &names {
        cmd!(sh, "cargo publish --locked -p {name}").run()?;
    }
    Ok(())
}
