//! `traj lake`: maintains a dataset of many hosts.
//!
//! - `scripts`: what query engines need to read it;
//! - `verify`, `forget`: its files.

mod forget;
mod scripts;
mod verify;

use clap::Subcommand;
use traj_lake::DatasetError;

use crate::command::Outcome;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  traj lake views --engine duckdb --at file:///srv/lake > views.sql\n  \
                  traj lake job --engine spark --at s3://bucket/runs compact --day 2026-11-17\n  \
                  traj lake verify --at s3://bucket/runs\n\n\
                  Exit codes: 0 done · 1 failed · 2 wrong usage · 3 secrets were found · 4 damaged")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    #[command(about = "Print the SQL that defines the views of a dataset")]
    Views(scripts::ViewArguments),
    #[command(about = "Print a job that compacts or registers the files of a dataset")]
    Job(scripts::JobArguments),
    #[command(about = "Check that a dataset is complete, unchanged and free of secrets")]
    Verify(verify::VerifyArguments),
    #[command(about = "Remove a session from a dataset")]
    Forget(forget::ForgetArguments),
}

/// What to check if a dataset cannot be used.
pub(crate) const PLACE_HINT: &str =
    "check the URL, the credentials in the environment, and that it is a directory or a bucket";

pub(crate) const DOCUMENTS: [JsonDocument; 4] =
    [scripts::DOCUMENTS[0], scripts::DOCUMENTS[1], verify::DOCUMENT, forget::DOCUMENT];

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    match &arguments.verb {
        Verb::Views(arguments) => scripts::print_views(arguments, host, output),
        Verb::Job(arguments) => scripts::print_job(arguments, host, output),
        Verb::Verify(arguments) => verify::run(arguments, host, output),
        Verb::Forget(arguments) => forget::run(arguments, host, output),
    }
}

/// Explains to the user why a dataset cannot be used.
fn explain(error: DatasetError) -> CommandError {
    CommandError::failure("cannot use the dataset").because(error).hint(PLACE_HINT)
}
