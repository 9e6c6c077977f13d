//! A session as a temporary bundle, so that commands that show it only read
//! redacted text.

use std::path::{Path, PathBuf};

use traj_core::timestamp::UnixMillis;
use traj_export::{ExportError, ExportPorts, ExportRequest, Selection, export};
use traj_fs::{BundleForm, FsBundleSink, FsBundleSource, TemporaryFolder};

use super::setup as export_setup;
use crate::command_error::{CommandError, ErrorKind, explain_export, explain_unreadable};
use crate::compose::Host;
use crate::interruption::Interruption;
use crate::output::CommandOutput;
use crate::progress::WorkBar;
use crate::resolve::ChosenSession;

/// The hint for a file that no dialect recognises.
const NAME_A_KNOWN_FILE: &str = "name a session of an agent that traj knows";

/// A session as a bundle, which is removed on drop.
#[derive(Debug)]
pub(crate) struct ExportedSession {
    pub(crate) bundle: FsBundleSource,
    _temporary: TemporaryFolder,
}

/// Exports a session, redacted, to a temporary directory. Its manifest says
/// that this was done at the time `now`.
pub(crate) fn export_session(
    session: &ChosenSession,
    workspace: &Path,
    now: UnixMillis,
    host: &Host,
    output: &CommandOutput,
) -> Result<ExportedSession, CommandError> {
    export_until(&Interruption::watch(host)?, session, workspace, now, host, output)
}

/// As [`export_session`], for verbs that export several sessions.
pub(crate) fn export_until(
    interruption: &Interruption,
    session: &ChosenSession,
    workspace: &Path,
    now: UnixMillis,
    host: &Host,
    output: &CommandOutput,
) -> Result<ExportedSession, CommandError> {
    let ChosenSession { file, sidecar, .. } = session;
    let workspace = host.absolute(workspace);
    let redactor = export_setup::redactor(host, output, &workspace)?;
    let workspace = workspace.to_string_lossy();
    let selection = Selection::file(export_setup::text_of(file)?);
    let mut request = ExportRequest::new(selection, workspace, now, redactor);
    export_setup::adapt(&mut request, host);
    request.sidecar.runtime_file = sidecar.as_deref().map(export_setup::text_of).transpose()?;
    let files = [Some(file.as_path()), sidecar.as_deref()].into_iter().flatten();
    let folders: Vec<PathBuf> =
        files.filter_map(|file| file.parent().map(Path::to_path_buf)).collect();
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
                let hint = match error {
                    // The user did not choose the directory.
                    ExportError::Sink(_) => Some("set TMPDIR to use another temporary directory"),
                    // Only `traj export` has `--allow-empty`.
                    ExportError::NoEvents { .. } => Some(NAME_A_KNOWN_FILE),
                    _ => None,
                };
                let explained = explain_export(error, interruption);
                let is_interrupted = matches!(explained.kind, ErrorKind::Interrupted { .. });
                match hint.filter(|_| !is_interrupted) {
                    Some(hint) => explained.only_hint(hint),
                    None => explained,
                }
            })?;
    let bundle =
        FsBundleSource::open(temporary.folder(), &report.name).map_err(explain_unreadable)?;
    Ok(ExportedSession { bundle, _temporary: temporary })
}
