//! How long a turn may take, and what stops it early.

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::TurnOptions;

/// Why waiting was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopCause {
    TimedOut,
    Cancelled,
}

/// The limits of one turn, counted from the moment it was asked for: starting the server, opening
/// the thread and the turn itself share them.
#[derive(Clone, Debug)]
pub(crate) struct TurnBounds {
    /// `None` if no clock can reach it.
    deadline: Option<Instant>,
    cancel: CancellationToken,
}

impl TurnBounds {
    /// The limits of a turn that is requested now.
    pub(crate) fn of(options: &TurnOptions) -> Self {
        let deadline = Instant::now().checked_add(options.timeout);
        Self { deadline, cancel: options.cancel.clone() }
    }

    /// Waits until the time runs out or somebody cancels.
    pub(crate) async fn stopped(&self) -> StopCause {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => StopCause::Cancelled,
            () = sleep_until(self.deadline) => StopCause::TimedOut,
        }
    }

    /// Waits for `work`, unless the turn is stopped before.
    pub(crate) async fn within<T>(&self, work: impl Future<Output = T>) -> Result<T, StopCause> {
        tokio::select! {
            biased;
            cause = self.stopped() => Err(cause),
            done = work => Ok(done),
        }
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
