//! Reading at an offset.

use std::io;

use cap_std::fs::File;
use rustix::io::{Errno, pread};

/// Reads at an offset. Returns fewer bytes than requested only at the end.
pub(crate) fn read_at(file: &File, space: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = space.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match pread(file, rest, offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(filled)
}

/// A file from an offset to its end, whatever the position of its handle.
#[cfg(feature = "zstd")]
#[derive(Debug)]
pub(crate) struct FileReader<'f> {
    file: &'f File,
    offset: u64,
}

#[cfg(feature = "zstd")]
impl<'f> FileReader<'f> {
    pub(crate) const fn new(file: &'f File, offset: u64) -> Self {
        Self { file, offset }
    }
}

#[cfg(feature = "zstd")]
impl io::Read for FileReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = read_at(self.file, buffer, self.offset)?;
        self.offset = self.offset.saturating_add(count as u64);
        Ok(count)
    }
}
