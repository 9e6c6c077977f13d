//! A turn of a bound session: opens its thread, runs the turn and records its end.

mod error;
mod request;

use std::sync::Arc;

use async_trait::async_trait;
use traj_core::port::{AppServer, AppServerError, ThreadService};

pub use error::{BoundTurnError, TurnStage};
pub use request::BoundTurnRequest;

use crate::lifecycle::{HowOpened, LoadedThreads, ReadyThread, ThreadLifecycle};
use crate::pool::{Connection, Connector, Lease};
use crate::turn::{TurnBounds, TurnOutcome, TurnReport, run_turn_within};

/// How often a server is started for one turn if it exits before the turn begins.
const STARTS: u32 = 3;

/// A turn that ran.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BoundTurn {
    /// The thread, and how it was opened. Report lost history to the user.
    pub ready: ReadyThread,
    /// The result of the turn.
    pub report: TurnReport,
}

/// Runs one turn of a bound session on a server.
///
/// If the server no longer has the thread loaded when the turn starts, loads it again and tries the
/// turn once more. The timeout and the cancellation of the request apply from the beginning. A turn
/// that fails before it begins is recorded, too.
///
/// # Errors
/// The thread cannot be opened in time, the turn does not start, or the server exits during the
/// turn.
pub async fn run_bound_turn(
    lifecycle: &ThreadLifecycle,
    server: &dyn AppServer,
    loaded: &LoadedThreads,
    request: &BoundTurnRequest,
) -> Result<BoundTurn, BoundTurnError> {
    let bounds = TurnBounds::of(&request.options);
    let attempt = TurnAttempt { lifecycle, server, loaded, request, bounds: &bounds };
    recorded(attempt.whole().await, request)
}

/// Starts a server, runs one turn of a bound session on it, and stops the server.
///
/// A server that exits before the turn begins has not seen the prompt and is started again. The
/// timeout and the cancellation of the request apply from the beginning, so they bound starting the
/// server, too. If either ends the turn, the server is stopped in the background.
///
/// # Errors
/// The server cannot be started, the thread cannot be opened in time, the turn does not start, or
/// the server exits during the turn.
pub async fn run_connected_turn(
    lifecycle: &ThreadLifecycle,
    connector: &dyn Connector,
    request: &BoundTurnRequest,
) -> Result<BoundTurn, BoundTurnError> {
    let bounds = TurnBounds::of(&request.options);
    run_on_servers(lifecycle, &OwnServers(connector), request, &bounds).await
}

/// Where the servers of turns come from.
#[async_trait]
pub(crate) trait ServerSource: Send + Sync {
    /// Gets a server.
    async fn lend(&self) -> Result<LentServer, AppServerError>;

    /// Returns a server.
    async fn give_back(&self, server: LentServer, state: ServerState);
}

/// The state in which a turn leaves a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerState {
    /// It has answered everything.
    Idle,
    /// The turn was abandoned while the server worked on it. The server may be slow, or hang.
    Busy,
    /// It does not answer, or may still run the turn.
    Unusable,
}

impl ServerState {
    fn after(turn: &Result<BoundTurn, BoundTurnError>) -> Self {
        match turn {
            Ok(turn) if turn.report.outcome == (TurnOutcome::TimedOut { confirmed: false }) => {
                Self::Unusable
            }
            Err(error) if error.leaves_server_unusable() => Self::Unusable,
            Err(error) if error.stop_cause().is_some() => Self::Busy,
            _ => Self::Idle,
        }
    }
}

/// A server that one turn uses.
pub(crate) struct LentServer {
    pub(crate) connection: Arc<dyn Connection>,
    pub(crate) loaded: LoadedThreads,
    /// Keeps a shared server from being stopped.
    pub(crate) lease: Option<Lease>,
}

