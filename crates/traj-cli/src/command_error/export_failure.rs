//! Explains a failed export to the user: its exit code, and what to do.

use traj_core::care::session_store::SessionStoreError;
use traj_core::port::{BundleSinkError, SourceError};
use traj_export::ExportError;

use super::{CommandError, ErrorKind};
use crate::interruption::Interruption;

/// Explains how an export ended. If a signal interrupted it, reports that,
/// unless a secret was found or the bundle was already written.
pub(crate) fn explain_export(error: ExportError, interruption: &Interruption) -> CommandError {
    match error {
        ExportError::SecretsRemain { .. }
        | ExportError::Sink(BundleSinkError::Unconfirmed { .. }) => explain(error),
        error => interruption.explain(explain(error)),
    }
}

/// Explains a failed export to the user.
fn explain(error: ExportError) -> CommandError {
    let kind = match &error {
        ExportError::SecretsRemain { .. } => ErrorKind::Findings,
        ExportError::Store(SessionStoreError::UnknownKey) => ErrorKind::Failure,
        ExportError::Store(_) | ExportError::NoEvents { .. } => ErrorKind::Damaged,
        ExportError::Sink(BundleSinkError::ReservedName { .. }) => ErrorKind::Usage,
        _ => ErrorKind::Failure,
    };
    let hint = match &error {
        ExportError::Source(SourceError::NotFound { .. }) => Some("check the path"),
        ExportError::Source(SourceError::NotRegular { .. }) => {
            Some("links are not followed; name the file itself")
        }
        ExportError::Source(SourceError::Outside { .. }) => Some("name a file by a plain path"),
        ExportError::Source(SourceError::Changed { .. }) => Some("run the export again"),
        ExportError::Source(SourceError::TooLarge { .. }) => Some("name another file"),
        ExportError::Source(SourceError::Storage { .. }) => {
            Some("nothing was written; check the permissions of the file and the state of the disk")
        }
        ExportError::Store(SessionStoreError::UnknownKey) => {
            Some("run `traj sessions` to list the keys; use --agent for another agent")
        }
        ExportError::Store(_) => Some("repair the store, or name the file with --session"),
        ExportError::NoEvents { .. } => {
            Some("name a session of an agent that traj knows; --allow-empty exports it anyway")
        }
        ExportError::UnknownSession => Some("name it with --session-id"),
        ExportError::Limit { .. } => Some("leave out --strict-limits to export it with a warning"),
        ExportError::SecretsRemain { .. } => {
            Some("nothing was written; report the rule and the location named above")
        }
        ExportError::Sink(BundleSinkError::Exists { .. }) => {
            Some("choose another name with --output")
        }
        ExportError::Sink(BundleSinkError::InsideBundle { .. }) => {
            Some("a bundle must contain only its own files; choose another directory")
        }
        ExportError::Sink(BundleSinkError::ReservedName { .. }) => {
            Some("names of this form belong to exports in progress; choose another one")
        }
        ExportError::Sink(BundleSinkError::UnsafePlace { .. }) => {
            Some("name a real directory with --output-root DIR")
        }
        ExportError::Sink(BundleSinkError::Storage { .. }) => {
            Some("no bundle was written; choose another directory with --output-root DIR")
        }
        ExportError::Sink(BundleSinkError::Unconfirmed { .. }) => {
            Some("copy it to another disk, and check this one for errors")
        }
        ExportError::Sink(error) if error.is_full() => {
            Some("free some space; no part of the bundle was left")
        }
        _ => None,
    };
    let explained = CommandError::new(kind, error.to_string()).because_of(&error);
    match hint {
        Some(hint) => explained.hint(hint),
        None => explained,
    }
}
