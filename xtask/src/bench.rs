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

    // One build for both: selected apart, they would differ in features and build all twice.
    let all = ["--locked", "--workspace", "--all-features"];
    cmd!(sh, "cargo build --release {all...} --bin traj --bench figures").run()?;
    let traj = target.join("release/traj");
    let subjects = &flags.subject;
    let smoke = flags.smoke.then_some("--smoke");
    let check = flags.check.then_some("--check");
    cmd!(sh, "cargo bench {all...} --bench figures -- {subjects...} {smoke...} {check...} --json {json} --traj {traj}")
        .run()?;
    println!("written to {}", json.display());
    Ok(())
}
