//! The lines that wait, and how many of them to try at once.

use std::ops::ControlFlow;

use super::Dropped;
use crate::capture::PendingLine;

/// Digits that a number in the file can have, and the line end.
const NUMBER_AND_LINE_END: usize = 21;

/// The lines that wait. They are tried all at once first, then in smaller parts.
#[derive(Debug, Default)]
pub(super) struct WritePlan {
    lines: Vec<PendingLine>,
    /// Lines in each part that is still to be tried; the last part comes first.
    parts: Vec<usize>,
    /// Set once the sidecar is full: what to do with the part under way.
    ending: Option<Ending>,
}

/// The last lines of a full sidecar.
#[derive(Clone, Copy, Debug)]
struct Ending {
    /// Lines that still fit, and are not written yet.
    fitting: usize,
    /// Lines of the part after those, which do not fit.
    beyond: usize,
}

impl WritePlan {
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn push(&mut self, line: PendingLine) {
        self.lines.push(line);
    }

    /// The lines to append next; none when all are written.
    pub(super) fn next(&mut self) -> &[PendingLine] {
        if self.parts.is_empty() && !self.lines.is_empty() {
            self.parts.push(self.lines.len());
        }
        let count = self.next_len();
        self.lines.get(..count).unwrap_or_default()
    }

    fn next_len(&self) -> usize {
        let part = self.parts.last().copied().unwrap_or_default();
        self.ending.map_or(part, |ending| ending.fitting)
    }

    /// The lines that were next are written; returns how many.
    pub(super) fn appended(&mut self) -> u64 {
        let count = self.next_len();
        self.lines.drain(..count);
        match &mut self.ending {
            Some(ending) => ending.fitting = 0,
            None => {
                self.parts.pop();
            }
        }
        count as u64
    }

    /// Tries the first half of the part next, if there is more than one line in
    /// it and it does not end the sidecar.
    pub(super) fn halve(&mut self) -> bool {
        let Some(part) = self.parts.pop_if(|part| *part > 1 && self.ending.is_none()) else {
            return false;
        };
        self.parts.extend([part - part / 2, part / 2]);
        true
    }

    /// Writes only those lines of the part that fit into `room` bytes. Breaks
    /// when they were to fit and did not.
    pub(super) fn fit_into(&mut self, room: u64) -> ControlFlow<()> {
        if self.ending.is_some() {
            return ControlFlow::Break(());
        }
        let part = self.parts.last().copied().unwrap_or_default();
        let fitting = count_fitting(self.lines.get(..part).unwrap_or_default(), room);
        self.ending = Some(Ending { fitting, beyond: part - fitting });
        ControlFlow::Continue(())
    }

    /// Drops the lines that do not fit, once those before them are written.
    pub(super) fn take_beyond(&mut self) -> Option<Dropped> {
        let Ending { beyond, .. } = self.ending.take_if(|ending| ending.fitting == 0)?;
        self.parts.pop();
        let lines: Vec<PendingLine> = self.lines.drain(..beyond).collect();
        let bytes = bytes_of(&lines);
        Some(Dropped { sidecar_full: beyond as u64, bytes, ..Dropped::default() })
    }

    /// The steps are over, for now: all that waits is tried at once again.
    pub(super) fn end(&mut self) {
        self.parts.clear();
        self.ending = None;
    }

    /// Forgets all lines; returns how many they are, and their bytes.
    pub(super) fn abandon(&mut self) -> (u64, u64) {
        self.end();
        let bytes = bytes_of(&self.lines);
        (self.lines.drain(..).count() as u64, bytes)
    }
}

/// Bytes that a line can have in the file at most.
pub(super) fn bytes_in_file(line: &PendingLine) -> usize {
    line.bytes_without_number() + NUMBER_AND_LINE_END
}

/// Bytes of lines in the file, without the digits of their numbers there.
fn bytes_of(lines: &[PendingLine]) -> u64 {
    lines.iter().map(|line| line.bytes_without_number() as u64 + 1).sum()
}

/// How many lines from the start fit into `room` bytes, whatever their numbers
/// in the file and with a line end that closes a torn line before them.
fn count_fitting(lines: &[PendingLine], room: u64) -> usize {
    let mut used = 1;
    lines
        .iter()
        .take_while(|line| {
            used += bytes_in_file(line);
            used as u64 <= room
        })
        .count()
}
