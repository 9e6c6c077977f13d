//! Writes no further than the process is allowed to.
//!
//! A write beyond the file size limit (`RLIMIT_FSIZE`) raises a signal that
//! ends the process, unless it is ignored. The process belongs to the host, so
//! the limit is checked first: a write that would exceed it fails like one to a
//! full disk.

use std::io::{self, Seek, SeekFrom, Write};

use cap_std::fs::File;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

/// Checks that a file may grow by this many bytes.
///
/// # Errors
/// When the process may not have a file of that size.
pub(crate) fn check_growth(position: u64, bytes: usize) -> io::Result<()> {
    let Some(limit) = getrlimit(Resource::Fsize).current else { return Ok(()) };
    if position.saturating_add(bytes as u64) > limit {
        return Err(Errno::FBIG.into());
    }
    Ok(())
}

/// A file that is written from its start and checks each write against the
/// limit.
#[derive(Debug)]
pub(crate) struct LimitedFile {
    file: File,
    position: u64,
}

impl LimitedFile {
    /// Wraps an empty file of ours.
    pub(crate) const fn new(file: File) -> Self {
        Self { file, position: 0 }
    }

    /// The file itself, for everything except writing.
    pub(crate) const fn as_file(&self) -> &File {
        &self.file
    }
}

impl Write for LimitedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check_growth(self.position, bytes.len())?;
        let count = self.file.write(bytes)?;
        self.position += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for LimitedFile {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        self.position = self.file.seek(place)?;
        Ok(self.position)
    }
}
