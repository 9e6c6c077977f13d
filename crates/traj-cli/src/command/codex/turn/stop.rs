//! What ends a turn early: the user's time is up, or a signal arrives.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::output::CommandOutput;

/// Why a turn ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopReason {
    Signal(u8),
    TimedOut,
}

/// Ends a turn early. The time counts from the start of the command.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    /// Interrupts the turn.
    pub(super) cancel: CancellationToken,
    /// When the time runs out.
    deadline: Instant,
    reason: Arc<OnceLock<StopReason>>,
}

impl Stop {
    /// A timeout that starts now.
    pub(super) fn after(timeout: Duration) -> Self {
        let now = Instant::now();
        // A time that the clock cannot represent is never reached.
        let deadline = now.checked_add(timeout).unwrap_or(now + Duration::from_secs(1 << 31));
        Self { cancel: CancellationToken::new(), deadline, reason: Arc::default() }
    }

    /// Starts to listen for signals. The first one ends the turn, the second one the process.
    pub(super) fn listen(&self, host: &Host, output: &CommandOutput) -> Result<(), CommandError> {
        // The parent process may have set some of them to be ignored, as `nohup` does.
        let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter();
        for number in heeded.filter(|number| !host.ignores_signal(*number)) {
            let arriving = signal(SignalKind::from_raw(number)).map_err(|error| {
                CommandError::failure("cannot listen for signals").because(error)
            })?;
            let number = u8::try_from(number).unwrap_or_default();
            drop(tokio::spawn(self.clone().heed(arriving, number, output.shows_progress())));
        }
        Ok(())
    }

    async fn heed(self, mut arriving: Signal, number: u8, is_shown: bool) {
        while arriving.recv().await.is_some() {
            if self.cancel.is_cancelled() {
                Host::exit_after_signal(number);
            }
            let _was_stopped = self.reason.set(StopReason::Signal(number));
            self.cancel.cancel();
            if is_shown {
                anstream::eprintln!("interrupting the turn …");
            }
        }
    }

    /// Runs something that comes before the turn. A signal or the end of the time gives it up.
    pub(super) async fn unless_stopped<T>(
        &self,
        work: impl Future<Output = Result<T, CommandError>>,
    ) -> Result<T, CommandError> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(self.error_before_turn()),
            () = tokio::time::sleep_until(self.deadline) => {
                let _was_stopped = self.reason.set(StopReason::TimedOut);
                Err(self.error_before_turn())
            }
            done = work => done,
        }
    }

    /// How much of the time is left.
    pub(super) fn time_left(&self) -> Duration {
        self.deadline.duration_since(Instant::now())
    }

    /// The signal that ended the turn.
    pub(super) fn signal(&self) -> Option<u8> {
        match self.reason.get() {
            Some(StopReason::Signal(number)) => Some(*number),
            _ => None,
        }
    }

    /// Why the turn did not begin.
    pub(super) fn error_before_turn(&self) -> CommandError {
        let hint = "the session's thread is unchanged; run the command again";
        match self.signal() {
            Some(signal) => {
                let message = format!("ended by signal {signal} before the turn began");
                CommandError::new(ErrorKind::Interrupted { signal }, message).hint(hint)
            }
            None => CommandError::failure("timed out before the turn began")
                .hint(hint)
                .hint("--timeout SECONDS sets the time, which includes the start of Codex"),
        }
    }
}
