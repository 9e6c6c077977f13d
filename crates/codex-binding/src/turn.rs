//! Runs one turn: starts it, follows it to its end, interrupts it if it takes too long.

mod bounds;
mod collector;
mod recording;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use traj_core::id::{ThreadId, TurnId};
use traj_core::port::{
    AppServerError, CloseCause, EventSink, RequestHandler, StartTurn, ThreadEvent, TokenUsage,
    TurnService,
};

pub(crate) use bounds::{StopCause, TurnBounds};
pub use collector::{TurnCollector, TurnEnd};
pub use recording::TurnFacts;

use watch::TurnWatch;

use crate::protocol::method;

/// Observes a turn while it runs.
pub trait TurnObserver: std::fmt::Debug + Send + Sync {
    /// The server exited before the turn began, and is started again.
    fn restarting(&self) {}

    /// The turn has begun.
    fn started(&self, _thread: &ThreadId, _turn: &TurnId) {}

    /// Receives an event. Called from the task that reads from the server, so it must not block.
    fn event(&self, event: &ThreadEvent);
}

/// Limits, approvals and cancellation of a turn.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TurnOptions {
    /// How long the turn may take, from the moment it is asked for. Starting the server and opening
    /// the thread count. An interruption may take [`interrupt_timeout`](Self::interrupt_timeout) on
    /// top of it.
    pub timeout: Duration,
    /// How long to wait for an interrupted turn to end.
    pub interrupt_timeout: Duration,
    /// How many notifications are kept until the turn's id is known.
    pub early_notifications: usize,
    /// The host's answers to requests of the turn.
    pub handler: Arc<dyn RequestHandler>,
    /// Observes the turn.
    pub observer: Option<Arc<dyn TurnObserver>>,
    /// Interrupts the turn.
    pub cancel: CancellationToken,
}

impl TurnOptions {
    /// The default limits.
    #[must_use]
    pub fn standard(handler: Arc<dyn RequestHandler>) -> Self {
        let profile = traj_core::binding::BindingProfile::standard();
        Self {
            timeout: profile.turn_timeout,
            interrupt_timeout: profile.interrupt_timeout,
            early_notifications: profile.early_notifications,
            handler,
            observer: None,
            cancel: CancellationToken::new(),
        }
    }
}

/// The result of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnReport {
    /// The turn.
    pub turn: TurnId,
    /// How it ended.
    pub outcome: TurnOutcome,
    /// The last message of the model, apart from commentary; empty if there is none.
    pub text: String,
    /// The token usage.
    pub usage: Option<TokenUsage>,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnOutcome {
    /// It completed.
    Completed,
    /// It was interrupted; the text so far is not a reply.
    Interrupted,
    /// It failed.
    Failed {
        /// The server's message.
        message: Option<String>,
    },
    /// It took too long and was interrupted.
    TimedOut {
        /// Whether the server confirmed the interruption; if not, the turn may still be running.
        confirmed: bool,
    },
}

/// Why the end of a turn is unknown.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The turn was not started.
    #[error("the turn was not started")]
    NotStarted(#[source] AppServerError),
    /// The server exited during the turn. The thread will show the turn as interrupted.
    #[error("the server exited during turn {turn}: {cause}")]
    Lost {
        /// The turn.
        turn: TurnId,
        /// Why the connection ended.
        cause: CloseCause,
    },
}

impl TurnError {
    /// Whether the thread has to be loaded before the turn can start.
    #[must_use]
    pub fn is_not_loaded(&self) -> bool {
        matches!(self, Self::NotStarted(error)
            if error.refusal() == Some(traj_core::binding::RefusalKind::ThreadNotLoaded))
    }

    /// Whether the turn may run on the server although nobody follows it.
    #[must_use]
    pub const fn may_still_run(&self) -> bool {
        matches!(
            self,
            Self::NotStarted(AppServerError::TimedOut { .. } | AppServerError::Cancelled { .. })
        )
    }
}

