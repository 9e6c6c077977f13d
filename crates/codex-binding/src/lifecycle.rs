//! The thread of a session: found, loaded or started, and stored.
//!
//! The order of steps keeps history: a stored thread is always resumed before it is replaced,
//! and its record is replaced only after a new thread exists. Of all failures only one may replace a
//! binding: the server's statement that the thread is gone. Everything else (a dead server, a
//! timeout, a cancelled call, an answer for another thread) leaves the record as it is.

mod error;
mod loaded;
mod opening;
mod plan;
mod record;

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
pub use plan::{HowOpened, LostHistory, PluginApps, PluginBuild, ReadyThread, ThreadPlan};

use opening::ThreadOpening;
use record::attached_record;

/// How often a lost race for the record is run again.
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

    /// Makes the session's thread ready for a turn on `server`.
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
            match opening.attempt(plan).await {
                // Somebody else bound the session in between: their thread counts.
                Err(LifecycleError::Store(BindingStoreError::Conflict { .. })) => {}
                settled => return settled,
            }
        }
        Err(LifecycleError::Contended { key: plan.key.clone() })
    }

    /// Binds a session to a thread that exists, after the server has loaded it. Nothing is known of
    /// what the thread was started with: the next turn takes it as it is and records that.
    ///
    /// # Errors
    /// The thread cannot be loaded, or the record cannot be written. The record is unchanged.
    pub async fn attach(
        &self,
        server: &dyn ThreadService,
        plan: &ThreadPlan,
        thread: &ThreadId,
    ) -> Result<BindingRecord, LifecycleError> {
        let stored = self.load(&plan.key).await?;
        let resume = ResumeThread::new(thread.clone(), plan.settings.clone());
        let opened = server.resume_thread(resume).await.map_err(LifecycleError::Server)?;
        if opened.thread != *thread {
            let (asked, answered) = (thread.clone(), opened.thread);
            return Err(LifecycleError::ThreadMismatch { asked, answered });
        }
        let record = attached_record(plan, &opened, self.clock.now());
        self.save(&plan.key, &record, stored.and_then(|stored| stored.revision)).await?;
        Ok(record)
    }

    /// Notes a turn that ended, so that a later loss can say what was lost. A record that is bound
    /// to another thread by now is left alone.
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

    /// Removes a binding if it is still to `thread`.
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

    /// The store waits for disks and locks, so it is called outside the runtime.
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
