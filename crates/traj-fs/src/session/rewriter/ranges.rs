//! Reads ranges of a file.

use std::io;

use cap_std::fs::File;
use traj_core::care::rewrite::{GenerationRange, LineStream, StreamCounts};
use traj_core::port::LineEdit;

use crate::safe::position::read_at;

/// Bytes copied at a time.
const COPY_BLOCK: usize = 256 * 1024;

/// Runs the first `end` bytes of a file through an edit.
pub(super) fn stream(
    file: &File,
    end: u64,
    edit: &mut dyn LineEdit,
    out: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<StreamCounts> {
    let mut lines = LineStream::default();
    let mut at = 0;
    while at < end {
        let space = lines.space();
        let wanted = usize::try_from(end - at).unwrap_or(usize::MAX).min(space.len());
        let count = read_at(file, &mut space[..wanted], at)?;
        if count == 0 {
            // It was truncated while we read it: another process is rewriting
            // it.
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter"));
        }
        lines.filled(count);
        lines.pump(edit, out)?;
        at += count as u64;
    }
    lines.finish(edit, out)?;
    Ok(lines.counts())
}

/// Appends a part of a file to another one.
pub(super) fn copy(
    source: &File,
    piece: GenerationRange,
    target: &mut impl io::Write,
) -> io::Result<()> {
    let mut block = vec![0; COPY_BLOCK];
    let mut at = piece.from;
    while at < piece.to {
        let wanted = usize::try_from(piece.to - at).unwrap_or(usize::MAX).min(block.len());
        let count = read_at(source, &mut block[..wanted], at)?;
        if count == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter"));
        }
        target.write_all(&block[..count])?;
        at += count as u64;
    }
    Ok(())
}

/// The number of bytes in a range up to and including its last line end.
pub(super) fn last_line_end(source: &File, piece: GenerationRange) -> io::Result<u64> {
    let mut block = vec![0; COPY_BLOCK];
    let mut at = piece.from;
    let mut end = 0;
    while at < piece.to {
        let wanted = usize::try_from(piece.to - at).unwrap_or(usize::MAX).min(block.len());
        let count = read_at(source, &mut block[..wanted], at)?;
        if count == 0 {
            break;
        }
        if let Some(last) = block[..count].iter().rposition(|byte| *byte == b'\n') {
            end = at - piece.from + last as u64 + 1;
        }
        at += count as u64;
    }
    Ok(end)
}
