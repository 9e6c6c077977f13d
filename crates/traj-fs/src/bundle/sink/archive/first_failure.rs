//! A file that hides its first failure from its writer and keeps it for the
//! caller.
//!
//! A zip writer finishes its archive when it is dropped, even after a failure,
//! and prints to standard error if that fails. So failures are hidden from it:
//! after the first one, nothing is written and every call succeeds.

use std::cell::RefCell;
use std::io::{self, Seek, SeekFrom, Write};

use crate::safe::limited_file::LimitedFile;

/// The first failure, if there was one.
#[derive(Debug, Default)]
pub(super) struct FirstFailure(RefCell<Option<io::Error>>);

impl FirstFailure {
    /// Returns the failure, once.
    pub(super) fn take(&self) -> io::Result<()> {
        self.0.take().map_or(Ok(()), Err)
    }

    fn is_set(&self) -> bool {
        self.0.borrow().is_some()
    }
}

/// A file whose first failure is kept for later.
#[derive(Debug)]
pub(super) struct FailureKeeper<'f> {
    file: &'f mut LimitedFile,
    failure: &'f FirstFailure,
    position: u64,
    has_failed: bool,
}

impl<'f> FailureKeeper<'f> {
    pub(super) fn new(file: &'f mut LimitedFile, failure: &'f FirstFailure) -> Self {
        Self { file, failure, position: 0, has_failed: false }
    }

    /// Keeps a failure for later. An interrupted call is not a failure: it is
    /// retried.
    fn excuse<T>(&mut self, tried: io::Result<T>, instead: T) -> io::Result<T> {
        match tried {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.has_failed = true;
                self.failure.0.replace(Some(error));
                Ok(instead)
            }
            done => done,
        }
    }
}

impl Write for FailureKeeper<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut count = bytes.len();
        if !self.has_failed {
            let written = self.file.write(bytes);
            count = self.excuse(written, count)?;
        }
        self.position += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.has_failed {
            return Ok(());
        }
        let flushed = self.file.flush();
        self.excuse(flushed, ())
    }
}

impl Seek for FailureKeeper<'_> {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        let wanted = match place {
            SeekFrom::Start(position) => position,
            // After a failure, the position is no longer used.
            SeekFrom::Current(distance) | SeekFrom::End(distance) => {
                self.position.saturating_add_signed(distance)
            }
        };
        self.position = wanted;
        if !self.has_failed {
            let reached = self.file.seek(place);
            self.position = self.excuse(reached, wanted)?;
        }
        Ok(self.position)
    }
}

/// Copies until the end or the first failure.
pub(super) fn copy(
    mut from: impl io::Read,
    to: &mut impl Write,
    failure: &FirstFailure,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        to.write_all(buffer.get(..count).unwrap_or_default())?;
        if failure.is_set() {
            return Ok(());
        }
    }
}
