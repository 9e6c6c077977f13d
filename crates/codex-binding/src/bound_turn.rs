//! A turn of a bound session: its thread made ready, the turn run, the end noted.

use std::sync::Arc;

use traj_core::binding::TurnInput;
use traj_core::json::Json;
use traj_core::port::{AppServer, EventSink, StartTurn, ThreadService};

use crate::lifecycle::{
    HowOpened, LifecycleError, LoadedThreads, ReadyThread, ThreadLifecycle, ThreadPlan,
};
use crate::turn::{TurnError, TurnFacts, TurnOptions, TurnOutcome, TurnReport, run_turn};

/// The input of a turn, and the reasoning effort.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TurnSpec {
    /// Text and images.
    pub input: TurnInput,
    /// The reasoning effort; `None` keeps an earlier choice.
    pub effort: Option<Option<String>>,
    /// Mode and instructions for this turn.
    pub collaboration_mode: Option<Json<'static>>,
}

impl TurnSpec {
    /// A turn with this input.
    #[must_use]
    pub const fn new(input: TurnInput) -> Self {
        Self { input, effort: None, collaboration_mode: None }
    }
}

/// Everything that [`run_bound_turn`] needs to know about one turn.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers build it and name every part")]
pub struct BoundTurnRequest<'a> {
    /// The session, and what the turn wants of its thread.
    pub plan: &'a ThreadPlan,
    /// The input of the turn.
    pub spec: &'a TurnSpec,
    /// Limits, approvals and cancellation.
    pub options: &'a TurnOptions,
    /// What is recorded about the turn besides its events.
    pub facts: &'a TurnFacts,
    /// Where the turn is recorded.
    pub sink: &'a Arc<dyn EventSink>,
}

/// A turn that ran.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BoundTurn {
    /// The thread, and how it was opened. Report lost history to whoever asked for the turn.
    pub ready: ReadyThread,
    /// The result of the turn.
    pub report: TurnReport,
}

/// Why a turn of a bound session did not run to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BoundTurnError {
    /// Its thread cannot be opened.
    #[error(transparent)]
    Thread(LifecycleError),
    /// The turn did not start, or the server exited during it.
    #[error(transparent)]
    Turn(TurnError),
}

impl BoundTurnError {
    /// Whether the server exited before the turn began, so that another server may run it.
    #[must_use]
    pub const fn is_lost_before_start(&self) -> bool {
        match self {
            Self::Thread(error) => error.is_connection_loss(),
            // What was sent may have begun: nobody knows.
            Self::Turn(_) => false,
        }
    }
}

/// Runs one turn of a bound session on a server.
///
/// A server that does not know the thread when the turn starts has dropped it: the thread is loaded
/// again, and the turn tried once more.
///
/// # Errors
/// The thread cannot be opened, the turn does not start, or the server exits during the turn.
pub async fn run_bound_turn(
    lifecycle: &ThreadLifecycle,
    server: &dyn AppServer,
    loaded: &LoadedThreads,
    request: BoundTurnRequest<'_>,
) -> Result<BoundTurn, BoundTurnError> {
    let BoundTurnRequest { plan, spec, options, facts, sink } = request;
    let threads: &dyn ThreadService = server;
    let mut ready = lifecycle
        .ready(threads, loaded, plan, &options.cancel)
        .await
        .map_err(BoundTurnError::Thread)?;
    let mut outcome = run_turn(server, start(plan, &ready, spec), options, facts, sink).await;
    if outcome.as_ref().is_err_and(TurnError::is_not_loaded) {
        loaded.forget(ready.thread());
        let again = lifecycle.ready(threads, loaded, plan, &options.cancel).await;
        let again = again.map_err(BoundTurnError::Thread)?;
        // The first result still holds, unless more was lost since.
        ready = match again.how {
            HowOpened::Resumed => ReadyThread { record: again.record, how: ready.how },
            _ => again,
        };
        outcome = run_turn(server, start(plan, &ready, spec), options, facts, sink).await;
    }
    let report = outcome.map_err(BoundTurnError::Turn)?;
    if !matches!(ready.how, HowOpened::Transient { .. }) {
        let noted = lifecycle.turn_ended(&plan.key, ready.thread()).await;
        noted.map_err(BoundTurnError::Thread)?;
    }
    let is_over = !matches!(report.outcome, TurnOutcome::TimedOut { confirmed: false });
    if is_over {
        // Its events are not wanted until the next resume. A thread whose turn did not start is
        // kept: it may not be on disk yet, and could not be resumed.
        loaded.forget(ready.thread());
        let _courtesy = threads.release_thread(ready.thread()).await;
    }
    Ok(BoundTurn { ready, report })
}

fn start(plan: &ThreadPlan, ready: &ReadyThread, spec: &TurnSpec) -> StartTurn {
    let record = &ready.record;
    let settings = &plan.settings;
    let mut start = StartTurn::new(ready.thread().clone(), spec.input.items());
    start.cwd = Some(plan.cwd.clone());
    start.approval_policy = settings.approval_policy.or(record.approval_policy);
    start.approvals_reviewer = settings.approvals_reviewer;
    start.sandbox = settings.sandbox.or(record.sandbox);
    start.model.clone_from(&settings.model);
    start.service_tier = settings.service_tier.clone().or_else(|| record.service_tier.clone());
    start.effort.clone_from(&spec.effort);
    start.collaboration_mode.clone_from(&spec.collaboration_mode);
    start.environments.clone_from(&plan.environments);
    start
}

#[cfg(test)]
mod tests {
    use traj_core::binding::RefusalKind;
    use traj_core::memory::{
        FixedClock, MemoryBindingStore, MemoryCodexHome, MemoryEventSink, MemoryFailure,
    };
    use traj_core::port::{BindingKey, DenyAll};

    use super::*;

    /// "Not found" from a turn means not loaded: resume, then once more, on the same thread.
    #[tokio::test]
    async fn a_thread_that_the_server_dropped_is_loaded_again() {
        let home = MemoryCodexHome::new();
        let server = home.start_server();
        let store = Arc::new(MemoryBindingStore::new());
        let lifecycle = ThreadLifecycle::new(store, Arc::new(FixedClock::default()));
        let plan = ThreadPlan::new(BindingKey::parse("s").unwrap(), "/w");
        let loaded = LoadedThreads::new();
        let options = TurnOptions::standard(Arc::new(DenyAll::new()));
        let sink: Arc<dyn EventSink> = Arc::new(MemoryEventSink::new());
        let mut threads = Vec::new();
        for round in 0..2 {
            if round == 1 {
                server.fail_call(2, MemoryFailure::Refuse(RefusalKind::ThreadNotLoaded));
            }
            let spec = TurnSpec::new(TurnInput::text("hello"));
            let facts = TurnFacts::new("hello");
            let request = BoundTurnRequest {
                plan: &plan,
                spec: &spec,
                options: &options,
                facts: &facts,
                sink: &sink,
            };
            let turn = run_bound_turn(&lifecycle, &server, &loaded, request).await.unwrap();
            threads.push(turn.ready.thread().clone());
        }
        assert_eq!(threads[0], threads[1]);
        let calls = server.calls();
        assert_eq!(
            calls[2..],
            [
                "thread/unsubscribe",
                "thread/resume",
                "turn/start",
                "thread/resume",
                "turn/start",
                "thread/unsubscribe",
            ],
            "scenario 48: one release per turn"
        );
        assert_eq!(home.prompts(&threads[0]).unwrap(), ["hello", "hello"]);
    }
}
