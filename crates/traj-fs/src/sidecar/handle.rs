//! An open sidecar and what we know about its content.

use cap_std::fs::{Dir, File, MetadataExt as _};
use traj_core::event::RuntimeRow;
use traj_core::id::SessionId;

use super::scan;
use crate::error::{Context as _, FsError, Refusal};
use crate::open::{Access, Identity, identity_of, open_regular};

/// A sidecar held open for appending.
#[derive(Debug)]
pub(super) struct SidecarHandle {
    pub(super) file: File,
    identity: Identity,
    /// How far we know the content.
    pub(super) length: u64,
    /// The highest number of a line up to there.
    pub(super) last_sequence: u64,
    /// The content does not end with a line end.
    pub(super) is_torn: bool,
    /// What we know may no longer hold; open again.
    pub(super) is_stale: bool,
}

impl SidecarHandle {
    pub(super) fn open(folder: &Dir, name: &str) -> Result<Self, FsError> {
        let file = open_regular(folder, name, Access::Append)?;
        let identity = Identity::of_file(&file, name)?;
        Ok(Self { file, identity, length: 0, last_sequence: 0, is_torn: false, is_stale: false })
    }

    /// Whether the name still stands for this file. A file that took its place
    /// must show that it is this session's sidecar, or it is refused.
    pub(super) fn is_current(
        &self,
        folder: &Dir,
        name: &str,
        session: &SessionId,
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
            let newcomer = open_regular(folder, name, Access::Read)?;
            if !is_sidecar_of(&newcomer, session, name)? {
                return Err(FsError::refused("append to", name, Refusal::Swapped));
            }
        }
        Ok(false)
    }

    /// Reads what was added since we last looked.
    pub(super) fn catch_up(&mut self, name: &str) -> Result<(), FsError> {
        let length = self.file.metadata().context("look at", name)?.len();
        if length < self.length {
            // Cut by someone else: nothing we know holds.
            (self.length, self.last_sequence, self.is_torn) = (0, 0, false);
        }
        if length > self.length {
            let seen = scan::numbers(&self.file, self.length, length).context("read", name)?;
            self.last_sequence = self.last_sequence.max(seen.last_sequence);
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

fn is_sidecar_of(file: &File, session: &SessionId, name: &str) -> Result<bool, FsError> {
    let Some(line) = scan::first_line(file).context("read", name)? else { return Ok(true) };
    let text = String::from_utf8_lossy(&line);
    let belongs =
        RuntimeRow::parse(text.trim()).is_ok_and(|row| row.session_id() == session.as_str());
    Ok(belongs)
}
