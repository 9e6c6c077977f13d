//! Reads events from standard input, and reports invalid lines.

use serde::Serialize;
use traj_core::event::{Event, InputEvent};
use traj_core::json::lines::Line;

use crate::output::CommandOutput;

/// How many lines of each kind are reported one by one on standard error.
const REPORTED_LINES: u64 = 20;

/// How many lines of each kind the document lists. The help text states it.
const LISTED_LINES: usize = 10_000;

/// Some programs write this at the start of a UTF-8 file.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A line that is not a valid event.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct InvalidLine {
    /// The line of the input.
    line: u64,
    /// Why it is not a valid event.
    reason: String,
}

/// A line with members that were not recorded.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct UnknownMembers {
    /// The line of the input.
    line: u64,
    /// The number of its unknown members.
    members: usize,
}

/// The problems found in the lines so far.
#[derive(Default)]
pub(super) struct Problems {
    /// Lines longer than this are not read.
    longest_line: usize,
    pub(super) invalid_lines: u64,
    pub(super) invalid: Vec<InvalidLine>,
    pub(super) lines_with_unknown_members: u64,
    pub(super) unknown_members: Vec<UnknownMembers>,
}

impl Problems {
    /// No problems yet; lines of up to this many bytes are read.
    pub(super) fn new(longest_line: usize) -> Self {
        Self { longest_line, ..Self::default() }
    }

    /// The event on a line; `None` for an empty or invalid line. An invalid line
    /// is reported unless it `is_cut_off`.
    pub(super) fn event_on(
        &mut self,
        number: u64,
        line: Line<'_>,
        is_cut_off: bool,
        output: &CommandOutput,
    ) -> Option<Event> {
        match read_event(number, line, self.longest_line) {
            Ok(None) => None,
            Ok(Some(InputEvent { event, unknown_members, .. })) => {
                if unknown_members > 0 {
                    self.add_unknown(number, unknown_members, output);
                }
                Some(event)
            }
            Err(_) if is_cut_off => None,
            Err(reason) => {
                self.add_invalid(number, reason, output);
                None
            }
        }
    }

    fn add_invalid(&mut self, line: u64, reason: String, output: &CommandOutput) {
        self.invalid_lines += 1;
        tell(self.invalid_lines, output, || format!("line {line}: {reason}"));
        if self.invalid.len() < LISTED_LINES {
            self.invalid.push(InvalidLine { line, reason });
        }
    }

    fn add_unknown(&mut self, line: u64, members: usize, output: &CommandOutput) {
        self.lines_with_unknown_members += 1;
        tell(self.lines_with_unknown_members, output, || {
            format!("line {line}: unknown fields ignored: {members}")
        });
        if self.unknown_members.len() < LISTED_LINES {
            self.unknown_members.push(UnknownMembers { line, members });
        }
    }
}

/// Reports the first lines of a kind, then once that there are more.
fn tell(count: u64, output: &CommandOutput, note: impl FnOnce() -> String) {
    if count <= REPORTED_LINES {
        output.note(&note());
    } else if count == REPORTED_LINES + 1 {
        output.note("and more; --json lists the line numbers");
    }
}

/// Parses a line: an event, `None` for an empty line, or why it is invalid.
fn read_event(
    number: u64,
    line: Line<'_>,
    longest_line: usize,
) -> Result<Option<InputEvent>, String> {
    let mut bytes = match line {
        Line::Whole(bytes) | Line::Cut(bytes) => bytes,
        Line::TooLong { .. } => return Err(format!("longer than {longest_line} bytes")),
    };
    if number == 1 {
        bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    }
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    InputEvent::parse_line(bytes).map(Some).map_err(|problem| problem.to_string())
}
