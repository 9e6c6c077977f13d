//! An open sidecar, and what is known about its content.

use std::sync::Arc;

use cap_std::fs::{Dir, File, MetadataExt as _};
use traj_core::id::SessionId;

use super::{ownership, scan};
use crate::error::{Context as _, FsError, Refusal};
use crate::safe::open::{
    Access, FileIdentity, identity_of, make_file_private, open_replaceable, open_unknown,
};

/// A sidecar held open for appending.
#[derive(Debug)]
pub(super) struct SidecarHandle {
    /// Shared with the holder of its lock.
    pub(super) file: Arc<File>,
    identity: FileIdentity,
    /// The length of the content that was read or written so far.
    pub(super) length: u64,
    /// The highest line number in that content. It never decreases.
    pub(super) last_sequence: u64,
    /// Whether that content does not end with a line end.
    pub(super) is_torn: bool,
}

impl SidecarHandle {
    /// Opens the sidecar of `session`. Its next line gets a number above
    /// `last_sequence`. A file with other content, or with events of another
    /// session, is refused.
    pub(super) fn open(
        folder: &Dir,
        name: &str,
        session: &SessionId,
        last_sequence: u64,
    ) -> Result<Self, FsError> {
        let file = open_unknown(folder, name, Access::Append)?;
        if !ownership::is_sidecar_of(&file, &[session.as_str()]).context("read", name)? {
            return Err(FsError::refused("append to", name, Refusal::Foreign));
        }
        make_file_private(&file, name)?;
        let identity = FileIdentity::of_file(&file, name)?;
        Ok(Self { file: Arc::new(file), identity, length: 0, last_sequence, is_torn: false })
    }

    /// Whether the name still refers to this file. A file that replaced it is
    /// refused unless it is a sidecar of `sessions`.
    pub(super) fn is_current(
        &self,
        folder: &Dir,
        name: &str,
        sessions: impl FnOnce() -> Vec<String>,
    ) -> Result<bool, FsError> {
        let now = identity_of(folder, name)?;
        if now == Some(self.identity) {
            let links = self.file.metadata().context("inspect", name)?.nlink();
            return match links {
                0 | 1 => Ok(true),
                _ => Err(FsError::refused("append to", name, Refusal::HardLink)),
            };
        }
        if now.is_some() {
            let newcomer = match open_replaceable(folder, name, Access::Read) {
                // It is gone again. The next file is checked when it is opened.
                Err(error) if error.is_not_found() => return Ok(false),
                opened => opened?,
            };
            let sessions = sessions();
            let sessions: Vec<&str> = sessions.iter().map(String::as_str).collect();
            if !ownership::is_sidecar_of(&newcomer, &sessions).context("read", name)? {
                return Err(FsError::refused("append to", name, Refusal::Swapped));
            }
        }
        Ok(false)
    }

    /// Reads what was appended since the last call.
    pub(super) fn catch_up(&mut self, name: &str) -> Result<(), FsError> {
        let length = self.file.metadata().context("inspect", name)?.len();
        if length < self.length {
            // Another process truncated it. Start again, but do not reuse
            // numbers.
            (self.length, self.is_torn) = (0, false);
        }
        if length > self.length {
            let seen = scan::numbers(&self.file, self.length, length, self.last_sequence);
            let seen = seen.context("read", name)?;
            self.last_sequence = seen.last_sequence;
            self.is_torn = seen.is_torn;
            self.length = length;
        }
        Ok(())
    }

    /// Records what we wrote ourselves.
    pub(super) const fn wrote(&mut self, bytes: u64, lines: u64) {
        self.length += bytes;
        self.last_sequence += lines;
        self.is_torn = false;
    }
}
