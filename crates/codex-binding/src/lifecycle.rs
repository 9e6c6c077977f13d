//! The thread of a session: found, loaded or started, and stored.
//!
//! The order of steps preserves history: a stored thread is always resumed before it is replaced,
//! and its record is replaced only after a new thread exists. Only one failure may replace a
//! binding: the server's statement that the thread is gone, or that its file is damaged before a
//! first turn ended. Every other failure (a dead server, a timeout, a cancelled call, an answer for
//! another thread) leaves the record unchanged.

mod error;
mod loaded;
mod opening;
mod plan;
mod plugins;
mod ready;
mod record;
mod terms;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use traj_core::binding::BindingRecord;
use traj_core::id::ThreadId;
use traj_core::port::{
    BindingKey, BindingStore, BindingStoreError, Clock, LoadedBinding, ResumeThread, Revision,
    ThreadService,
};

pub use error::LifecycleError;
pub use loaded::LoadedThreads;
pub use plan::ThreadPlan;
pub use plugins::{PluginApps, PluginBuild};
pub use ready::{HowOpened, LostHistory, ReadyThread};

use opening::{ThreadOpening, refused, resume_when_free, with_config};
use record::{OpenedFacts, attached_record};
use terms::ThreadTerms;

/// How many times opening is attempted if others change the record at the same time.
const ATTEMPTS: u32 = 4;

/// Opens the threads of sessions and keeps their bindings.
#[derive(Clone, Debug)]
pub struct ThreadLifecycle {
    store: Arc<dyn BindingStore>,
    clock: Arc<dyn Clock>,
}

