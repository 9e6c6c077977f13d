//! Why a turn of a bound session did not run to its end.

use std::fmt;

use traj_core::port::{AppServerError, CloseCause};

use crate::lifecycle::LifecycleError;
use crate::turn::{StopCause, TurnError};

/// What happens before a turn begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnStage {
    /// The server is started and introduces itself.
    StartingServer,
    /// The thread is resumed or started.
    OpeningThread,
}

impl fmt::Display for TurnStage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::StartingServer => "starting the server",
            Self::OpeningThread => "opening the thread",
        })
    }
}

/// Why a turn of a bound session did not run to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BoundTurnError {
    /// The server cannot be started.
    #[error(transparent)]
    Server(AppServerError),
    /// The session's thread cannot be opened.
    #[error(transparent)]
    Thread(LifecycleError),
    /// The time ran out before the turn began.
    #[error("timed out while {stage}")]
    TimedOut {
        /// What was in progress.
        stage: TurnStage,
    },
    /// The turn was cancelled before it began.
    #[error("cancelled while {stage}")]
    Cancelled {
        /// What was in progress.
        stage: TurnStage,
    },
    /// The turn has instructions, but the model is unknown, and Codex takes one only with the other.
    #[error("the instructions for the turn need a model, and none is known")]
    ModelUnknown,
    /// The turn did not start, or the server exited during it.
    #[error(transparent)]
    Turn(TurnError),
}

impl BoundTurnError {
    pub(super) const fn stopped(cause: StopCause, stage: TurnStage) -> Self {
        match cause {
            StopCause::TimedOut => Self::TimedOut { stage },
            StopCause::Cancelled => Self::Cancelled { stage },
        }
    }

    pub(super) fn opening(error: LifecycleError) -> Self {
        match error {
            LifecycleError::Cancelled => Self::Cancelled { stage: TurnStage::OpeningThread },
            error => Self::Thread(error),
        }
    }

    pub(super) const fn stop_cause(&self) -> Option<StopCause> {
        match self {
            Self::TimedOut { .. } => Some(StopCause::TimedOut),
            Self::Cancelled { .. } => Some(StopCause::Cancelled),
            _ => None,
        }
    }

    /// Whether the server exited before the turn began, so that another server may run it.
    #[must_use]
    pub const fn is_lost_before_start(&self) -> bool {
        match self {
            Self::Thread(error) => error.is_connection_loss(),
            // The turn may have begun on the server.
            _ => false,
        }
    }

    /// Whether the server does not answer, or may still run the turn.
    pub(crate) const fn leaves_server_unusable(&self) -> bool {
        match self {
            Self::TimedOut { .. } => true,
            Self::Turn(error) => error.may_still_run(),
            _ => false,
        }
    }

    /// Why the server closed, if that is what happened. It may quote the end of the
    /// server's output.
    #[must_use]
    pub const fn close_cause(&self) -> Option<&CloseCause> {
        match self {
            Self::Server(error) | Self::Thread(LifecycleError::Server(error)) => {
                error.close_cause()
            }
            Self::Turn(TurnError::NotStarted(error)) => error.close_cause(),
            Self::Turn(TurnError::Lost { cause, .. }) => Some(cause),
            _ => None,
        }
    }
}
