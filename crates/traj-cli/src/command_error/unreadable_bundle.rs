//! Explains an unreadable bundle to the user: its exit code, and what to do.

use traj_core::port::BundleSourceError;
use traj_export::InspectError;

use super::{CommandError, ErrorKind};

/// Explains why a bundle may not be shown: it cannot be read, or it contains a
/// secret.
pub(crate) fn explain_unshowable(error: InspectError) -> CommandError {
    match error {
        InspectError::Source(error) => explain_unreadable(error),
        secret => CommandError::secret_left(secret.to_string()),
    }
}

/// Explains an unreadable bundle to the user.
pub(crate) fn explain_unreadable(error: BundleSourceError) -> CommandError {
    let kind = match &error {
        BundleSourceError::NotFound { .. } | BundleSourceError::Storage { .. } => {
            ErrorKind::Failure
        }
        _ => ErrorKind::Damaged,
    };
    let hint = match &error {
        BundleSourceError::NotFound { .. } => {
            Some("check the path; bundles are in .openclaw/trajectory-exports of a workspace")
        }
        BundleSourceError::NotABundle { .. } => {
            Some("a bundle is a directory, a zip file or a tar.zst file; links are not followed")
        }
        BundleSourceError::NoManifest { .. } => {
            Some("name the directory that `traj export` wrote; it contains manifest.json")
        }
        BundleSourceError::UnsafeFile { .. } => {
            Some("a bundle contains only its files and `blobs`; links are not followed")
        }
        BundleSourceError::UnsafeEntry { .. }
        | BundleSourceError::RepeatedEntry { .. }
        | BundleSourceError::TooManyEntries { .. }
        | BundleSourceError::Bomb => Some("nothing was unpacked; do not trust this archive"),
        BundleSourceError::Damaged { .. } => {
            Some("if another program repacked it, unpack it and name the directory")
        }
        _ => None,
    };
    let explained = CommandError::new(kind, error.to_string()).because_of(&error);
    match hint {
        Some(hint) => explained.hint(hint),
        None => explained,
    }
}
