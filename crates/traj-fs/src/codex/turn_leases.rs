//! Leases as locked files beside the sessions.
//!
//! The file exists only while a turn runs, or after its process was killed. The
//! lock counts, not the file: the system releases it when the process ends.

use cap_std::fs::{Dir, File};
use traj_core::port::{BindingKey, TurnLease, TurnLeaseError, TurnLeases};

use crate::error::{Context as _, FsError};
use crate::safe::lock::try_lock;
use crate::safe::open::{Access, FileIdentity, identity_of, open_replaceable};

/// The suffix of the lock file of a session.
pub const TURN_LOCK_SUFFIX: &str = ".codex-turn.lock";

/// How many times in a row a holder may remove the file while we lock it.
const SWAPS: u32 = 100;

/// The leases of the sessions in one directory.
#[derive(Debug)]
pub struct FsTurnLeases {
    folder: Dir,
}

impl FsTurnLeases {
    /// The leases of the sessions in `folder`.
    #[must_use]
    pub const fn new(folder: Dir) -> Self {
        Self { folder }
    }

    fn lock(&self, name: &str) -> Result<Option<FsTurnLease>, FsError> {
        for _ in 0..SWAPS {
            let file = match open_replaceable(&self.folder, name, Access::Update) {
                // The holder removed it while it was opened.
                Err(error) if error.is_not_found() => continue,
                opened => opened?,
            };
            if !try_lock(&file, name)? {
                return Ok(None);
            }
            // The holder may have removed the file before it released the lock.
            if identity_of(&self.folder, name)? == Some(FileIdentity::of_file(&file, name)?) {
                let folder = self.folder.try_clone().context("open", name)?;
                return Ok(Some(FsTurnLease { folder, name: name.to_owned(), _file: file }));
            }
        }
        Ok(None)
    }
}

impl TurnLeases for FsTurnLeases {
    fn try_take(&self, key: &BindingKey) -> Result<Option<Box<dyn TurnLease>>, TurnLeaseError> {
        let name = format!("{key}{TURN_LOCK_SUFFIX}");
        let lease = self.lock(&name).map_err(|error| TurnLeaseError::new(key, error))?;
        Ok(lease.map(|lease| Box::new(lease) as Box<dyn TurnLease>))
    }
}

#[derive(Debug)]
struct FsTurnLease {
    folder: Dir,
    name: String,
    /// Closing it releases the lock, after the file was removed.
    _file: File,
}

impl TurnLease for FsTurnLease {}

impl Drop for FsTurnLease {
    fn drop(&mut self) {
        // A file that stays is used by the next turn.
        self.folder.remove_file(&self.name).ok();
    }
}
