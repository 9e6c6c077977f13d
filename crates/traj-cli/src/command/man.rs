//! `traj man`: the man page, on standard output; used when packaging.

use std::process::ExitCode;

use clap::Args;

use super::Outcome;
use crate::arguments;
use crate::command_error::CommandError;
use crate::output::Output;

#[derive(Debug, Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_arguments: &Arguments, output: &Output) -> Outcome {
    let mut page = Vec::new();
    clap_mangen::Man::new(arguments::definition())
        .render(&mut page)
        .map_err(|error| CommandError::failure("cannot render the man page").because(error))?;
    output.write_bytes(&page)?;
    Ok(ExitCode::SUCCESS)
}
