//! Hints for files and directories that cannot be used, chosen by the causes of
//! a failure. They are used if the verb has no better hint.

use std::error::Error;
use std::io;

use traj_fs::{FsError, Refusal};

/// The hint for the first error in the chain that has one.
pub(super) fn about(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let mut next = Some(error);
    while let Some(error) = next {
        let hint = error
            .downcast_ref::<FsError>()
            .and_then(FsError::refusal)
            .and_then(about_refusal)
            .or_else(|| error.downcast_ref::<io::Error>().and_then(about_failure));
        if hint.is_some() {
            return hint;
        }
        next = error.source();
    }
    None
}

const fn about_refusal(refusal: Refusal) -> Option<&'static str> {
    match refusal {
        Refusal::Symlink => Some("links are not followed; name the real file or directory"),
        Refusal::HardLink => Some("it must have one name only; make a copy with `cp`"),
        Refusal::NotRegular => Some("name a regular file, not a directory, pipe or device"),
        Refusal::NotAFolder => Some("check the path; a directory is expected there"),
        Refusal::Swapped => Some("another program changed it; try again"),
        Refusal::Foreign => Some("move it out of the way; traj does not change it"),
        Refusal::UnsafeName => Some("give it a plain name"),
        _ => None,
    }
}

fn about_failure(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::NotFound => Some("check the path"),
        io::ErrorKind::PermissionDenied => Some("check its permissions with `ls -l`"),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some("free some space"),
        io::ErrorKind::ReadOnlyFilesystem => Some("it is on a read-only filesystem"),
        io::ErrorKind::InvalidData => Some("the file must be text in UTF-8"),
        _ => None,
    }
}
