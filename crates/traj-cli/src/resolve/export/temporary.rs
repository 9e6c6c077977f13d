//! A session as a temporary bundle, so that commands that show it read nothing
//! unredacted.

use std::path::{Path, PathBuf};

use traj_core::timestamp::UnixMillis;
use traj_export::{ExportError, ExportPorts, ExportRequest, Selection, export};
use traj_fs::{BundleForm, FsBundleSink, FsBundleSource, TemporaryFolder};

use super::setup as export_setup;
use crate::command::{export as export_verb, verify};
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::interruption::Interruption;
use crate::output::CommandOutput;
use crate::progress::WorkBar;
use crate::resolve::ChosenSession;

/// A session as a bundle, which goes away with the value.
#[derive(Debug)]
pub(crate) struct ExportedSession {
    pub(crate) bundle: FsBundleSource,
    _temporary: TemporaryFolder,
}

/// Refuses to show a bundle that still holds a secret.
pub(crate) fn secret_left(message: impl Into<String>) -> CommandError {
    CommandError::new(ErrorKind::Findings, message).hint("run `traj verify` for details")
}

/// Exports a session, redacted, to a temporary directory.
pub(crate) fn export_session(
    session: &ChosenSession,
    workspace: &Path,
    host: &Host,
    output: &CommandOutput,
) -> Result<ExportedSession, CommandError> {
    let ChosenSession { file, sidecar, .. } = session;
    let workspace = host.absolute(workspace);
    let redactor = export_setup::redactor(host, output, &workspace)?;
    let workspace = workspace.to_string_lossy();
    let selection = Selection::file(export_setup::text_of(file)?);
    let mut request = ExportRequest::new(selection, workspace, UnixMillis::EPOCH, redactor);
    export_setup::adapt(&mut request, host);
    request.sidecar.runtime_file = sidecar.as_deref().map(export_setup::text_of).transpose()?;
    let files = [Some(file.as_path()), sidecar.as_deref()].into_iter().flatten();
    let folders: Vec<PathBuf> =
        files.filter_map(|file| file.parent().map(Path::to_path_buf)).collect();
    let interruption = Interruption::watch(host)?;
    let stop = interruption.stop_flag();
    let sources = export_setup::readable(&folders, host, &request)?.stopping_at(stop.clone());
    let temporary = host.temporary_folder()?;
    let folder = temporary.folder().try_clone().map_err(|error| {
        CommandError::failure("cannot use the temporary directory").because(error)
    })?;
    let sink = FsBundleSink::new(folder, BundleForm::Folder).stopping_at(stop);
    let report =
        export(ExportPorts { sources: &sources, sink: &sink }, &request, &WorkBar::new(output))
            .map_err(|error| {
                let is_ours = matches!(error, ExportError::Sink(_));
                let explained = export_verb::explain_end(error, &interruption);
                let is_interrupted = matches!(explained.kind, ErrorKind::Interrupted { .. });
                // The place was not the user's choice, and cannot be one here.
                if is_ours && !is_interrupted {
                    explained.only_hint("set TMPDIR to use another temporary directory")
                } else {
                    explained
                }
            })?;
    let bundle = FsBundleSource::open(temporary.folder(), &report.name).map_err(verify::explain)?;
    Ok(ExportedSession { bundle, _temporary: temporary })
}
