//! `cargo xtask dist`: the archive that people download.
//!
//! Contains the optimised binary, completions for every shell, the man page,
//! units for systemd and launchd, the licences (also of what the page
//! contains), the README and the changelog. Its checksum is next to it. With
//! GNU tar, the same commit gives the same bytes.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use xshell::cmd;

use crate::flags;
use crate::workspace::Workspace;

const SHELLS: [(&str, &str); 5] = [
    ("bash", "traj.bash"),
    ("zsh", "_traj"),
    ("fish", "traj.fish"),
    ("elvish", "traj.elv"),
    ("powershell", "_traj.ps1"),
];

const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// The licences of the libraries in the page's script, and the file's name in the
/// archive.
const NOTICES: (&str, &str) =
    ("crates/traj-export/src/page/assets/licences.txt", "THIRD-PARTY-PAGE.txt");

/// The units that start `traj ship` on a host, below `packaging`.
const UNITS: [&str; 4] = [
    "systemd/traj-ship.service",
    "systemd/traj-ship-once.service",
    "systemd/traj-ship-once.timer",
    "launchd/dev.traj.ship.plist",
];

pub(crate) fn run(workspace: &Workspace, flags: &flags::Dist) -> Result<()> {
    let sh = &workspace.sh;
    let name = archive_name(workspace)?;
    let dist = workspace.root.join("dist");
    let archive = dist.join(format!("{name}.tar.gz"));
    if flags.dry_run {
        println!("would build traj optimised and write {}", archive.display());
        let (documents, units) = (DOCUMENTS.join(", "), UNITS.join(", "));
        println!("with completions, man page, {units}, {documents}, {}", NOTICES.1);
        return Ok(());
    }

    cmd!(sh, "cargo build --locked --release -p traj-cli").run()?;
    let target = workspace.target()?;
    let traj = target.join("release/traj");
    let staging = target.join("dist");
    let folder = staging.join(&name);
    sh.remove_path(&staging)?;
    sh.create_dir(&folder)?;
    sh.copy_file(&traj, &folder)?;
    for document in DOCUMENTS {
        sh.copy_file(document, &folder)?;
    }
    let (notices, name_of_notices) = NOTICES;
    sh.copy_file(notices, folder.join(name_of_notices))?;
    for unit in UNITS {
        let place = folder.join(unit);
        sh.create_dir(place.parent().context("a unit has a directory")?)?;
        sh.copy_file(format!("packaging/{unit}"), &place)?;
    }
    for (shell, file) in SHELLS {
        let script = cmd!(sh, "{traj} completions {shell}").quiet().read()?;
        sh.write_file(folder.join("completions").join(file), script + "\n")?;
    }
    let man = cmd!(sh, "{traj} man").quiet().read()?;
    sh.write_file(folder.join("man/man1/traj.1"), man + "\n")?;

    sh.create_dir(&dist)?;
    pack(workspace, &staging, &name, &archive)?;
    let checksum = checksum(workspace, &dist, &name)?;
    verify(workspace, &staging, &name, &archive)?;
    println!("{checksum}");
    Ok(())
}

/// `traj-VERSION-TARGET`.
fn archive_name(workspace: &Workspace) -> Result<String> {
    let sh = &workspace.sh;
    let rustc = cmd!(sh, "rustc --version --verbose").quiet().read()?;
    let host = rustc
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .context("rustc names no host")?;
    let members = workspace.members()?;
    let cli =
        members.iter().find(|member| member.name == "traj-cli").context("traj-cli is gone")?;
    Ok(format!("traj-{}-{host}", cli.version))
}

fn pack(workspace: &Workspace, staging: &Path, name: &str, archive: &Path) -> Result<()> {
    let sh = &workspace.sh;
    let version = cmd!(sh, "tar --version").quiet().read()?;
    let tarball = staging.join("archive.tar");
    if version.contains("GNU tar") {
        let time = cmd!(sh, "git log -1 --format=%ct").quiet().read()?;
        cmd!(sh, "tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@{time} -C {staging} -cf {tarball} {name}")
            .run()?;
    } else {
        cmd!(sh, "tar -C {staging} -cf {tarball} {name}").run()?;
    }
    cmd!(sh, "gzip --force -9 --no-name {tarball}").run()?;
    sh.copy_file(staging.join("archive.tar.gz"), archive)?;
    Ok(())
}

/// Writes `NAME.tar.gz.sha256` in the form that `sha256sum --check` reads.
fn checksum(workspace: &Workspace, dist: &Path, name: &str) -> Result<String> {
    let sh = &workspace.sh;
    let _in_dist = sh.push_dir(dist);
    let file = format!("{name}.tar.gz");
    let line = cmd!(sh, "sha256sum {file}")
        .quiet()
        .read()
        .or_else(|_| cmd!(sh, "shasum -a 256 {file}").quiet().read())
        .context("neither sha256sum nor shasum is installed")?;
    sh.write_file(format!("{file}.sha256"), format!("{line}\n"))?;
    Ok(line)
}

/// Unpacks the archive and starts the binary, to prove that both work.
fn verify(workspace: &Workspace, staging: &Path, name: &str, archive: &Path) -> Result<()> {
    let sh = &workspace.sh;
    let unpacked = staging.join("unpacked");
    sh.create_dir(&unpacked)?;
    cmd!(sh, "tar -C {unpacked} -xzf {archive}").run()?;
    for file in DOCUMENTS.into_iter().chain([NOTICES.1]).chain(UNITS) {
        ensure!(sh.path_exists(unpacked.join(name).join(file)), "the archive lacks {file}");
    }
    let traj = unpacked.join(name).join("traj");
    let version = cmd!(sh, "{traj} --version").quiet().read()?;
    ensure!(version.starts_with("traj "), "the packed binary does not print its version");
    Ok(())
}
