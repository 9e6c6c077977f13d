//! `cargo xtask fuzz`: the laws of redaction on random texts, for as long as asked.

use anyhow::Result;
use xshell::cmd;

use crate::flags;
use crate::workspace::Workspace;

/// How long the verb runs if no time is given.
const HOUR: u64 = 60 * 60;

/// How long `ci` runs it at most, on how many texts, from which seed: every run of
/// `ci` checks the same texts.
pub(crate) const SHORT: (&str, &str, &str) = ("120", "500", "1");

pub(crate) fn run(workspace: &Workspace, flags: &flags::Fuzz) -> Result<()> {
    let seconds = flags.seconds.unwrap_or(HOUR).to_string();
    let sh = &workspace.sh;
    cmd!(sh, "cargo run --locked --release --all-features -p traj-tests --bin fuzz-redaction -- {seconds}").run()?;
    Ok(())
}
