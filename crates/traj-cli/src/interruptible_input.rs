//! Standard input that a signal can end: the command still processes what it
//! has read, and its exit code reports the signal.

use std::cell::Cell;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

/// Standard input, until SIGINT or SIGTERM. A second signal ends the process
/// at once.
#[derive(Debug)]
pub(crate) struct InterruptibleInput {
    input: io::Stdin,
    /// The signal that arrived, or 0.
    signal: Arc<AtomicUsize>,
    /// Becomes readable when a signal arrives, which ends the wait for input.
    wake: UnixStream,
    cut_short: CutShort,
}

/// A record of whether a signal cut the input short.
#[derive(Clone, Debug, Default)]
pub(crate) struct CutShort(Rc<Cell<Option<u8>>>);

impl CutShort {
    /// Whether a signal cut the input short.
    pub(crate) fn happened(&self) -> bool {
        self.0.get().is_some()
    }

    /// The name of the signal that cut the input short.
    pub(crate) fn signal_name(&self) -> Option<&'static str> {
        self.0.get().and_then(|signal| low_level::signal_name(signal.into()))
    }

    /// The exit code for that signal.
    pub(crate) fn exit_code(&self) -> Option<ExitCode> {
        self.0.get().map(|signal| ExitCode::from(signal.saturating_add(128)))
    }
}

impl InterruptibleInput {
    /// Starts listening for signals. Needs no thread.
    pub(crate) fn new() -> io::Result<Self> {
        let (wake, waker) = UnixStream::pair()?;
        let signal = Arc::new(AtomicUsize::new(0));
        let is_second = Arc::new(AtomicBool::new(false));
        for number in [SIGINT, SIGTERM] {
            // The order matters: the first signal must find the flag unset.
            flag::register_conditional_shutdown(number, 128 + number, Arc::clone(&is_second))?;
            flag::register(number, Arc::clone(&is_second))?;
            let value = usize::try_from(number).unwrap_or(0);
            flag::register_usize(number, Arc::clone(&signal), value)?;
            low_level::pipe::register(number, waker.try_clone()?)?;
        }
        let cut_short = CutShort::default();
        Ok(Self { input: io::stdin(), signal, wake, cut_short })
    }

    /// A handle that reports whether a signal cut this input short.
    pub(crate) fn cut_short(&self) -> CutShort {
        self.cut_short.clone()
    }

    /// Waits for input. Returns `false` if a signal arrived instead.
    fn wait(&self) -> io::Result<bool> {
        let handles =
            [PollFd::new(&self.input, PollFlags::IN), PollFd::new(&self.wake, PollFlags::IN)];
        match poll(&mut handles.clone(), None) {
            // A signal interrupted the wait; it is examined below.
            Err(Errno::INTR) => {}
            polled => drop(polled?),
        }
        let signal = self.signal.load(Ordering::SeqCst);
        let signal = u8::try_from(signal).ok().filter(|signal| *signal != 0);
        self.cut_short.0.set(signal);
        Ok(signal.is_none())
    }
}

impl Read for InterruptibleInput {
    /// Reads without the buffer of the standard library: `wait` cannot see
    /// bytes that are in that buffer. Nothing else reads standard input.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.wait()? {
            return Ok(0);
        }
        match rustix::io::read(&self.input, buffer) {
            // Standard input was closed from the start: treat it as empty.
            Err(Errno::BADF) => Ok(0),
            read => Ok(read?),
        }
    }
}
