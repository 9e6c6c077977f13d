//! Opens the thread of a session: resumes the stored one, or starts another.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use traj_core::binding::{
    BindingDecision, BindingOrigin, BindingRecord, CarryOver, ChangePolicy, FormerReason,
    HomeComparison, PastMessage, RefusalKind, RotateReason, carried_messages, decide_binding,
    needs_plugin_build,
};
use traj_core::id::ThreadId;
use traj_core::port::{
    AppServerError, LoadedBinding, OpenedThread, ResumeThread, Revision, StartThread,
    ThreadService, ThreadSettings,
};

use super::record::{OpenedFacts, remember_choices, resumed_record, started_record};
use super::terms::ThreadTerms;
use super::{
    HowOpened, LifecycleError, LoadedThreads, LostHistory, PluginBuild, ReadyThread,
    ThreadLifecycle, ThreadPlan,
};

/// The pauses before a thread that another process has open is tried again.
const WRITER_PAUSES: [Duration; 4] = [
    Duration::from_millis(50),
    Duration::from_millis(150),
    Duration::from_millis(400),
    Duration::from_millis(900),
];

/// One request to open a thread, with the records and the server that it uses.
#[derive(Clone, Copy)]
pub(super) struct ThreadOpening<'a> {
    pub(super) lifecycle: &'a ThreadLifecycle,
    pub(super) server: &'a dyn ThreadService,
    pub(super) loaded: &'a LoadedThreads,
    pub(super) cancel: &'a CancellationToken,
}

