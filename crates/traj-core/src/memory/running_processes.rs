//! Processes that are only numbers.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::port::RunningProcesses;

type Running = Arc<Mutex<(u64, BTreeSet<u64>)>>;

/// A process that runs until it is dropped. Further ones begin with
/// [`Self::another`].
#[derive(Debug)]
pub struct MemoryProcess {
    own: u64,
    running: Running,
}

impl MemoryProcess {
    /// The first of some processes.
    #[must_use]
    pub fn first() -> Self {
        Self::begin(Arc::default())
    }

    /// A further process, which knows of the others.
    #[must_use]
    pub fn another(&self) -> Self {
        Self::begin(Arc::clone(&self.running))
    }

    fn begin(running: Running) -> Self {
        let mut known = lock(&running);
        known.0 += 1;
        let own = known.0;
        known.1.insert(own);
        drop(known);
        Self { own, running }
    }
}

impl Drop for MemoryProcess {
    fn drop(&mut self) {
        lock(&self.running).1.remove(&self.own);
    }
}

impl RunningProcesses for MemoryProcess {
    fn own(&self) -> u64 {
        self.own
    }

    fn is_running(&self, process: u64) -> bool {
        lock(&self.running).1.contains(&process)
    }
}

fn lock(running: &Running) -> MutexGuard<'_, (u64, BTreeSet<u64>)> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}
