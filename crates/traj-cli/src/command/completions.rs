//! `traj completions`: completions for a shell, on standard output.

use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;

use super::Outcome;
use crate::arguments;
use crate::output::Output;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The shell to complete for
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut arguments::definition(), "traj", &mut script);
    output.write_bytes(&script)?;
    Ok(ExitCode::SUCCESS)
}