/// Runs a turn on the servers of `source`, until one of them survives long enough to begin it.
pub(crate) async fn run_on_servers(
    lifecycle: &ThreadLifecycle,
    source: &dyn ServerSource,
    request: &BoundTurnRequest,
    bounds: &TurnBounds,
) -> Result<BoundTurn, BoundTurnError> {
    let mut starts = 1;
    let turn = loop {
        let lent = match bounds.within(source.lend()).await {
            Ok(Ok(lent)) => lent,
            Ok(Err(error)) => break Err(BoundTurnError::Server(error)),
            Err(cause) => break Err(BoundTurnError::stopped(cause, TurnStage::StartingServer)),
        };
        let server: &dyn AppServer = lent.connection.as_ref();
        let attempt = TurnAttempt { lifecycle, server, loaded: &lent.loaded, request, bounds };
        let turn = attempt.whole().await;
        source.give_back(lent, ServerState::after(&turn)).await;
        match turn {
            Err(error) if error.is_lost_before_start() && starts < STARTS => {
                starts += 1;
                if let Some(observer) = &request.options.observer {
                    observer.restarting();
                }
            }
            settled => break settled,
        }
    };
    recorded(turn, request)
}

/// A server for each turn.
struct OwnServers<'a>(&'a dyn Connector);

#[async_trait]
impl ServerSource for OwnServers<'_> {
    async fn lend(&self) -> Result<LentServer, AppServerError> {
        let connection = self.0.connect().await?;
        Ok(LentServer { connection, loaded: LoadedThreads::new(), lease: None })
    }

    async fn give_back(&self, server: LentServer, state: ServerState) {
        if state == ServerState::Idle {
            server.connection.stop().await;
        } else {
            // It may hang, and the user has waited long enough.
            drop(tokio::spawn(async move { server.connection.stop().await }));
        }
    }
}

/// One turn on one server.
struct TurnAttempt<'a> {
    lifecycle: &'a ThreadLifecycle,
    server: &'a dyn AppServer,
    loaded: &'a LoadedThreads,
    request: &'a BoundTurnRequest,
    bounds: &'a TurnBounds,
}

impl TurnAttempt<'_> {
    async fn whole(&self) -> Result<BoundTurn, BoundTurnError> {
        let mut ready = self.open().await?;
        let mut outcome = self.run(&ready).await;
        if matches!(&outcome, Err(BoundTurnError::Turn(error)) if error.is_not_loaded()) {
            self.loaded.forget(ready.thread());
            let again = self.open().await?;
            // The first result still holds, unless more was lost in the meantime.
            ready = match again.how {
                HowOpened::Resumed => ReadyThread { how: ready.how, ..again },
                _ => again,
            };
            outcome = self.run(&ready).await;
        }
        let report = outcome?;
        if !matches!(ready.how, HowOpened::Transient { .. }) {
            let noted = self.lifecycle.turn_ended(&self.request.plan.key, ready.thread()).await;
            noted.map_err(BoundTurnError::Thread)?;
        }
        let is_over = !matches!(report.outcome, TurnOutcome::TimedOut { confirmed: false });
        if is_over {
            // Its events are not needed until the next resume. A thread whose turn did not start is
            // kept: it may not be on disk yet, so it could not be resumed.
            self.loaded.forget(ready.thread());
            let _released = self.server.release_thread(ready.thread()).await;
        }
        Ok(BoundTurn { ready, report })
    }

    async fn open(&self) -> Result<ReadyThread, BoundTurnError> {
        let BoundTurnRequest { plan, options, .. } = self.request;
        let threads: &dyn ThreadService = self.server;
        let opening = Box::pin(self.lifecycle.ready(threads, self.loaded, plan, &options.cancel));
        match self.bounds.within(opening).await {
            Ok(opened) => opened.map_err(BoundTurnError::opening),
            Err(cause) => Err(BoundTurnError::stopped(cause, TurnStage::OpeningThread)),
        }
    }

    async fn run(&self, ready: &ReadyThread) -> Result<TurnReport, BoundTurnError> {
        let BoundTurnRequest { options, sink, .. } = self.request;
        let (start, facts) = (self.request.start(ready)?, self.request.facts(Some(ready)));
        let turn = run_turn_within(self.server, start, options, &facts, sink, self.bounds).await;
        turn.map_err(BoundTurnError::Turn)
    }
}

/// Records a turn that failed before it could begin; any other turn is already recorded.
fn recorded(
    turn: Result<BoundTurn, BoundTurnError>,
    request: &BoundTurnRequest,
) -> Result<BoundTurn, BoundTurnError> {
    if let Err(error) = &turn
        && !matches!(error, BoundTurnError::Turn(_))
    {
        request.facts(None).never_began(&request.sink, error.stop_cause(), error);
    }
    turn
}

#[cfg(test)]
mod tests;
