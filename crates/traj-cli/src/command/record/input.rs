//! Events from standard input, and the lines that are none.

use serde::Serialize;
use traj_core::event::Event;

use crate::input_lines::InputLine;
use crate::output::Output;

/// Longest line of input that is taken; longer ones are reported.
pub(super) const LONGEST_LINE_BYTES: usize = 128 * 1024 * 1024;

/// Invalid lines that are told one by one.
const REPORTED_LINES: usize = 20;

/// A line that is no event.
#[derive(Debug, Serialize)]
pub(super) struct InvalidLine {
    line: u64,
    reason: String,
}

/// What was wrong with the lines so far.
#[derive(Default)]
pub(super) struct Problems {
    pub(super) invalid_lines: u64,
    pub(super) invalid: Vec<InvalidLine>,
}

impl Problems {
    /// The event on a line; nothing for a blank line, or for one that is
    /// neither, which is noted unless it `is_cut_off`.
    pub(super) fn event_on(
        &mut self,
        number: u64,
        line: &InputLine<'_>,
        is_cut_off: bool,
        output: &Output,
    ) -> Option<Event> {
        let event = read_event(line);
        if event.is_err() && is_cut_off {
            return None;
        }
        event.unwrap_or_else(|reason| {
            self.invalid_lines += 1;
            if self.invalid.len() < REPORTED_LINES {
                output.note(&format!("line {number}: {reason}"));
                self.invalid.push(InvalidLine { line: number, reason });
            }
            None
        })
    }
}

/// An event, nothing for a blank line, or why the line is neither.
fn read_event(line: &InputLine<'_>) -> Result<Option<Event>, String> {
    match line {
        InputLine::TooLong => Err(format!("longer than {LONGEST_LINE_BYTES} bytes")),
        InputLine::Whole(bytes) if bytes.trim_ascii().is_empty() => Ok(None),
        InputLine::Whole(bytes) => {
            Event::parse_line(bytes).map(Some).map_err(|problem| problem.to_string())
        }
    }
}