impl ThreadOpening<'_> {
    /// Tries once to open the session's thread. A conflict means that another process has just bound
    /// the session.
    pub(super) async fn attempt(&self, plan: &ThreadPlan) -> Result<ReadyThread, LifecycleError> {
        let stored = self.lifecycle.load(&plan.key).await?;
        let record = stored.as_ref().map(|stored| &stored.record);
        let mut plan = plan.clone();
        let mut built = None;
        if needs_plugin_build(record, &plan.wanted) {
            // The thread has the apps that it was started with. If it is not known whether they
            // changed, it keeps them.
            built = plan.build_plugins().await.unwrap_or_default();
        }
        let decision = decide_binding(record, &plan.wanted);
        match (decision, stored) {
            (BindingDecision::Resume { thread, tolerated }, Some(stored)) => {
                self.resume(plan, stored, thread, tolerated).await
            }
            (BindingDecision::Rotate { reasons }, Some(stored)) => {
                self.require_home(&stored.record)?;
                let lost = LostHistory::of(&stored.record);
                let how = HowOpened::Rotated { lost, reasons };
                self.start(plan, Some(stored), how, built).await
            }
            (BindingDecision::Transient { reason }, Some(stored)) => {
                let how = HowOpened::Transient { reason };
                self.start(plan, Some(stored), how, built).await
            }
            (_, stored) => self.start(plan, stored, HowOpened::Started, built).await,
        }
    }

    async fn resume(
        &self,
        plan: ThreadPlan,
        stored: LoadedBinding,
        thread: ThreadId,
        tolerated: Vec<RotateReason>,
    ) -> Result<ReadyThread, LifecycleError> {
        let terms = ThreadTerms::of(&plan, Some(&stored.record));
        let settings = with_config(&plan, &terms.settings, None);
        let call = ResumeThread::new(thread.clone(), settings.clone());
        let opened = match resume_when_free(self.server, call, self.cancel).await? {
            Ok(opened) if opened.thread == thread => opened,
            Ok(opened) => {
                let (asked, answered) = (thread, opened.thread);
                return Err(LifecycleError::ThreadMismatch { asked, answered });
            }
            Err(error) => match error.refusal() {
                Some(RefusalKind::ThreadGone) if self.loaded.contains(&thread) => {
                    OpenedThread::new(thread)
                }
                Some(kind) if is_given_up(kind, &stored.record) => {
                    self.require_home(&stored.record)?;
                    let how = HowOpened::Replaced { lost: LostHistory::of(&stored.record) };
                    return self.start(plan, Some(stored), how, None).await;
                }
                _ => return Err(refused(error, thread)),
            },
        };
        self.loaded.insert(opened.thread.clone());
        let home = self.server.home();
        let facts = self.facts(&opened, home.as_deref());
        let record = resumed_record(&plan, &terms, &stored.record, &tolerated, facts);
        self.lifecycle.save(&plan.key, &record, stored.revision).await?;
        let is_reported =
            |component: &RotateReason| plan.wanted.rotation.of(*component) == ChangePolicy::Warn;
        let warnings = tolerated.into_iter().filter(is_reported).collect();
        Ok(ReadyThread {
            record,
            how: HowOpened::Resumed,
            settings,
            effort: opened.effort,
            warnings,
        })
    }

    async fn start(
        &self,
        mut plan: ThreadPlan,
        stored: Option<LoadedBinding>,
        mut how: HowOpened,
        built: Option<PluginBuild>,
    ) -> Result<ReadyThread, LifecycleError> {
        let built = match built {
            Some(built) => Some(built),
            None => plan.build_plugins().await?,
        };
        let old = stored.as_ref().map(|stored| &stored.record);
        let past = self.past(&plan, old, &how).await?;
        let terms = ThreadTerms::of(&plan, old);
        let settings = with_config(&plan, &terms.settings, built.as_ref());
        let opened = self.start_thread(&plan, &terms, settings.clone()).await?;
        if self.carry(&opened.thread, past).await? {
            how.carried(plan.carry_over);
        }
        let replaced = old.map(|old| (old, how.former_reason()));
        let home = self.server.home();
        let facts = self.facts(&opened, home.as_deref());
        let record = started_record(&plan, &terms, replaced, facts, built);
        if !matches!(how, HowOpened::Transient { .. }) {
            let revision = stored.and_then(|stored| stored.revision);
            self.store_started(&plan, &record, revision).await?;
        }
        Ok(ReadyThread { record, how, settings, effort: opened.effort, warnings: Vec::new() })
    }

    /// Starts a thread and binds the session to it, whatever it was bound to.
    pub(super) async fn bind_new(
        &self,
        plan: &ThreadPlan,
        stored: Option<LoadedBinding>,
    ) -> Result<BindingRecord, LifecycleError> {
        let mut plan = plan.clone();
        let built = plan.build_plugins().await?;
        let old = stored.as_ref().map(|stored| &stored.record);
        let terms = ThreadTerms::of(&plan, old);
        let settings = with_config(&plan, &terms.settings, built.as_ref());
        let opened = self.start_thread(&plan, &terms, settings).await?;
        let replaced = old.map(|old| (old, FormerReason::Rebound));
        let home = self.server.home();
        let facts = self.facts(&opened, home.as_deref());
        let mut record = started_record(&plan, &terms, replaced, facts, built);
        remember_choices(&mut record, &plan);
        let revision = stored.and_then(|stored| stored.revision);
        self.store_started(&plan, &record, revision).await?;
        Ok(record)
    }

    async fn start_thread(
        &self,
        plan: &ThreadPlan,
        terms: &ThreadTerms,
        settings: ThreadSettings,
    ) -> Result<OpenedThread, LifecycleError> {
        let mut start = StartThread::new(terms.cwd.clone(), settings);
        start.service_name = Some(plan.service_name.clone());
        start.dynamic_tools.clone_from(&plan.tools);
        start.environments = plan.environments();
        let opened = unless_cancelled(self.cancel, self.server.start_thread(start)).await?;
        let opened = opened.map_err(LifecycleError::Server)?;
        self.loaded.insert(opened.thread.clone());
        Ok(opened)
    }

    /// Stores the record of a thread that was just started, unless it is no longer wanted.
    async fn store_started(
        &self,
        plan: &ThreadPlan,
        record: &BindingRecord,
        revision: Option<Revision>,
    ) -> Result<(), LifecycleError> {
        if self.cancel.is_cancelled() {
            return Err(LifecycleError::Cancelled);
        }
        let saved = self.lifecycle.save(&plan.key, record, revision).await;
        if let Err(error) = saved {
            // Nothing uses the new thread. Releasing it is optional.
            let _released = self.server.release_thread(&record.thread).await;
            return Err(error);
        }
        Ok(())
    }

    /// The messages that the new thread inherits. A thread that the server refuses to read adds
    /// none. Any other failure ends the attempt, so that no history is lost.
    async fn past(
        &self,
        plan: &ThreadPlan,
        old: Option<&BindingRecord>,
        how: &HowOpened,
    ) -> Result<Vec<PastMessage>, LifecycleError> {
        if plan.carry_over == CarryOver::Nothing {
            return Ok(Vec::new());
        }
        let mut messages = Vec::new();
        for source in old.map(|old| history_sources(old, how)).unwrap_or_default() {
            match unless_cancelled(self.cancel, self.server.read_history(source)).await? {
                Ok(read) => messages.extend(read),
                Err(error) if is_final(&error) => {}
                Err(error) => return Err(LifecycleError::Server(error)),
            }
        }
        Ok(carried_messages(plan.carry_over, &messages))
    }

    /// Gives the new thread the messages of the old one. Returns whether it got any.
    async fn carry(
        &self,
        thread: &ThreadId,
        past: Vec<PastMessage>,
    ) -> Result<bool, LifecycleError> {
        if past.is_empty() {
            return Ok(false);
        }
        match unless_cancelled(self.cancel, self.server.add_history(thread, past)).await? {
            Ok(()) => Ok(true),
            Err(error) if is_final(&error) => Ok(false),
            Err(error) => Err(LifecycleError::Server(error)),
        }
    }

    /// Refuses to give up a thread if the server uses another Codex home.
    fn require_home(&self, record: &BindingRecord) -> Result<(), LifecycleError> {
        let home = self.server.home();
        match record.compare_home(home.as_deref()) {
            HomeComparison::Other { stored } => Err(LifecycleError::OtherHome {
                thread: record.thread.clone(),
                stored,
                current: home.unwrap_or_default(),
            }),
            _ => Ok(()),
        }
    }

    fn facts<'b>(&self, thread: &'b OpenedThread, home: Option<&'b str>) -> OpenedFacts<'b> {
        OpenedFacts { thread, home, now: self.lifecycle.clock.now() }
    }
}