/// Runs one turn on a thread that is loaded, and records it.
///
/// Cancel it through [`TurnOptions::cancel`], which interrupts the turn and waits for its end.
/// Dropping the future leaves the turn running on the server.
///
/// # Errors
/// The turn was not started, or the server exited during it.
pub async fn run_turn(
    server: &dyn TurnService,
    start: StartTurn,
    options: &TurnOptions,
    facts: &TurnFacts,
    sink: &Arc<dyn EventSink>,
) -> Result<TurnReport, TurnError> {
    run_turn_within(server, start, options, facts, sink, &TurnBounds::of(options)).await
}

/// Runs one turn within limits that already apply.
pub(crate) async fn run_turn_within(
    server: &dyn TurnService,
    start: StartTurn,
    options: &TurnOptions,
    facts: &TurnFacts,
    sink: &Arc<dyn EventSink>,
    bounds: &TurnBounds,
) -> Result<TurnReport, TurnError> {
    let thread = start.thread.clone();
    let watch = Arc::new(TurnWatch::new(options, facts.recorder(&thread, sink)));
    let listening = server.listen(&thread, watch.clone());
    let turn = match start_turn(server, start, options, bounds).await {
        Ok(turn) => turn,
        Err(error) => {
            watch.recorder().not_started(&error);
            return Err(TurnError::NotStarted(error));
        }
    };
    if let Some(observer) = &options.observer {
        observer.started(&thread, &turn);
    }
    watch.begin(&turn);
    let report = finish(server, &thread, &turn, &watch, options, bounds).await;
    drop(listening);
    watch.recorder().ended(&turn, &report);
    report
}

/// Starts the turn. If it must stop before the server answers, waits a little longer: only a turn
/// whose id is known can be interrupted.
async fn start_turn(
    server: &dyn TurnService,
    start: StartTurn,
    options: &TurnOptions,
    bounds: &TurnBounds,
) -> Result<TurnId, AppServerError> {
    let mut starting = server.start_turn(start);
    let cause = tokio::select! {
        biased;
        started = &mut starting => return started,
        cause = bounds.stopped() => cause,
    };
    match tokio::time::timeout(options.interrupt_timeout, starting).await {
        Ok(started) => started,
        Err(_) => Err(match cause {
            StopCause::Cancelled => AppServerError::Cancelled { method: method::TURN_START },
            StopCause::TimedOut => AppServerError::TimedOut { method: method::TURN_START },
        }),
    }
}

async fn finish(
    server: &dyn TurnService,
    thread: &ThreadId,
    turn: &TurnId,
    watch: &TurnWatch,
    options: &TurnOptions,
    bounds: &TurnBounds,
) -> Result<TurnReport, TurnError> {
    let ended = tokio::select! {
        biased;
        end = watch.end() => end.map(Some),
        _cause = bounds.stopped() => Ok(None),
    };
    let lost = |cause| TurnError::Lost { turn: turn.clone(), cause };
    if let Some(end) = ended.map_err(lost)? {
        return Ok(report(turn, end, watch));
    }
    let by_person = options.cancel.is_cancelled();
    // The answer to the interruption does not matter, only the event that the turn ended.
    let interrupting = server.interrupt_turn(thread, turn);
    let confirming = async {
        match interrupting.await {
            Err(AppServerError::Closed { cause }) => Err(cause),
            _ => watch.end().await,
        }
    };
    let confirmed = tokio::time::timeout(options.interrupt_timeout, confirming).await;
    match confirmed {
        Ok(Err(cause)) => Err(lost(cause)),
        // The turn ended by itself before the interruption.
        Ok(Ok(end)) if end != TurnEnd::Interrupted => Ok(report(turn, end, watch)),
        Ok(Ok(end)) if by_person => Ok(report(turn, end, watch)),
        confirmed => {
            let outcome = TurnOutcome::TimedOut { confirmed: confirmed.is_ok() };
            Ok(TurnReport { turn: turn.clone(), outcome, text: watch.text(), usage: watch.usage() })
        }
    }
}

fn report(turn: &TurnId, end: TurnEnd, watch: &TurnWatch) -> TurnReport {
    let outcome = match end {
        TurnEnd::Completed => TurnOutcome::Completed,
        TurnEnd::Interrupted => TurnOutcome::Interrupted,
        TurnEnd::Failed { message } => TurnOutcome::Failed { message },
    };
    TurnReport { turn: turn.clone(), outcome, text: watch.text(), usage: watch.usage() }
}

#[cfg(test)]
mod tests;