impl ThreadLifecycle {
    /// The lifecycle of the threads whose records are in `store`.
    #[must_use]
    pub fn new(store: Arc<dyn BindingStore>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

    /// Opens the session's thread for a turn on `server`.
    ///
    /// # Errors
    /// The thread cannot be opened now. The stored record is unchanged.
    pub async fn ready(
        &self,
        server: &dyn ThreadService,
        loaded: &LoadedThreads,
        plan: &ThreadPlan,
        cancel: &CancellationToken,
    ) -> Result<ReadyThread, LifecycleError> {
        let opening = ThreadOpening { lifecycle: self, server, loaded, cancel };
        for _ in 0..ATTEMPTS {
            // On the heap: an opening holds a copy of the plan, and callers nest its future deeply.
            match Box::pin(opening.attempt(plan)).await {
                // Another process bound the session in the meantime; its thread counts.
                Err(LifecycleError::Store(BindingStoreError::Conflict { .. })) => {}
                settled => return settled,
            }
        }
        Err(LifecycleError::Contended { key: plan.key.clone() })
    }

    /// Binds a session to an existing thread, after the server has loaded it. The settings with
    /// which the thread was started are unknown: the next turn accepts and records those in effect.
    ///
    /// # Errors
    /// The thread cannot be loaded, the request is cancelled, or the record cannot be written. The
    /// record is unchanged.
    pub async fn attach(
        &self,
        server: &dyn ThreadService,
        plan: &ThreadPlan,
        thread: &ThreadId,
        cancel: &CancellationToken,
    ) -> Result<BindingRecord, LifecycleError> {
        let stored = self.load(&plan.key).await?;
        let old = stored.as_ref().map(|stored| &stored.record);
        let terms = ThreadTerms::of(plan, old);
        let mut settings = with_config(plan, &terms.settings, None);
        // The thread has instructions of its own; only explicit ones may replace them.
        settings.developer_instructions.clone_from(&plan.settings.developer_instructions);
        let resume = ResumeThread::new(thread.clone(), settings);
        let opened = resume_when_free(server, resume, cancel).await?;
        let opened = opened.map_err(|error| refused(error, thread.clone()))?;
        if opened.thread != *thread {
            let (asked, answered) = (thread.clone(), opened.thread);
            return Err(LifecycleError::ThreadMismatch { asked, answered });
        }
        let home = server.home();
        let facts = OpenedFacts { thread: &opened, home: home.as_deref(), now: self.clock.now() };
        let record = attached_record(plan, &terms, old, facts);
        self.save(&plan.key, &record, stored.and_then(|stored| stored.revision)).await?;
        Ok(record)
    }

    /// Starts a thread and binds a session to it, even if a stored thread would fit. `replaces` is
    /// the thread to which the session is bound, as far as the caller knows. Permissions and tier
    /// of the plan are stored: they were chosen for the binding.
    ///
    /// # Errors
    /// The thread cannot be started, the record cannot be written, or the session is bound to a
    /// thread other than `replaces`. The record is unchanged.
    pub async fn bind_new(
        &self,
        server: &dyn ThreadService,
        loaded: &LoadedThreads,
        plan: &ThreadPlan,
        replaces: Option<&ThreadId>,
        cancel: &CancellationToken,
    ) -> Result<BindingRecord, LifecycleError> {
        let stored = self.load(&plan.key).await?;
        if stored.as_ref().map(|stored| &stored.record.thread) != replaces {
            let key = plan.key.clone();
            return Err(LifecycleError::Store(BindingStoreError::Conflict { key }));
        }
        let opening = ThreadOpening { lifecycle: self, server, loaded, cancel };
        Box::pin(opening.bind_new(plan, stored)).await
    }

    /// Records a turn that ended, so that a later loss can be reported in full. Does nothing if the
    /// record is now bound to another thread.
    ///
    /// # Errors
    /// The record cannot be read or written.
    pub async fn turn_ended(
        &self,
        key: &BindingKey,
        thread: &ThreadId,
    ) -> Result<(), LifecycleError> {
        for _ in 0..ATTEMPTS {
            let Some(stored) = self.load(key).await? else { return Ok(()) };
            if stored.record.thread != *thread {
                return Ok(());
            }
            let now = self.clock.now();
            let mut record = stored.record;
            record.turns += 1;
            record.history_covered_through = Some(now);
            record.updated_at = now;
            match self.save(key, &record, stored.revision).await {
                Err(LifecycleError::Store(BindingStoreError::Conflict { .. })) => {}
                settled => return settled.map(drop),
            }
        }
        Err(LifecycleError::Contended { key: key.clone() })
    }

    /// Changes the record of a session, if it is bound.
    ///
    /// # Errors
    /// The session is not bound, or its record cannot be read or written.
    pub async fn change(
        &self,
        key: &BindingKey,
        change: impl Fn(&mut BindingRecord) + Send,
    ) -> Result<BindingRecord, LifecycleError> {
        for _ in 0..ATTEMPTS {
            let stored = self.load(key).await?;
            let Some(stored) = stored else {
                return Err(LifecycleError::NotBound { key: key.clone() });
            };
            let mut record = stored.record;
            change(&mut record);
            record.updated_at = self.clock.now();
            match self.save(key, &record, stored.revision).await {
                Err(LifecycleError::Store(BindingStoreError::Conflict { .. })) => {}
                Err(error) => return Err(error),
                Ok(_) => return Ok(record),
            }
        }
        Err(LifecycleError::Contended { key: key.clone() })
    }

    /// The stored record of a session.
    ///
    /// # Errors
    /// The record cannot be read.
    pub async fn load(&self, key: &BindingKey) -> Result<Option<LoadedBinding>, LifecycleError> {
        let key = key.clone();
        self.on_disk(move |store| store.load(&key)).await
    }

    /// Removes a binding if it still points to `thread`.
    ///
    /// # Errors
    /// The record cannot be read or removed.
    pub async fn clear(&self, key: &BindingKey, thread: &ThreadId) -> Result<bool, LifecycleError> {
        let (key, thread) = (key.clone(), thread.clone());
        self.on_disk(move |store| store.clear(&key, &thread)).await
    }

    async fn save(
        &self,
        key: &BindingKey,
        record: &BindingRecord,
        expected: Option<Revision>,
    ) -> Result<Revision, LifecycleError> {
        let (key, record) = (key.clone(), record.clone());
        self.on_disk(move |store| store.save(&key, &record, expected.as_ref())).await
    }

    /// Calls the store on a blocking thread, since it waits for disks and locks.
    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn BindingStore) -> Result<T, BindingStoreError> + Send + 'static,
    ) -> Result<T, LifecycleError> {
        let store = Arc::clone(&self.store);
        match tokio::task::spawn_blocking(move || work(store.as_ref())).await {
            Ok(result) => result.map_err(LifecycleError::Store),
            Err(_) => Err(LifecycleError::Cancelled),
        }
    }
}

#[cfg(test)]
mod tests;
