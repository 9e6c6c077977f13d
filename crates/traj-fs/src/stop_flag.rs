//! A request to stop, which work checks when it reads or writes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether work in progress should end. It then fails at its next read or
/// write.
#[derive(Clone, Debug, Default)]
pub(crate) struct StopFlag {
    raised: Arc<AtomicBool>,
}

impl StopFlag {
    /// Work stops when `raised` becomes true, for example in a signal handler.
    #[must_use]
    pub(crate) const fn new(raised: Arc<AtomicBool>) -> Self {
        Self { raised }
    }

    /// # Errors
    /// When work should stop.
    pub(crate) fn check(&self) -> io::Result<()> {
        if self.raised.load(Ordering::Relaxed) {
            // Not `Interrupted`, which asks callers to try again.
            return Err(io::Error::other(Stopped));
        }
        Ok(())
    }
}

/// A reader that fails once it is asked to stop.
#[cfg(feature = "zstd")]
#[derive(Debug)]
pub(crate) struct StoppableReader<'s, R> {
    inner: R,
    stop: &'s StopFlag,
}

#[cfg(feature = "zstd")]
impl<'s, R> StoppableReader<'s, R> {
    pub(crate) const fn new(inner: R, stop: &'s StopFlag) -> Self {
        Self { inner, stop }
    }
}

#[cfg(feature = "zstd")]
impl<R: io::Read> io::Read for StoppableReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stop.check()?;
        self.inner.read(buffer)
    }
}

/// Whether work ended because of [`StopFlag::check`].
#[cfg(feature = "zstd")]
pub(crate) fn is_stop(error: &io::Error) -> bool {
    matches!(error.get_ref(), Some(inner) if inner.is::<Stopped>())
}

#[derive(Debug, thiserror::Error)]
#[error("asked to stop")]
struct Stopped;
