//! Scans a sidecar's lines in bounded memory.

use std::io;
use std::ops::ControlFlow;

use cap_std::fs::{File, FileExt as _};
use traj_core::json::lines::{Line, Lines};
use traj_core::limits::Reading;
use traj_core::port::{is_credible_sequence, source_sequence_of};

const CHUNK_BYTES: usize = 64 * 1024;

const LIMITS: Reading = Reading::standard();

/// The result of scanning a range.
pub(super) struct ScannedLines {
    /// The highest number of a line.
    pub(super) last_sequence: u64,
    /// Whether the range does not end with a line end.
    pub(super) is_torn: bool,
}

/// Reads the numbers of the lines between two offsets. `last_sequence` is the
/// highest number before them.
pub(super) fn numbers(
    file: &File,
    from: u64,
    to: u64,
    mut last_sequence: u64,
) -> io::Result<ScannedLines> {
    let mut lines = Lines::new(LIMITS.sidecar_line_bytes);
    let mut begin = from;
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut at = from;
    while at < to {
        let wanted = usize::try_from(to - at).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
        let count = read_at(file, &mut buffer[..wanted], at)?;
        if count == 0 {
            break;
        }
        at += count as u64;
        let looked = lines.push(&buffer[..count], |line| {
            let number = match line {
                Line::Whole(line) | Line::Cut(line) => source_sequence_of(line, last_sequence),
                Line::TooLong { .. } => match start_of_line(file, begin) {
                    Ok(start) => sequence_in_start(&start)
                        .filter(|number| is_credible_sequence(*number, last_sequence)),
                    Err(error) => return ControlFlow::Break(error),
                },
            };
            begin += line.span();
            last_sequence = last_sequence.max(number.unwrap_or(0));
            ControlFlow::Continue(())
        });
        if let ControlFlow::Break(error) = looked {
            return Err(error);
        }
    }
    let is_torn = lines.finish(|_| ControlFlow::Break(())).is_break();
    Ok(ScannedLines { last_sequence, is_torn })
}

/// The start of a line that is too long to be read as a whole.
fn start_of_line(file: &File, begin: u64) -> io::Result<Vec<u8>> {
    let mut start = vec![0; LIMITS.first_line_bytes];
    let mut known = 0;
    while known < start.len() {
        match read_at(file, &mut start[known..], begin + known as u64)? {
            0 => break,
            count => known += count,
        }
    }
    start.truncate(known);
    Ok(start)
}

/// The number in the start of a line that is too long to be read as a whole.
/// Inside a string the quotes would be escaped, so the match is unambiguous.
fn sequence_in_start(line: &[u8]) -> Option<u64> {
    const MEMBER: &[u8] = b",\"sourceSeq\":";
    let at = line.windows(MEMBER.len()).position(|window| window == MEMBER)? + MEMBER.len();
    let digits: Vec<u8> = line[at..].iter().copied().take_while(u8::is_ascii_digit).collect();
    String::from_utf8(digits).ok()?.parse().ok()
}

/// Reads at an offset; retries when a signal interrupts.
pub(super) fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    loop {
        match file.read_at(buffer, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}
