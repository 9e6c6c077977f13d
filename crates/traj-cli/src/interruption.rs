//! Signals that end an export. After the first one, the export stops at the
//! next read or write and cleans up. The second one ends the process at once.
//!
//! - `waits`: pauses that the first one ends.

mod waits;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;

use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
pub(crate) use waits::{GLANCE, Waits};

/// Whether a signal asked this process to end, and which one.
#[derive(Debug)]
pub(crate) struct Interruption {
    stop: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Interruption {
    /// Starts listening.
    pub(crate) fn watch(host: &Host) -> Result<Self, CommandError> {
        let watched = Self { stop: Arc::default(), signal: Arc::default() };
        // The parent process may have set some of them to be ignored, as
        // `nohup` does.
        let heeded = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter();
        for signal in heeded.filter(|signal| !host.ignores_signal(*signal)) {
            watched.register(signal).map_err(|error| {
                CommandError::failure("cannot listen for signals").because(error)
            })?;
        }
        Ok(watched)
    }

    fn register(&self, signal: i32) -> std::io::Result<()> {
        // Actions run in the order of registration, so only the second signal
        // finds the flag raised.
        flag::register_conditional_default(signal, Arc::clone(&self.stop))?;
        let number = usize::try_from(signal).unwrap_or_default();
        flag::register_usize(signal, Arc::clone(&self.signal), number)?;
        flag::register(signal, Arc::clone(&self.stop))?;
        Ok(())
    }

    /// The flag that adapters check to know when to stop.
    pub(crate) fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// The error to report: the interruption if there was one, else `error`.
    pub(crate) fn explain(&self, error: CommandError) -> CommandError {
        self.or_signal(error, "no partial output was left; run it again")
    }

    /// Like [`Self::explain`], for commands that write to standard output.
    pub(crate) fn explain_stdout(&self, error: CommandError) -> CommandError {
        self.or_signal(error, "the output is incomplete; run it again")
    }

    /// Like [`Self::explain`], for work of which a part is done.
    pub(crate) fn explain_partial(&self, error: CommandError, done: &str) -> CommandError {
        self.or_signal(error, done)
    }

    /// Like [`Self::explain`], for commands that continue where they were.
    pub(crate) fn explain_shipping(&self, error: CommandError) -> CommandError {
        self.or_signal(error, "run it again; it continues where it stopped")
    }

    fn or_signal(&self, error: CommandError, hint: &str) -> CommandError {
        match u8::try_from(self.signal.load(Ordering::Relaxed)) {
            Ok(signal) if signal > 0 => {
                let kind = ErrorKind::Interrupted { signal };
                CommandError::new(kind, format!("ended by signal {signal}")).hint(hint)
            }
            _ => error,
        }
    }
}
