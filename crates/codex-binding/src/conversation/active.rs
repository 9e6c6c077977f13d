//! Tracks the running turn of each conversation, so that it can be stopped and steered.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use traj_core::binding::TurnInput;
use traj_core::id::{ThreadId, TurnId};
use traj_core::port::{AppServerError, ThreadEvent};

use crate::pool::Connection;
use crate::turn::TurnObserver;

/// The result of a request to stop or steer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ControlOutcome {
    /// The request was sent.
    Sent,
    /// No turn is running.
    NothingRuns,
    /// The text is empty.
    NothingToSay,
    /// The server rejected the request.
    Refused(AppServerError),
}

/// Running turns by conversation. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveTurns {
    turns: Arc<Mutex<BTreeMap<String, ActiveTurn>>>,
}

#[derive(Clone, Debug, Default)]
struct ActiveTurn {
    server: Option<Arc<dyn Connection>>,
    turn: Option<(ThreadId, TurnId)>,
}

impl ActiveTurns {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, ActiveTurn>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Observes the turn of a conversation to learn its id.
    pub(super) fn observer(&self, queue_key: &str) -> Arc<dyn TurnObserver> {
        self.lock().insert(queue_key.to_owned(), ActiveTurn::default());
        Arc::new(ActiveTurnObserver { turns: self.clone(), queue_key: queue_key.to_owned() })
    }

    /// Records the server that the turn of a conversation is about to run on.
    pub(super) fn runs_on(&self, queue_key: &str, server: &Arc<dyn Connection>) {
        let active = ActiveTurn { server: Some(Arc::clone(server)), turn: None };
        self.lock().insert(queue_key.to_owned(), active);
    }

    /// Removes the ended turn of a conversation. Only one turn runs at a time per queue key.
    pub(super) fn ended(&self, queue_key: &str) {
        self.lock().remove(queue_key);
    }

    fn running(&self, queue_key: &str) -> Option<(Arc<dyn Connection>, ThreadId, TurnId)> {
        let turns = self.lock();
        let active = turns.get(queue_key)?;
        let (thread, turn) = active.turn.clone()?;
        Some((Arc::clone(active.server.as_ref()?), thread, turn))
    }

    pub(super) async fn stop(&self, queue_key: &str) -> ControlOutcome {
        let Some((server, thread, turn)) = self.running(queue_key) else {
            return ControlOutcome::NothingRuns;
        };
        outcome(server.interrupt_turn(&thread, &turn).await)
    }

    pub(super) async fn steer(&self, queue_key: &str, text: &str) -> ControlOutcome {
        if text.trim().is_empty() {
            return ControlOutcome::NothingToSay;
        }
        let Some((server, thread, turn)) = self.running(queue_key) else {
            return ControlOutcome::NothingRuns;
        };
        let input = TurnInput::text(text.trim()).items();
        outcome(server.steer_turn(&thread, &turn, input).await)
    }
}

fn outcome(result: Result<(), AppServerError>) -> ControlOutcome {
    match result {
        Ok(()) => ControlOutcome::Sent,
        Err(error) => ControlOutcome::Refused(error),
    }
}

#[derive(Debug)]
struct ActiveTurnObserver {
    turns: ActiveTurns,
    queue_key: String,
}

impl TurnObserver for ActiveTurnObserver {
    fn started(&self, thread: &ThreadId, turn: &TurnId) {
        if let Some(active) = self.turns.lock().get_mut(&self.queue_key) {
            active.turn = Some((thread.clone(), turn.clone()));
        }
    }

    fn event(&self, _event: &ThreadEvent) {}
}
