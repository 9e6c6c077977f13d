//! Opening the thread of a session: resume the stored one, or start another.

use tokio_util::sync::CancellationToken;
use traj_core::binding::{BindingDecision, RefusalKind, decide_binding, needs_plugin_build};
use traj_core::id::ThreadId;
use traj_core::port::{
    AppServerError, LoadedBinding, OpenedThread, ResumeThread, StartThread, ThreadService,
};

use super::record::{keep_chosen, resumed_record, started_record};
use super::{
    HowOpened, LifecycleError, LoadedThreads, LostHistory, PluginBuild, ReadyThread,
    ThreadLifecycle, ThreadPlan,
};

/// One request for a thread: whose records it uses, and on which server.
#[derive(Clone, Copy)]
pub(super) struct ThreadOpening<'a> {
    pub(super) lifecycle: &'a ThreadLifecycle,
    pub(super) server: &'a dyn ThreadService,
    pub(super) loaded: &'a LoadedThreads,
    pub(super) cancel: &'a CancellationToken,
}

impl ThreadOpening<'_> {
    /// Opens the session's thread once. A conflict means that somebody else has just bound it.
    pub(super) async fn attempt(&self, plan: &ThreadPlan) -> Result<ReadyThread, LifecycleError> {
        let stored = self.lifecycle.load(&plan.key).await?;
        let record = stored.as_ref().map(|stored| &stored.record);
        let mut plan = plan.clone();
        let mut built = None;
        if needs_plugin_build(record, &plan.wanted) {
            built = plan.build_plugins().await;
        }
        let decision = decide_binding(record, &plan.wanted);
        match (decision, stored) {
            (BindingDecision::Resume { thread }, Some(stored)) => {
                self.resume(&plan, stored, thread).await
            }
            (BindingDecision::Rotate { reasons }, Some(stored)) => {
                let previous = stored.record.thread.clone();
                let how = HowOpened::Rotated { previous, reasons };
                self.start(&mut plan, Some(stored), how, built).await
            }
            (BindingDecision::Transient { reason }, Some(stored)) => {
                let how = HowOpened::Transient { reason };
                self.start(&mut plan, Some(stored), how, built).await
            }
            (_, stored) => {
                let how = HowOpened::Started;
                self.start(&mut plan, stored, how, built).await
            }
        }
    }

    async fn resume(
        &self,
        plan: &ThreadPlan,
        stored: LoadedBinding,
        thread: ThreadId,
    ) -> Result<ReadyThread, LifecycleError> {
        let mut settings = plan.settings.clone();
        keep_chosen(&mut settings, &stored.record);
        let call = self.server.resume_thread(ResumeThread::new(thread.clone(), settings));
        let opened = match self.unless_cancelled(call).await? {
            Ok(opened) if opened.thread == thread => opened,
            Ok(opened) => {
                let (asked, answered) = (thread, opened.thread);
                return Err(LifecycleError::ThreadMismatch { asked, answered });
            }
            Err(error) => match error.refusal() {
                Some(RefusalKind::ThreadGone) if self.loaded.contains(&thread) => {
                    OpenedThread::new(thread)
                }
                Some(RefusalKind::ThreadGone) => {
                    let how = HowOpened::Replaced { lost: LostHistory::of(&stored.record) };
                    let mut plan = plan.clone();
                    let stored = Some(stored);
                    return self.start(&mut plan, stored, how, None).await;
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
        self.loaded.insert(opened.thread.clone());
        let record = resumed_record(plan, &stored.record, &opened, self.lifecycle.clock.now());
        self.lifecycle.save(&plan.key, &record, stored.revision).await?;
        Ok(ReadyThread::new(record, HowOpened::Resumed))
    }

    async fn start(
        &self,
        plan: &mut ThreadPlan,
        stored: Option<LoadedBinding>,
        how: HowOpened,
        built: Option<PluginBuild>,
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
        let opened = self.unless_cancelled(self.server.start_thread(start)).await?;
        let opened = opened.map_err(LifecycleError::Server)?;
        self.loaded.insert(opened.thread.clone());
        let (old, revision) = match stored {
            Some(stored) => (Some(stored.record), stored.revision),
            None => (None, None),
        };
        let record = started_record(plan, old.as_ref(), &opened, built, self.lifecycle.clock.now());
        if self.cancel.is_cancelled() {
            return Err(LifecycleError::Cancelled);
        }
        if !matches!(how, HowOpened::Transient { .. }) {
            let saved = self.lifecycle.save(&plan.key, &record, revision).await;
            if let Err(error) = saved {
                // Nobody uses the thread now; a failure to release it changes nothing.
                let _courtesy = self.server.release_thread(&opened.thread).await;
                return Err(error);
            }
        }
        Ok(ReadyThread::new(record, how))
    }

    /// Waits for a call until it is cancelled.
    async fn unless_cancelled<T>(
        &self,
        call: impl Future<Output = Result<T, AppServerError>> + Send,
    ) -> Result<Result<T, AppServerError>, LifecycleError> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(LifecycleError::Cancelled),
            result = call => Ok(result),
        }
    }
}