/// Resumes a thread. If another process has it open, retries for a short time: right after a server
/// was killed, its successor may still consider the thread open for writing.
pub(super) async fn resume_when_free(
    server: &dyn ThreadService,
    resume: ResumeThread,
    cancel: &CancellationToken,
) -> Result<Result<OpenedThread, AppServerError>, LifecycleError> {
    for pause in WRITER_PAUSES {
        match unless_cancelled(cancel, server.resume_thread(resume.clone())).await? {
            Err(error) if error.refusal() == Some(RefusalKind::ThreadOpenElsewhere) => {}
            settled => return Ok(settled),
        }
        let pausing = async {
            tokio::time::sleep(pause).await;
            Ok(())
        };
        let _elapsed = unless_cancelled(cancel, pausing).await?;
    }
    unless_cancelled(cancel, server.resume_thread(resume)).await
}

/// Waits for a call until the request is cancelled.
async fn unless_cancelled<T>(
    cancel: &CancellationToken,
    call: impl Future<Output = Result<T, AppServerError>> + Send,
) -> Result<Result<T, AppServerError>, LifecycleError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(LifecycleError::Cancelled),
        result = call => Ok(result),
    }
}

/// The settings with the complete configuration of the thread.
pub(super) fn with_config(
    plan: &ThreadPlan,
    settings: &ThreadSettings,
    built: Option<&PluginBuild>,
) -> ThreadSettings {
    let mut settings = settings.clone();
    settings.config = plan.config(settings.model.as_deref().unwrap_or_default(), built);
    settings
}

/// The threads whose history a new thread continues, oldest first: the old one, and those that it
/// continued itself. What was carried over to a thread is not among its messages.
fn history_sources<'a>(old: &'a BindingRecord, how: &HowOpened) -> Vec<&'a ThreadId> {
    let own = match how {
        HowOpened::Rotated { .. } => Some(&old.thread),
        HowOpened::Replaced { .. } => None,
        _ => return Vec::new(),
    };
    // Somebody who bound the session to another thread did not want to continue.
    let former = old.former_threads.iter().rev();
    let continued = former.take_while(|former| former.reason != FormerReason::Rebound);
    let readable = continued.filter(|former| former.reason == FormerReason::Rotated);
    let mut sources: Vec<&ThreadId> =
        own.into_iter().chain(readable.map(|former| &former.thread)).collect();
    sources.reverse();
    sources
}

/// Whether a thread that cannot be resumed has no history left: it is gone, or its file was cut off
/// by a crash before its first turn ended. An attached thread may have more turns than the record
/// knows.
fn is_given_up(refusal: RefusalKind, record: &BindingRecord) -> bool {
    let is_unused = record.origin == BindingOrigin::Started && record.turns == 0;
    refusal == RefusalKind::ThreadGone || refusal == RefusalKind::ThreadDamaged && is_unused
}

/// Whether asking again cannot help.
fn is_final(error: &AppServerError) -> bool {
    error.refusal().is_some_and(|kind| kind != RefusalKind::Overloaded)
}

/// What a refused resume means.
pub(super) fn refused(error: AppServerError, thread: ThreadId) -> LifecycleError {
    match error.refusal() {
        Some(RefusalKind::ThreadArchived) => LifecycleError::Archived { thread },
        Some(RefusalKind::ThreadOpenElsewhere) => LifecycleError::OpenElsewhere { thread },
        Some(RefusalKind::ThreadDamaged) => LifecycleError::DamagedThread { thread },
        Some(RefusalKind::InvalidThreadId) => LifecycleError::InvalidThread { thread },
        _ => LifecycleError::Server(error),
    }
}
