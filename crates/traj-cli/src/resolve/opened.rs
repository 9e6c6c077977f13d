//! What a verb shows: a bundle in place, or a session as a bundle. All of it is
//! redacted.

use std::path::{Path, PathBuf};

use traj_core::port::BundleSource;
use traj_core::timestamp::UnixMillis;
use traj_export::check_before_reading;

use super::bundle::{NamedBundle, rules};
use super::export::temporary::{ExportedSession, export_session};
use super::{Subject, SubjectArguments, Unnamed};
use crate::command_error::{CommandError, ErrorKind, explain_unshowable};
use crate::compose::Host;
use crate::output::CommandOutput;
use crate::progress::WatchedBundle;

/// A bundle that may be shown.
#[derive(Debug)]
pub(crate) enum OpenedBundle {
    /// A bundle in place. Its events were checked for secrets.
    InPlace { bundle: NamedBundle, path: PathBuf, is_damaged: bool },
    /// The bundle of a session, which goes away with it.
    OfSession { exported: ExportedSession, file: PathBuf },
}

impl OpenedBundle {
    /// Opens what the user means. A session is exported at the time `now`.
    pub(crate) fn open(
        subject: &SubjectArguments,
        workspace: &Path,
        now: UnixMillis,
        host: &Host,
        output: &CommandOutput,
    ) -> Result<Self, CommandError> {
        let subject = super::subject(subject, Unnamed::Newest, host, output)?;
        Self::of(subject, workspace, now, host, output)
    }

    /// As [`Self::open`], if it is known what the user means.
    pub(crate) fn of(
        subject: Subject,
        workspace: &Path,
        now: UnixMillis,
        host: &Host,
        output: &CommandOutput,
    ) -> Result<Self, CommandError> {
        match subject {
            Subject::Bundle { path } => {
                let is_damaged = check(&path, host, output)?;
                Ok(Self::InPlace { bundle: NamedBundle::open(&path, host)?, path, is_damaged })
            }
            Subject::Session(session) => {
                let exported = export_session(&session, workspace, now, host, output)?;
                Ok(Self::OfSession { exported, file: session.file })
            }
            Subject::Stream => {
                Err(CommandError::usage("a session is not read from standard input")
                    .hint("name the session, or a bundle"))
            }
        }
    }

    pub(crate) fn bundle(&self) -> &dyn BundleSource {
        match self {
            Self::InPlace { bundle, .. } => bundle,
            Self::OfSession { exported, .. } => &exported.bundle,
        }
    }

    /// What a file that is made from it is called, without an ending.
    pub(crate) fn stem(&self) -> String {
        let (Self::InPlace { path, .. } | Self::OfSession { file: path, .. }) = self;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let mut endings = [".tar.zst", ".tzst", ".zip", ".html", ".jsonl", ".json"].iter();
        let stem = endings.find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
        // Nothing that is hidden, and nothing that looks like a flag.
        let stem = stem.trim_start_matches(['.', '-']);
        if stem.is_empty() { "session".to_owned() } else { stem.to_owned() }
    }

    pub(crate) const fn is_damaged(&self) -> bool {
        matches!(self, Self::InPlace { is_damaged: true, .. })
    }
}

/// Checks a bundle from elsewhere; returns whether it is damaged. Its progress
/// bar is gone before anything is shown.
fn check(path: &Path, host: &Host, output: &CommandOutput) -> Result<bool, CommandError> {
    let bundle = WatchedBundle::new(NamedBundle::open(path, host)?, "checking", output);
    let checked = check_before_reading(&bundle, &rules()?, Host::workers());
    let report = checked.map_err(explain_unshowable)?;
    if !report.has_scanned_events() {
        let message = "the events of this bundle cannot be checked for secrets";
        return Err(
            CommandError::new(ErrorKind::Damaged, message).hint("run `traj verify` for details")
        );
    }
    Ok(!report.problems.is_empty())
}
