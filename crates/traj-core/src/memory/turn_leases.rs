//! Leases in memory.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::port::{BindingKey, TurnLease, TurnLeaseError, TurnLeases};

/// The leases of one process. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryTurnLeases {
    held: Arc<Mutex<BTreeSet<BindingKey>>>,
}

impl MemoryTurnLeases {
    /// Leases that nobody holds.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl TurnLeases for MemoryTurnLeases {
    fn try_take(&self, key: &BindingKey) -> Result<Option<Box<dyn TurnLease>>, TurnLeaseError> {
        let is_free = self.held.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        let lease = || MemoryTurnLease { held: Arc::clone(&self.held), key: key.clone() };
        Ok(is_free.then(|| Box::new(lease()) as Box<dyn TurnLease>))
    }
}

#[derive(Debug)]
struct MemoryTurnLease {
    held: Arc<Mutex<BTreeSet<BindingKey>>>,
    key: BindingKey,
}

impl TurnLease for MemoryTurnLease {}

impl Drop for MemoryTurnLease {
    fn drop(&mut self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}
