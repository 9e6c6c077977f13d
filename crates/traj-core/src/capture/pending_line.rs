//! A line that waits for its number in the file.

use crate::redaction::Redacted;

/// An encoded event, complete but for `sourceSeq`: only whoever holds the file
/// knows which number is next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingLine {
    before: String,
    after: String,
}

impl PendingLine {
    pub(super) fn assemble(
        opening: &Redacted<String>,
        frame: &Redacted<String>,
        sequence: u64,
        context: &Redacted<String>,
        data: Option<&Redacted<String>>,
    ) -> Self {
        let (opening, frame, context) = (opening.as_ref(), frame.as_ref(), context.as_ref());
        let before = format!("{opening},{frame},\"seq\":{sequence},\"sourceSeq\":");
        let after = match data {
            Some(data) => format!(",{context},\"data\":{}}}", data.as_ref()),
            None => format!(",{context}}}"),
        };
        Self { before, after }
    }

    /// Bytes of the line without its number in the file and its line end.
    #[must_use]
    pub const fn bytes_without_number(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// Appends the line to `out` with its number and a line end.
    pub fn write(&self, source_sequence: u64, out: &mut String) {
        use std::fmt::Write as _;
        out.push_str(&self.before);
        // Writing to a string does not fail.
        write!(out, "{source_sequence}").ok();
        out.push_str(&self.after);
        out.push('\n');
    }
}
