//! Advisory locks between processes that write to the same file.

use cap_std::fs::File;
use rustix::fs::{FlockOperation, flock};

use crate::error::{Context as _, FsError};

/// Holds the lock on a file until it is dropped.
#[derive(Debug)]
pub struct FileLock<'a> {
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
/// When the filesystem does not support locks.
pub fn lock_exclusive<'a>(file: &'a File, name: &str) -> Result<FileLock<'a>, FsError> {
    loop {
        match flock(file, FlockOperation::LockExclusive) {
            Ok(()) => return Ok(FileLock { file }),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(std::io::Error::from(errno)).context("lock", name),
        }
    }
}
