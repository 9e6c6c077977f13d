//! An open sidecar and what we know about its content.

use std::sync::Arc;

use cap_std::fs::{Dir, File, MetadataExt as _};
use traj_core::id::SessionId;

use super::{ownership, scan};
use crate::error::{Context as _, FsError, Refusal};
use crate::safe::open::{
    Access, Identity, identity_of, make_file_private, open_replaceable, open_unknown,
};

/// A sidecar held open for appending.
#[derive(Debug)]
pub(super) struct SidecarHandle {
    /// Shared with whoever holds its lock.
    pub(super) file: Arc<File>,
    identity: Identity,
    /// How far we know the content.
    pub(super) length: u64,
    /// The highest number of a line up to there, and never less than it was.
    pub(super) last_sequence: u64,
    /// The content does not end with a line end.
    pub(super) is_torn: bool,
}

impl SidecarHandle {
    /// Opens the sidecar of `session`, whose next line gets a number above
    /// `last_sequence`. A file that holds something else, or events of another
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
        let identity = Identity::of_file(&file, name)?;
        Ok(Self { file: Arc::new(file), identity, length: 0, last_sequence, is_torn: false })
    }

    /// Whether the name still stands for this file. A file that took its place
    /// must show that it is a sidecar of `sessions`, or it is refused.
    pub(super) fn is_current(
        &self,
        folder: &Dir,
        name: &str,
        sessions: impl FnOnce() -> Vec<String>,
    ) -> Result<bool, FsError> {
        let now = identity_of(folder, name)?;
        if now == Some(self.identity) {
            let links = self.file.metadata().context("look at", name)?.nlink();
            return match links {
                0 | 1 => Ok(true),
                _ => Err(FsError::refused("append to", name, Refusal::HardLink)),
            };
        }
        if now.is_some() {
            let newcomer = match open_replaceable(folder, name, Access::Read) {
                // Gone again; whatever comes next is looked at then.
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

    /// Reads what was added since we last looked.
    pub(super) fn catch_up(&mut self, name: &str) -> Result<(), FsError> {
        let length = self.file.metadata().context("look at", name)?.len();
        if length < self.length {
            // Cut by someone else: nothing we know holds, but numbers that
            // were given out are not given out again.
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

    /// Takes note of what we wrote ourselves.
    pub(super) const fn wrote(&mut self, bytes: u64, lines: u64) {
        self.length += bytes;
        self.last_sequence += lines;
        self.is_torn = false;
    }
}
