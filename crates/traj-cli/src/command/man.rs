//! `traj man`: prints the man page; used when packaging.

use std::process::ExitCode;

use clap::Args;

use super::Outcome;
use crate::arguments;
use crate::command_error::CommandError;
use crate::output::CommandOutput;

#[derive(Debug, Args)]
#[command(
    long_about = "Prints the man page of traj in roff format.",
    after_help = concat!(
        "Examples:\n",
        "  traj man | man -l -  read it\n",
        "  traj man > traj.1    save it, for a package\n",
        "\n",
        "Exit codes: 0 done · 1 failed · 2 wrong usage"
    )
)]
pub(crate) struct Arguments {}

pub(crate) fn run(_arguments: &Arguments, output: &CommandOutput) -> Outcome {
    let mut page = Vec::new();
    clap_mangen::Man::new(arguments::definition())
        .render(&mut page)
        .map_err(|error| CommandError::failure("cannot render the man page").because(error))?;
    output.write_bytes(&page)?;
    Ok(ExitCode::SUCCESS)
}
