//! Listeners by thread.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use traj_core::id::ThreadId;
use traj_core::port::{CloseCause, ListenGuard, ThreadEvent, ThreadListener};

/// Listeners by thread. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Routes {
    shared: Arc<Mutex<Listeners>>,
}

/// A listener with the number by which its guard finds it.
type NumberedListener = (u64, Arc<dyn ThreadListener>);

#[derive(Debug, Default)]
struct Listeners {
    by_thread: BTreeMap<ThreadId, Vec<NumberedListener>>,
    added: u64,
    lost: Option<CloseCause>,
}

impl Routes {
    fn lock(&self) -> MutexGuard<'_, Listeners> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn listen(
        &self,
        thread: &ThreadId,
        listener: Arc<dyn ThreadListener>,
    ) -> ListenGuard {
        let mut listeners = self.lock();
        if let Some(cause) = listeners.lost.clone() {
            drop(listeners);
            listener.lost(cause);
            return ListenGuard::new(|| {});
        }
        listeners.added += 1;
        let number = listeners.added;
        listeners.by_thread.entry(thread.clone()).or_default().push((number, listener));
        let (shared, thread) = (self.clone(), thread.clone());
        ListenGuard::new(move || shared.forget(&thread, number))
    }

    fn forget(&self, thread: &ThreadId, number: u64) {
        let mut listeners = self.lock();
        if let Some(of_thread) = listeners.by_thread.get_mut(thread) {
            of_thread.retain(|(known, _)| *known != number);
            if of_thread.is_empty() {
                listeners.by_thread.remove(thread);
            }
        }
    }

    /// The listeners of a thread. They are called without the lock, since a listener may register
    /// another.
    pub(super) fn of(&self, thread: &ThreadId) -> Vec<Arc<dyn ThreadListener>> {
        let listeners = self.lock();
        let of_thread = listeners.by_thread.get(thread).into_iter().flatten();
        of_thread.map(|(_, listener)| Arc::clone(listener)).collect()
    }

    pub(super) fn tell(&self, thread: &ThreadId, event: &ThreadEvent) {
        for listener in self.of(thread) {
            listener.event(event);
        }
    }

    /// Reports the end of the connection to all listeners, once.
    pub(super) fn lose(&self, cause: &CloseCause) {
        let by_thread = {
            let mut listeners = self.lock();
            if listeners.lost.is_some() {
                return;
            }
            listeners.lost = Some(cause.clone());
            std::mem::take(&mut listeners.by_thread)
        };
        for (_, listener) in by_thread.into_values().flatten() {
            listener.lost(cause.clone());
        }
    }
}
