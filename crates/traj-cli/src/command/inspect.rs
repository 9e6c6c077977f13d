//! `traj inspect`: a session or bundle at a glance.

mod describe;

use std::io::Read as _;
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
    /// A bundle (folder, zip, tar.zst) or a session file
    #[arg(value_name = "BUNDLE|SESSION")]
    subject: PathBuf,
    /// The folder the agent worked in; its path is hidden
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &Output) -> Outcome {
    let summary = if is_session(&arguments.subject, host) {
        inspect_session(arguments, host, output)?
    } else {
        inspect_bundle(arguments, host, output)?
    };
    let fault = (!summary.problems.is_empty()).then_some(ErrorKind::Damaged);
    output.verdict(&summary, fault, describe)
}

/// Whether a file is a session: by its name, else by how it begins.
fn is_session(subject: &Path, host: &Host) -> bool {
    if subject.extension().is_some_and(|extension| extension == "jsonl") {
        return true;
    }
    let opened = host.folder_of(subject).ok().and_then(|(folder, name)| {
        traj_fs::open_regular(&folder, &name, traj_fs::Access::Read).ok()
    });
    let mut head = [0];
    opened.is_some_and(|mut file| file.read_exact(&mut head).is_ok() && head == *b"{")
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
    arguments: &Arguments,
    host: &Host,
    output: &Output,
) -> Result<Summary, CommandError> {
    let session = host.absolute(&arguments.subject);
    let workspace = host.absolute(&arguments.workspace);
    let redactor = export_setup::redactor(host, output, &workspace)?;
    let workspace = workspace.to_string_lossy();
    let selection = Selection::file(session.to_string_lossy());
    let mut request = ExportRequest::new(selection, workspace, UnixMillis::EPOCH, redactor);
    let parent = session.parent().unwrap_or(Path::new("/")).to_path_buf();
    export_setup::adapt(&mut request, host);
    let interruption = Interruption::watch(host)?;
    let stop = interruption.stop_flag();
    let sources = export_setup::readable(&[parent], host, &request)?.stopping_at(stop.clone());
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
