//! The pending lines, and how many of them to try at once.

use std::ops::ControlFlow;

use super::Dropped;
use crate::capture::PendingLine;

/// The most digits of a number in the file, and the newline.
const NUMBER_AND_LINE_END: usize = 21;

/// The pending lines. They are tried all at once first, then in smaller parts.
#[derive(Debug, Default)]
pub(super) struct WritePlan {
    lines: Vec<PendingLine>,
    /// The sizes of the parts that are still to be tried, in reverse order.
    parts: Vec<usize>,
    /// Set once the sidecar is full: what to do with the current part.
    ending: Option<Ending>,
}

/// The last lines of a full sidecar.
#[derive(Clone, Copy, Debug)]
struct Ending {
    /// Lines that still fit but are not written yet.
    fitting: usize,
    /// The part's remaining lines, which do not fit.
    beyond: usize,
}

impl WritePlan {
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn push(&mut self, line: PendingLine) {
        self.lines.push(line);
    }

    /// The lines to append next; empty when all are written.
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

    /// Removes the lines that were next, now that they are written; returns how
    /// many.
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

    /// Splits the current part, to try its first half next. Does nothing if it
    /// has only one line or if the sidecar is already full.
    pub(super) fn halve(&mut self) -> bool {
        let Some(part) = self.parts.pop_if(|part| *part > 1 && self.ending.is_none()) else {
            return false;
        };
        self.parts.extend([part - part / 2, part / 2]);
        true
    }

    /// Limits the current part to the lines that fit into `room` bytes. Breaks
    /// if this was done before: lines that should have fitted did not.
    pub(super) fn fit_into(&mut self, room: u64) -> ControlFlow<()> {
        if self.ending.is_some() {
            return ControlFlow::Break(());
        }
        let part = self.parts.last().copied().unwrap_or_default();
        let fitting = count_fitting(self.lines.get(..part).unwrap_or_default(), room);
        self.ending = Some(Ending { fitting, beyond: part - fitting });
        ControlFlow::Continue(())
    }

    /// Drops the lines that do not fit, once the lines before them are written.
    pub(super) fn take_beyond(&mut self) -> Option<Dropped> {
        let Ending { beyond, .. } = self.ending.take_if(|ending| ending.fitting == 0)?;
        self.parts.pop();
        let lines: Vec<PendingLine> = self.lines.drain(..beyond).collect();
        let bytes = bytes_of(&lines);
        Some(Dropped { sidecar_full: beyond as u64, bytes, ..Dropped::default() })
    }

    /// Ends the steps: the next try starts with all pending lines at once.
    pub(super) fn end(&mut self) {
        self.parts.clear();
        self.ending = None;
    }

    /// Discards all lines; returns their number and their bytes.
    pub(super) fn abandon(&mut self) -> (u64, u64) {
        self.end();
        let bytes = bytes_of(&self.lines);
        (self.lines.drain(..).count() as u64, bytes)
    }
}

/// The most bytes that a line can take in the file.
pub(super) fn bytes_in_file(line: &PendingLine) -> usize {
    line.bytes_without_number() + NUMBER_AND_LINE_END
}

/// The bytes of lines in the file, without the digits of their numbers there.
fn bytes_of(lines: &[PendingLine]) -> u64 {
    lines.iter().map(|line| line.bytes_without_number() as u64 + 1).sum()
}

/// How many of the first lines fit into `room` bytes, whatever their numbers in
/// the file, including a newline to close a torn line before them.
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
