//! Leases as locked files beside the sessions.
//!
//! The file exists only while a turn runs, or after its process was killed. The
//! lock counts, not the file: the system releases it when the process ends.

use cap_std::fs::Dir;
use traj_core::port::{BindingKey, TurnLease, TurnLeaseError, TurnLeases};

use crate::safe::lease::Lease;

/// The suffix of the lock file of a session.
pub const TURN_LOCK_SUFFIX: &str = ".codex-turn.lock";

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
}

impl TurnLeases for FsTurnLeases {
    fn try_take(&self, key: &BindingKey) -> Result<Option<Box<dyn TurnLease>>, TurnLeaseError> {
        let name = format!("{key}{TURN_LOCK_SUFFIX}");
        let lease = Lease::try_take(&self.folder, &name)
            .map_err(|error| TurnLeaseError::new(key, error))?;
        Ok(lease.map(|lease| Box::new(lease) as Box<dyn TurnLease>))
    }
}

impl TurnLease for Lease {}
