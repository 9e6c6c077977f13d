//! Advisory locks between processes that write to the same file.
//!
//! Nobody waits for a lock without end: whoever holds it may be stopped, or
//! never let go of it. Waiting is asking again, at first after microseconds,
//! as our own writers hold a lock no longer than a write takes.

use std::time::Duration;

use cap_std::fs::File;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::error::{Context as _, FsError};

/// How long a lock is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The pauses between two tries: each is longer than the one before, up to the
/// last. That one is short, so that among many who wait nobody goes without.
const FIRST_PAUSE: Duration = Duration::from_micros(20);
const LAST_PAUSE: Duration = Duration::from_millis(1);

/// Holds the lock on a file until it is dropped.
#[derive(Debug)]
pub(crate) struct FileLock<'a> {
    file: &'a File,
}

impl Drop for FileLock<'_> {
    fn drop(&mut self) {
        // Closing the file releases the lock too; nothing else can be done.
        flock(self.file, FlockOperation::Unlock).ok();
    }
}

/// Waits until no other process holds the lock on `file`, then holds it.
///
/// # Errors
/// When another process holds it for too long ([`FsError::Held`]), or the
/// filesystem does not support locks.
pub(crate) fn lock_exclusive<'a>(file: &'a File, name: &str) -> Result<FileLock<'a>, FsError> {
    lock_within(file, name, FlockOperation::NonBlockingLockExclusive, PATIENCE)?;
    Ok(FileLock { file })
}

/// Waits until nobody holds the lock on `file` alone, then holds it together
/// with others, until the file is closed.
///
/// # Errors
/// As [`lock_exclusive`].
pub(crate) fn lock_shared(file: &File, name: &str) -> Result<(), FsError> {
    lock_within(file, name, FlockOperation::NonBlockingLockShared, PATIENCE)
}

/// Holds the lock on `file` alone, until the file is closed, if nobody else
/// holds it for longer than `patience`.
pub(crate) fn is_locked_alone(file: &File, name: &str, patience: Duration) -> bool {
    lock_within(file, name, FlockOperation::NonBlockingLockExclusive, patience).is_ok()
}

/// Asks for a lock until it is there or the pauses add up to `patience`.
fn lock_within(
    file: &File,
    name: &str,
    operation: FlockOperation,
    patience: Duration,
) -> Result<(), FsError> {
    let (mut pause, mut waited) = (FIRST_PAUSE, Duration::ZERO);
    loop {
        match flock(file, operation) {
            Ok(()) => return Ok(()),
            Err(Errno::INTR) => continue,
            Err(Errno::WOULDBLOCK) => {}
            Err(errno) => return Err(std::io::Error::from(errno)).context("lock", name),
        }
        if waited >= patience {
            return Err(FsError::Held { name: name.to_owned() });
        }
        std::thread::sleep(pause);
        waited += pause;
        pause = (pause * 2).min(LAST_PAUSE);
    }
}
