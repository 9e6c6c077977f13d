//! `traj inspect`: a session or bundle at a glance.

mod describe;
mod subject;

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
use crate::output::Output;
use crate::progress::{WatchedBundle, WorkBar};
use describe::describe;
use subject::Subject;

#[derive(Debug, Args)]
#[command(
    long_about = "Shows what happened in a session: timeline, models, tool calls with durations \
                  and errors, usage and cost, what was redacted, warnings. Reads a bundle in \
                  place; a session file is exported to a temporary folder first, so what is shown \
                  is redacted.",
    after_help = "Exit codes: 0 shown · 1 not found or not readable · 2 wrong usage · 3 a secret \
                  survived · 4 damaged or not a bundle, shown as far as it goes · \
                  128+N ended by signal N"
)]
pub(crate) struct Arguments {
    /// A bundle (folder, zip, tar.zst), a session file or its sidecar
    #[arg(value_name = "BUNDLE|SESSION")]
    subject: PathBuf,
    /// The folder the agent worked in; its path is hidden
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &Output) -> Outcome {
    let summary = match Subject::of(&arguments.subject, host)? {
        Subject::Bundle => inspect_bundle(arguments, host, output)?,
        Subject::Session { file, sidecar } => {
            inspect_session(&file, sidecar.as_deref(), arguments, host, output)?
        }
    };
    let fault = (!summary.problems.is_empty()).then_some(ErrorKind::Damaged);
    output.verdict(&summary, fault, describe)
}

fn inspect_bundle(
    arguments: &Arguments,
    host: &Host,
    output: &Output,
) -> Result<Summary, CommandError> {
    let bundle = WatchedBundle::new(verify::open(&arguments.subject, host)?, output);
    let looked = inspect_checked(&bundle, &verify::rules()?, Host::workers());
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
    inspect(&bundle).map_err(verify::explain)
}
