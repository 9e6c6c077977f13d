//! `cargo xtask bench`: ratios measured in one run.
//!
//! The bench binary of the `traj-tests` package does the measuring
//! (`tests/benches`, one file per subject). This verb builds it and the `traj`
//! binary with optimisations, generates the sessions to export, and keeps the
//! JSON of each subject.

mod agent_run;
mod cases;

use std::path::Path;

use anyhow::Result;
use xshell::cmd;

use crate::ci::{Outcome, fleet};
use crate::workspace::Workspace;
use crate::{flags, peers};

/// The size of a session and of a sidecar.
const FULL_MIB: usize = 48;
/// The same for a smoke test of the benches.
const SMOKE_MIB: usize = 1;
/// The size of the run whose page is compared with those of other programs.
const RUN_MIB: usize = 100;

/// Generates sessions that are just large enough for a smoke test.
pub(crate) fn smoke_cases(folder: &Path) -> Result<()> {
    Ok(cases::generate(folder, SMOKE_MIB)?)
}

pub(crate) fn run(workspace: &Workspace, flags: &flags::Bench) -> Result<()> {
    let sh = &workspace.sh;
    let target = workspace.target()?;
    let json = target.join("bench");
    sh.create_dir(&json)?;

    // One build for both: built separately, they would differ in features and compile everything twice.
    let all = ["--locked", "--workspace", "--all-features"];
    cmd!(sh, "cargo build --release {all...} --bin traj --bench figures").run()?;
    let traj = target.join("release/traj");
    let subjects = &flags.subject;
    let folder = json.join("cases");
    let mut cases = None;
    let needs_cases = |subject: &String| {
        matches!(subject.as_str(), "export" | "reading" | "view" | "convert" | "fleet")
    };
    if subjects.is_empty() || subjects.iter().any(needs_cases) {
        cases::generate(&folder, if flags.smoke { SMOKE_MIB } else { FULL_MIB })?;
        cases = Some(["--cases".into(), folder.clone().into_os_string()]);
    }
    let mut programs = None;
    let wants = |name: &str| subjects.is_empty() || subjects.iter().any(|subject| subject == name);
    if !flags.smoke && wants("view") {
        agent_run::generate(&folder.join("agent-run"), RUN_MIB * 1024 * 1024)?;
        match peers::install(workspace)? {
            Outcome::Skipped(reason) => eprintln!("{reason}"),
            _ => programs = Some(["--peers".into(), peers::folder(workspace)?.into_os_string()]),
        }
    }
    let engines = if wants("fleet") { fleet::python(workspace)? } else { None };
    let engines = engines.map(|python| ["--engines".into(), python.into_os_string()]);
    let engines = engines.iter().flatten();
    let programs = programs.iter().flatten();
    let cases = cases.iter().flatten();
    let smoke = flags.smoke.then_some("--smoke");
    let check = flags.check.then_some("--check");
    let measured = cmd!(sh, "cargo bench {all...} --bench figures -- {subjects...} {smoke...} {check...} --json {json} --traj {traj} {cases...} {programs...} {engines...}")
        .run();
    // The sessions take gigabytes and are quick to generate again.
    sh.remove_path(&folder)?;
    measured?;
    println!("written to {}", json.display());
    Ok(())
}
