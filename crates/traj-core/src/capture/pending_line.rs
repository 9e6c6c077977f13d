//! A line that waits for its number in the file.

use std::fmt::Write as _;

use crate::json::Json;
use crate::redaction::Redacted;

/// Most lines need no more; those that do grow once or twice.
const USUAL_BYTES: usize = 512;

/// An encoded event, complete but for `sourceSeq`: only whoever holds the file
/// knows which number is next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingLine {
    text: String,
    /// Where in the text the number goes.
    number_at: usize,
}

impl PendingLine {
    pub(super) fn assemble(
        opening: &Redacted<String>,
        frame: &Redacted<String>,
        sequence: u64,
        context: &Redacted<String>,
        data: Option<&Redacted<Json<'static>>>,
    ) -> Self {
        let (opening, frame, context) = (opening.as_ref(), frame.as_ref(), context.as_ref());
        let mut text = String::with_capacity(USUAL_BYTES);
        text.push_str(opening);
        text.push(',');
        text.push_str(frame);
        // Writing to a string does not fail.
        write!(text, ",\"seq\":{sequence},\"sourceSeq\":").ok();
        let number_at = text.len();
        text.push(',');
        text.push_str(context);
        if let Some(data) = data {
            text.push_str(",\"data\":");
            data.as_ref().write_compact(&mut text);
        }
        text.push('}');
        Self { text, number_at }
    }

    /// Bytes of the line without its number in the file and its line end.
    #[must_use]
    pub const fn bytes_without_number(&self) -> usize {
        self.text.len()
    }

    /// Appends the line to `out` with its number and a line end.
    pub fn write(&self, source_sequence: u64, out: &mut String) {
        let (before, after) = self.text.split_at_checked(self.number_at).unwrap_or_default();
        out.push_str(before);
        // Writing to a string does not fail.
        write!(out, "{source_sequence}").ok();
        out.push_str(after);
        out.push('\n');
    }
}
