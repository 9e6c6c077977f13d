//! The thread of a session: found, loaded or started, and remembered.
//!
//! The order of steps keeps history: a stored thread is always resumed before anything is given up,
//! and its record is replaced only after a new thread exists. Of all failures only one may replace a
//! binding: the server's word that nothing of the thread is left. Everything else (a dead server, a
//! timeout, a cancelled call, an answer for another thread) leaves the record as it is.

mod error;
mod loaded;
mod plan;
mod record;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use traj_core::binding::{
    BindingDecision, BindingRecord, RefusalKind, decide_binding, needs_plugin_build,
};
use traj_core::id::ThreadId;
use traj_core::port::{
    AppServerError, BindingKey, BindingStore, BindingStoreError, Clock, LoadedBinding,
    OpenedThread, ResumeThread, Revision, StartThread, ThreadService,
};

pub use error::LifecycleError;
pub use loaded::LoadedThreads;
pub use plan::{HowOpened, LostHistory, PluginApps, PluginBuild, ReadyThread, ThreadPlan};

use record::{attached_record, keep_chosen, resumed_record, started_record};

/// How often a lost race for the record is run again.
const ATTEMPTS: u32 = 4;

/// Keeps sessions on their threads.
#[derive(Clone, Debug)]
pub struct ThreadLifecycle {
    store: Arc<dyn BindingStore>,
    clock: Arc<dyn Clock>,
}

