//! `cargo xtask bench`: ratios measured in one run.
//!
//! The measuring is done by the bench binary of the `traj-tests` package
//! (`tests/benches`, one file per subject); this verb builds it and the
//! `traj` binary optimised, and keeps the JSON of each subject.

use anyhow::Result;
use xshell::cmd;

use crate::flags;
use crate::workspace::Workspace;

pub(crate) fn run(workspace: &Workspace, flags: &flags::Bench) -> Result<()> {
    let sh = &workspace.sh;
    let target = workspace.target()?;
    let json = target.join("bench");
    sh.create_dir(&json)?;

    cmd!(sh, "cargo build --locked --release -p traj-cli").run()?;
    let traj = target.join("release/traj");
    let subjects = &flags.subject;
    let smoke = flags.smoke.then_some("--smoke");
    let check = flags.check.then_some("--check");
    cmd!(sh, "cargo bench --locked -p traj-tests --bench figures -- {subjects...} {smoke...} {check...} --json {json} --traj {traj}")
        .run()?;
    println!("written to {}", json.display());
    Ok(())
}
