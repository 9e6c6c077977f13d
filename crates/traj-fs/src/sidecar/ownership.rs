//! Distinguishing a sidecar from a file that only has its name.

use std::io;

use cap_std::fs::File;
use traj_core::location::SidecarHead;

use crate::session::sources::FsSource;
use crate::stop_flag::StopFlag;

/// Whether a file is the sidecar of one of these sessions, or has no readable
/// line yet. A redacted id may be any of them.
pub(crate) fn is_sidecar_of(file: &File, sessions: &[&str]) -> io::Result<bool> {
    let source = FsSource::new(String::new(), file.try_clone()?, StopFlag::default())?;
    let head = SidecarHead::read(&source).map_err(io::Error::other)?;
    Ok(match head {
        SidecarHead::Foreign => false,
        head => sessions.iter().any(|session| !head.is_of_another(session)),
    })
}