impl ThreadLifecycle {
    /// A lifecycle of the records in `store`.
    #[must_use]
    pub fn new(store: Arc<dyn BindingStore>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

    /// Makes the session's thread ready for a turn on `server`.
    ///
    /// # Errors
    /// The thread cannot be had right now; the stored record is as it was.
    pub async fn ready(
        &self,
        server: &dyn ThreadService,
        loaded: &LoadedThreads,
        plan: &ThreadPlan,
        cancel: &CancellationToken,
    ) -> Result<ReadyThread, LifecycleError> {
        for _ in 0..ATTEMPTS {
            match self.attempt(server, loaded, plan, cancel).await {
                // Somebody else bound the session in between: their thread counts.
                Err(LifecycleError::Store(BindingStoreError::Conflict { .. })) => {}
                settled => return settled,
            }
        }
        Err(LifecycleError::Contended { key: plan.key.clone() })
    }

    async fn attempt(
        &self,
        server: &dyn ThreadService,
        loaded: &LoadedThreads,
        plan: &ThreadPlan,
        cancel: &CancellationToken,
    ) -> Result<ReadyThread, LifecycleError> {
        let stored = self.load(&plan.key).await?;
        let record = stored.as_ref().map(|stored| &stored.record);
        let mut plan = plan.clone();
        let mut built = None;
        if needs_plugin_build(record, &plan.wanted) {
            built = plan.build_plugins().await;
        }
        let decision = decide_binding(record, &plan.wanted);
        match (decision, stored) {
            (BindingDecision::Resume { thread }, Some(stored)) => {
                self.resume(server, loaded, &plan, stored, thread, cancel).await
            }
            (BindingDecision::Rotate { reasons }, Some(stored)) => {
                let previous = stored.record.thread.clone();
                let how = HowOpened::Rotated { previous, reasons };
                self.start(server, loaded, &mut plan, Some(stored), how, built, cancel).await
            }
            (BindingDecision::Transient { reason }, Some(stored)) => {
                let how = HowOpened::Transient { reason };
                self.start(server, loaded, &mut plan, Some(stored), how, built, cancel).await
            }
            (_, stored) => {
                let how = HowOpened::Started;
                self.start(server, loaded, &mut plan, stored, how, built, cancel).await
            }
        }
    }

    async fn resume(
        &self,
        server: &dyn ThreadService,
        loaded: &LoadedThreads,
        plan: &ThreadPlan,
        stored: LoadedBinding,
        thread: ThreadId,
        cancel: &CancellationToken,
    ) -> Result<ReadyThread, LifecycleError> {
        let mut settings = plan.settings.clone();
        keep_chosen(&mut settings, &stored.record);
        let call = server.resume_thread(ResumeThread::new(thread.clone(), settings));
        let opened = match cancelled_or(cancel, call).await? {
            Ok(opened) if opened.thread == thread => opened,
            Ok(opened) => {
                let (asked, answered) = (thread, opened.thread);
                return Err(LifecycleError::ThreadMismatch { asked, answered });
            }
            Err(error) => match error.refusal() {
                Some(RefusalKind::ThreadGone) if loaded.contains(&thread) => {
                    OpenedThread::new(thread)
                }
                Some(RefusalKind::ThreadGone) => {
                    let how = HowOpened::Replaced { lost: LostHistory::of(&stored.record) };
                    let mut plan = plan.clone();
                    let stored = Some(stored);
                    return self.start(server, loaded, &mut plan, stored, how, None, cancel).await;
                }
                Some(RefusalKind::ThreadArchived) => {
                    return Err(LifecycleError::Archived { thread });
                }
                Some(RefusalKind::ThreadOpenElsewhere) => {
                    return Err(LifecycleError::OpenElsewhere { thread });
                }
                Some(RefusalKind::ThreadDamaged) => {
                    return Err(LifecycleError::DamagedThread { thread });
                }
                Some(RefusalKind::InvalidThreadId) => {
                    return Err(LifecycleError::InvalidThread { thread });
                }
                _ => return Err(LifecycleError::Server(error)),
            },
        };
        loaded.insert(opened.thread.clone());
        let record = resumed_record(plan, &stored.record, &opened, self.clock.now());
        self.save(&plan.key, &record, stored.revision).await?;
        Ok(ReadyThread::new(record, HowOpened::Resumed))
    }

    async fn start(
        &self,
        server: &dyn ThreadService,
        loaded: &LoadedThreads,
        plan: &mut ThreadPlan,
        stored: Option<LoadedBinding>,
        how: HowOpened,
        built: Option<PluginBuild>,
        cancel: &CancellationToken,
    ) -> Result<ReadyThread, LifecycleError> {
        let built = match built {
            Some(built) => Some(built),
            None => plan.build_plugins().await,
        };
        let mut settings = plan.settings.clone();
        if let Some(stored) = &stored {
            keep_chosen(&mut settings, &stored.record);
        }
        if let Some(built) = &built {
            for (name, value) in built.config.iter() {
                settings.config.insert(name.to_owned(), value.clone());
            }
        }
        let mut start = StartThread::new(plan.cwd.clone(), settings);
        start.service_name = Some(plan.service_name.clone());
        start.dynamic_tools.clone_from(&plan.tools);
        start.environments.clone_from(&plan.environments);
        let opened = cancelled_or(cancel, server.start_thread(start)).await?;
        let opened = opened.map_err(LifecycleError::Server)?;
        loaded.insert(opened.thread.clone());
        let (old, revision) = match stored {
            Some(stored) => (Some(stored.record), stored.revision),
            None => (None, None),
        };
        let record = started_record(plan, old.as_ref(), &opened, built, self.clock.now());
        if cancel.is_cancelled() {
            return Err(LifecycleError::Cancelled);
        }
        if !matches!(how, HowOpened::Transient { .. }) {
            let saved = self.save(&plan.key, &record, revision).await;
            if let Err(error) = saved {
                // The thread is nobody's now; a failure to let go of it changes nothing.
                let _courtesy = server.release_thread(&opened.thread).await;
                return Err(error);
            }
        }
        Ok(ReadyThread::new(record, how))
    }

    /// Binds a session to a thread that exists, after the server has loaded it. Nothing is known of
    /// what the thread was started with: the next turn takes it as it is and records that.
    ///
    /// # Errors
    /// The thread cannot be loaded, or the record cannot be written; the record is as it was.
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

    /// Changes what is remembered of a session, if it is bound.
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

    /// What is remembered of a session.
    ///
    /// # Errors
    /// The record cannot be read.
    pub async fn load(&self, key: &BindingKey) -> Result<Option<LoadedBinding>, LifecycleError> {
        let key = key.clone();
        self.on_disk(move |store| store.load(&key)).await
    }

    /// Gives a binding up, if it still is to `thread`.
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

    /// The store waits for disks and locks: it is called beside the runtime.
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

/// Waits for a call unless somebody calls it off.
async fn cancelled_or<T>(
    cancel: &CancellationToken,
    call: impl Future<Output = Result<T, AppServerError>> + Send,
) -> Result<Result<T, AppServerError>, LifecycleError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(LifecycleError::Cancelled),
        result = call => Ok(result),
    }
}

#[cfg(test)]
mod tests;
