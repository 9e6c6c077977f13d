//! `traj inspect`: a session or bundle at a glance.

mod describe;

use std::path::{Path, PathBuf};

use clap::Args;
use traj_core::timestamp::UnixMillis;
use traj_export::{Summary, inspect, inspect_checked};

use super::Outcome;
use crate::command_error::{CommandError, ErrorKind, explain_unreadable, explain_unshowable};
use crate::compose::Host;
use crate::help::reading_exit_codes;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::progress::WatchedBundle;
use crate::resolve::bundle::{NamedBundle, rules};
use crate::resolve::export::temporary::export_session;
use crate::resolve::{self, Subject, SubjectArguments, Unnamed};
use describe::describe;

#[derive(Debug, Args)]
#[command(
    long_about = "Summarises a session: timeline, models, tool calls with durations and errors, \
                  usage and cost, what was redacted, and warnings.\n\nSESSION can be a bundle \
                  (directory, zip, tar.zst), a session or its sidecar. A session is first \
                  exported to a temporary directory, so all output is redacted. Without \
                  SESSION, inspects the newest session of this workspace, or else of this \
                  machine.",
    after_help = concat!(
        "Examples:\n",
        "  traj inspect                       the newest session of this workspace\n",
        "  traj inspect 0197f2c4              by the beginning of an id\n",
        "  traj inspect bug-1234.zip          a bundle\n",
        "  traj inspect --prices prices.toml  with your own prices\n",
        "\n",
        reading_exit_codes!()
    )
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: SubjectArguments,
    /// The directory that the agent worked in; the output hides its path
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
    /// A price file that overrides the built-in prices [default: as configured]
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<Summary>("inspect");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let subject = resolve::subject(&arguments.subject, Unnamed::Newest, host, output)?;
    let summary = match subject {
        Subject::Bundle { path } => inspect_bundle(&path, arguments, host, output)?,
        Subject::Session(session) => {
            let prices = host.prices(arguments.prices.as_deref())?;
            let exported =
                export_session(&session, &arguments.workspace, UnixMillis::EPOCH, host, output)?;
            let mut summary = inspect(&exported.bundle, prices).map_err(explain_unreadable)?;
            // The bundle is temporary; its creation time means nothing to the user.
            summary.generated_at = None;
            summary
        }
        Subject::Stream => {
            return Err(CommandError::usage("a bundle cannot be read from standard input")
                .hint("name the bundle, or a session"));
        }
    };
    let fault = (!summary.problems.is_empty()).then_some(ErrorKind::Damaged);
    output.verdict(&summary, fault, describe)
}

fn inspect_bundle(
    path: &Path,
    arguments: &Arguments,
    host: &Host,
    output: &CommandOutput,
) -> Result<Summary, CommandError> {
    let prices = host.prices(arguments.prices.as_deref())?;
    let bundle = WatchedBundle::new(NamedBundle::open(path, host)?, "checking", output);
    let looked = inspect_checked(&bundle, &rules()?, Host::workers(), prices);
    looked.map_err(explain_unshowable)
}
