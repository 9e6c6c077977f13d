//! The threads that a connection has loaded.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use traj_core::id::ThreadId;

/// The threads that one server connection has loaded.
///
/// A thread without a turn is not on disk yet: the server that started it still has it, although
/// resuming it fails.
#[derive(Clone, Debug, Default)]
pub struct LoadedThreads {
    threads: Arc<Mutex<BTreeSet<ThreadId>>>,
}

impl LoadedThreads {
    /// No threads.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn insert(&self, thread: ThreadId) {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).insert(thread);
    }

    /// Removes a thread that the server no longer has.
    pub(crate) fn forget(&self, thread: &ThreadId) {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).remove(thread);
    }

    pub(super) fn contains(&self, thread: &ThreadId) -> bool {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).contains(thread)
    }
}
