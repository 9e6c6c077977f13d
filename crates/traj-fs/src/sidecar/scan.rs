//! Looking through a sidecar's lines in bounded memory.

use std::io;

use cap_std::fs::{File, FileExt as _};
use traj_core::port::{is_credible_sequence, source_sequence_of};

const CHUNK_BYTES: usize = 64 * 1024;

/// More of a line than this is not kept in memory.
pub(crate) const LONGEST_LINE_BYTES: usize = 64 * 1024 * 1024;

/// What a stretch of a sidecar tells.
pub(super) struct Seen {
    /// The highest number of a line.
    pub(super) last_sequence: u64,
    /// The stretch does not end with a line end.
    pub(super) is_torn: bool,
}

/// Looks at the numbers of the lines between two offsets; `last_sequence` is
/// the highest of those above.
pub(super) fn numbers(file: &File, from: u64, to: u64, mut last_sequence: u64) -> io::Result<Seen> {
    let mut line: Vec<u8> = Vec::new();
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut at = from;
    let mut last_byte = b'\n';
    while at < to {
        let wanted = usize::try_from(to - at).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
        let count = read_at(file, &mut buffer[..wanted], at)?;
        if count == 0 {
            break;
        }
        at += count as u64;
        last_byte = buffer[count - 1];
        for piece in buffer[..count].split_inclusive(|byte| *byte == b'\n') {
            let room = LONGEST_LINE_BYTES - line.len();
            line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                let number = if line.len() < LONGEST_LINE_BYTES {
                    source_sequence_of(&line, last_sequence)
                } else {
                    sequence_in_start(&line)
                        .filter(|number| is_credible_sequence(*number, last_sequence))
                };
                last_sequence = last_sequence.max(number.unwrap_or(0));
                line.clear();
            }
        }
    }
    Ok(Seen { last_sequence, is_torn: last_byte != b'\n' })
}

/// The number in the start of a line that is too long to be read as a whole.
/// In a text the quotes would be escaped, so it cannot be mistaken.
fn sequence_in_start(line: &[u8]) -> Option<u64> {
    const MEMBER: &[u8] = b",\"sourceSeq\":";
    let at = line.windows(MEMBER.len()).position(|window| window == MEMBER)? + MEMBER.len();
    let digits: Vec<u8> = line[at..].iter().copied().take_while(u8::is_ascii_digit).collect();
    String::from_utf8(digits).ok()?.parse().ok()
}

/// Reads at an offset, again when a signal came between.
pub(super) fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    loop {
        match file.read_at(buffer, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}
