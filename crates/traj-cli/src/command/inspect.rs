//! `traj inspect`: a session or bundle at a glance.

mod describe;

use std::path::{Path, PathBuf};

use clap::Args;
use traj_core::timestamp::UnixMillis;
use traj_export::{
    ExportError, ExportPorts, ExportRequest, InspectError, Selection, Summary, export, inspect,
    inspect_checked,
};
use traj_fs::{BundleForm, FsBundleSink, FsBundleSource};

use super::{Outcome, export as export_verb, verify};
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::export_setup;
use crate::interruption::Interruption;
use crate::json_document::JsonDocument;
use crate::output::Output;
use crate::progress::{WatchedBundle, WorkBar};
use crate::resolve::{self, Subject, SubjectArguments, Unnamed};
use describe::describe;

#[derive(Debug, Args)]
#[command(
    long_about = "Shows what happened in a session: timeline, models, tool calls with durations \
                  and errors, usage and cost, what was redacted, warnings. Reads a bundle in \
                  place; a session file is exported to a temporary folder first, so what is shown \
                  is redacted. Reads a bundle (directory, zip, tar.zst), a session or its sidecar. \
                  Without SESSION, the newest session of this workspace is shown, else of this \
                  machine.",
    after_help = concat!(
        "Examples:\n",
        "  traj inspect               the newest session of this workspace\n",
        "  traj inspect 0197f2c4      the beginning of an id\n",
        "  traj inspect bug-1234.zip  a bundle\n",
        "  traj inspect 0197f2c4 --prices prices.toml\n",
        "\n",
        "Exit codes: 0 shown · 1 not found or not readable · 2 wrong usage · 3 a secret \
         survived · 4 damaged or not a bundle, shown as far as it goes · \
         128+N ended by signal N"
    )
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: SubjectArguments,
    /// The folder the agent worked in; its path is hidden
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
    /// A file with prices, which win over those that come with traj [default: as configured]
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<Summary>("inspect");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &Output) -> Outcome {
    let subject = resolve::subject(&arguments.subject, Unnamed::Newest, host, output)?;
    let summary = match subject {
        Subject::Bundle { path } => inspect_bundle(&path, arguments, host, output)?,
        Subject::Session(session) => {
            let sidecar = session.sidecar.as_deref();
            inspect_session(&session.file, sidecar, arguments, host, output)?
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
    output: &Output,
) -> Result<Summary, CommandError> {
    let prices = host.prices(arguments.prices.as_deref())?;
    let bundle = WatchedBundle::new(verify::open(path, host)?, output);
    let looked = inspect_checked(&bundle, &verify::rules()?, Host::workers(), prices);
    looked.map_err(|error| match error {
        InspectError::Source(error) => verify::explain(error),
        secret => CommandError::new(ErrorKind::Findings, secret.to_string())
            .hint("`traj verify` says where"),
    })
}

fn inspect_session(
    session: &Path,
    sidecar: Option<&Path>,
    arguments: &Arguments,
    host: &Host,
    output: &Output,
) -> Result<Summary, CommandError> {
    let prices = host.prices(arguments.prices.as_deref())?;
    let workspace = host.absolute(&arguments.workspace);
    let redactor = export_setup::redactor(host, output, &workspace)?;
    let workspace = workspace.to_string_lossy();
    let selection = Selection::file(export_setup::text_of(session)?);
    let mut request = ExportRequest::new(selection, workspace, UnixMillis::EPOCH, redactor);
    export_setup::adapt(&mut request, host);
    request.sidecar.runtime_file = sidecar.map(export_setup::text_of).transpose()?;
    let files = [Some(session), sidecar].into_iter().flatten();
    let folders: Vec<PathBuf> =
        files.filter_map(|file| file.parent().map(Path::to_path_buf)).collect();
    let interruption = Interruption::watch(host)?;
    let stop = interruption.stop_flag();
    let sources = export_setup::readable(&folders, host, &request)?.stopping_at(stop.clone());
    let temporary = host.temporary_folder()?;
    let folder = temporary
        .folder()
        .try_clone()
        .map_err(|error| CommandError::failure("cannot use the temporary folder").because(error))?;
    let sink = FsBundleSink::new(folder, BundleForm::Folder).stopping_at(stop);
    let report =
        export(ExportPorts { sources: &sources, sink: &sink }, &request, &WorkBar::new(output))
            .map_err(|error| {
                let is_ours = matches!(error, ExportError::Sink(_));
                let explained = export_verb::explain_end(error, &interruption);
                let is_interrupted = matches!(explained.kind, ErrorKind::Interrupted { .. });
                // The place was not the user's choice, and cannot be one here.
                if is_ours && !is_interrupted {
                    explained.only_hint("TMPDIR names another place for what is looked at")
                } else {
                    explained
                }
            })?;
    let bundle = FsBundleSource::open(temporary.folder(), &report.name).map_err(verify::explain)?;
    inspect(&bundle, prices).map_err(verify::explain)
}
