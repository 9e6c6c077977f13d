//! Advisory locks between processes that write to the same file.
//!
//! No caller waits forever, because the holder may be stopped or never release
//! the lock. Waiting is polling, at first after microseconds, because our own
//! writers hold a lock only for one write.

use std::time::Duration;

use cap_std::fs::File;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::error::{Context as _, FsError};

/// How long to wait for a lock.
const PATIENCE: Duration = Duration::from_secs(2);

/// The pause between two tries doubles up to a maximum. The maximum is short,
/// so that no waiting process starves.
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

/// Waits until no other process holds the lock on `file`, then takes it.
///
/// # Errors
/// When another process holds it for too long ([`FsError::Held`]), or the
/// filesystem does not support locks.
pub(crate) fn lock_exclusive<'a>(file: &'a File, name: &str) -> Result<FileLock<'a>, FsError> {
    lock_within(file, name, FlockOperation::NonBlockingLockExclusive, PATIENCE)?;
    Ok(FileLock { file })
}

/// Waits until no process holds an exclusive lock on `file`, then takes a
/// shared lock until the file is closed.
///
/// # Errors
/// Like [`lock_exclusive`].
pub(crate) fn lock_shared(file: &File, name: &str) -> Result<(), FsError> {
    lock_within(file, name, FlockOperation::NonBlockingLockShared, PATIENCE)
}

/// Takes an exclusive lock on `file` until the file is closed, unless another
/// process holds it for longer than `patience`.
pub(crate) fn is_locked_alone(file: &File, name: &str, patience: Duration) -> bool {
    lock_within(file, name, FlockOperation::NonBlockingLockExclusive, patience).is_ok()
}

/// Takes an exclusive lock on `file` until the file is closed, unless somebody
/// holds it. Returns whether it was taken.
///
/// # Errors
/// When the filesystem does not support locks.
pub(crate) fn try_lock(file: &File, name: &str) -> Result<bool, FsError> {
    match lock_within(file, name, FlockOperation::NonBlockingLockExclusive, Duration::ZERO) {
        Ok(()) => Ok(true),
        Err(FsError::Held { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Polls for a lock until it is free or the pauses add up to `patience`.
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
