//! What ends a command early: the user's time is up, or a signal arrives.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::output::CommandOutput;

/// What a command does when it is ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stoppable {
    Turn,
    Bind,
    Status,
}

impl Stoppable {
    /// What did not happen, because the command ended before it.
    const fn goal(self) -> &'static str {
        match self {
            Self::Turn => "the turn began",
            Self::Bind => "the session was bound",
            Self::Status => "Codex answered",
        }
    }

    /// What the end of the command leaves behind.
    const fn hint(self) -> &'static str {
        match self {
            Self::Turn => "the session's thread is unchanged; run the command again",
            Self::Bind => "the binding is unchanged; run the command again",
            Self::Status => "`traj codex status --offline` shows the binding without Codex",
        }
    }
}

/// Why a command ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopReason {
    Signal(u8),
    TimedOut,
}

/// Ends a command early. The time counts from the start of the command.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    what: Stoppable,
    /// Interrupts what runs.
    pub(super) cancel: CancellationToken,
    /// When the time runs out.
    deadline: Instant,
    reason: Arc<OnceLock<StopReason>>,
}

impl Stop {
    /// A timeout that starts now.
    pub(super) fn after(seconds: u64, what: Stoppable) -> Self {
        let now = Instant::now();
        let timeout = Duration::from_secs(seconds);
        // A time that the clock cannot represent is never reached.
        let deadline = now.checked_add(timeout).unwrap_or(now + Duration::from_secs(1 << 31));
        Self { what, cancel: CancellationToken::new(), deadline, reason: Arc::default() }
    }

    /// Starts to listen for signals. The first one ends the command's work, the second one the
    /// process.
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
            if is_shown && self.what == Stoppable::Turn {
                anstream::eprintln!("interrupting the turn …");
            }
        }
    }

    /// Runs something that can be dropped. A signal or the end of the time gives it up.
    pub(super) async fn unless_stopped<T>(
        &self,
        work: impl Future<Output = Result<T, CommandError>>,
    ) -> Result<T, CommandError> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(self.error()),
            () = tokio::time::sleep_until(self.deadline) => {
                self.time_is_up();
                Err(self.error())
            }
            done = work => done,
        }
    }

    /// Runs something that ends by itself when it is cancelled, and cancels it at the end of the
    /// time.
    pub(super) async fn until_stopped<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = tokio::time::sleep_until(self.deadline) => self.time_is_up(),
        }
        self.cancel.cancel();
        work.await
    }

    fn time_is_up(&self) {
        let _was_stopped = self.reason.set(StopReason::TimedOut);
    }

    /// How much of the time is left.
    pub(super) fn time_left(&self) -> Duration {
        self.deadline.duration_since(Instant::now())
    }

    /// The signal that ended the command.
    pub(super) fn signal(&self) -> Option<u8> {
        match self.reason.get() {
            Some(StopReason::Signal(number)) => Some(*number),
            _ => None,
        }
    }

    /// Why the command did not complete.
    pub(super) fn error(&self) -> CommandError {
        let (goal, hint) = (self.what.goal(), self.what.hint());
        match self.signal() {
            Some(signal) => {
                let message = format!("ended by signal {signal} before {goal}");
                CommandError::new(ErrorKind::Interrupted { signal }, message).hint(hint)
            }
            None => CommandError::failure(format!("timed out before {goal}"))
                .hint(hint)
                .hint("--timeout SECONDS sets the time, which includes the start of Codex"),
        }
    }
}
