//! Rolls a full sidecar: copies its newest lines to a new file, which replaces
//! the old one in a single step.

use std::collections::BTreeSet;
use std::io::{self, Write as _};

use cap_std::fs::{Dir, File};
use traj_core::capture::{BlobDigest, BlobNames};

use super::handle::SidecarHandle;
use super::scan::read_at;
use crate::error::{Context as _, FsError};
use crate::safe::limited_file::LimitedFile;
use crate::safe::replace::put_in_place;

/// Replaces the sidecar with its last whole lines, at most `kept` bytes of
/// them, followed by `added`. Returns what was removed.
pub(super) fn replace_with_tail(
    folder: &Dir,
    name: &str,
    handle: &SidecarHandle,
    kept: u64,
    added: &str,
) -> Result<RolledLines, FsError> {
    // A torn line is kept with a line end that closes it, or removed as a
    // whole.
    let earliest = (handle.length + u64::from(handle.is_torn)).saturating_sub(kept);
    let start = line_start(&handle.file, earliest, handle.length).context("read", name)?;
    let torn_goes = handle.is_torn && start == handle.length;
    let mut gone = look_at(&handle.file, start).context("read", name)?;
    gone.lines += u64::from(torn_goes);
    put_in_place(folder, name, 0o600, |new| {
        copy(&handle.file, start, handle.length, new)?;
        if handle.is_torn && start < handle.length {
            new.write_all(b"\n")?;
        }
        new.write_all(added.as_bytes())
    })?;
    Ok(gone)
}

/// Lines that were removed.
#[derive(Debug)]
pub(super) struct RolledLines {
    pub(super) lines: u64,
    /// The blobs they referred to.
    pub(super) blobs: BTreeSet<BlobDigest>,
}

/// The offset of the first line that starts at `from` or later.
fn line_start(file: &File, from: u64, length: u64) -> io::Result<u64> {
    let mut buffer = [0; 4_096];
    // The byte before `from` shows whether a line starts at `from` itself.
    let mut at = from.saturating_sub(1);
    if from == 0 {
        return Ok(0);
    }
    while at < length {
        let count = read_at(file, &mut buffer, at)?;
        if count == 0 {
            break;
        }
        if let Some(end) = buffer[..count].iter().position(|byte| *byte == b'\n') {
            return Ok(at + end as u64 + 1);
        }
        at += count as u64;
    }
    Ok(length)
}

fn look_at(file: &File, to: u64) -> io::Result<RolledLines> {
    let (mut lines, mut names) = (0, BlobNames::default());
    for_each_chunk(file, 0, to, |chunk| {
        lines += chunk.iter().filter(|byte| **byte == b'\n').count() as u64;
        names.read(chunk);
        Ok(())
    })?;
    Ok(RolledLines { lines, blobs: names.finish() })
}

fn copy(file: &File, from: u64, to: u64, out: &mut LimitedFile) -> io::Result<()> {
    for_each_chunk(file, from, to, |chunk| out.write_all(chunk))
}

pub(super) fn for_each_chunk(
    file: &File,
    from: u64,
    to: u64,
    mut visit: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    let mut at = from;
    while at < to {
        let wanted = usize::try_from(to - at).unwrap_or(buffer.len()).min(buffer.len());
        let count = read_at(file, &mut buffer[..wanted], at)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        visit(&buffer[..count])?;
        at += count as u64;
    }
    Ok(())
}
