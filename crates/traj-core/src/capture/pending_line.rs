//! A line that waits for its sequence number in the file.

use std::sync::Arc;

use crate::redaction::RedactedText;

/// An encoded event that only lacks `sourceSeq`: only the writer that holds the
/// file knows the next number.
///
/// Lines that were captured together share one allocation of [`RedactedText`].
#[derive(Clone, Debug)]
pub struct PendingLine {
    line: UnnumberedLine,
    sequence: u64,
}

/// An encoded event that lacks both sequence numbers.
#[derive(Clone, Debug)]
pub struct UnnumberedLine {
    /// Several lines, one after another.
    block: Arc<RedactedText>,
    span: LineSpan,
}

/// The position of a line in its block.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineSpan {
    pub(super) start: usize,
    /// Where the sequence numbers are inserted.
    pub(super) numbers_at: usize,
    pub(super) end: usize,
}

impl UnnumberedLine {
    pub(super) const fn new(block: Arc<RedactedText>, span: LineSpan) -> Self {
        Self { block, span }
    }

    /// The line with the event's number in its run.
    #[must_use]
    pub const fn numbered(self, sequence: u64) -> PendingLine {
        PendingLine { line: self, sequence }
    }

    /// The parts before and after the sequence numbers.
    fn halves(&self) -> (&str, &str) {
        let LineSpan { start, numbers_at, end } = self.span;
        let half = |range| self.block.as_str().get(range).unwrap_or_default();
        (half(start..numbers_at), half(numbers_at..end))
    }
}

impl PendingLine {
    const SEQUENCE: &str = ",\"seq\":";
    const SOURCE_SEQUENCE: &str = ",\"sourceSeq\":";

    /// The line's length in bytes, without its number in the file and its
    /// newline.
    #[must_use]
    pub fn bytes_without_number(&self) -> usize {
        let LineSpan { start, end, .. } = self.line.span;
        let digits = self.sequence.checked_ilog10().unwrap_or(0) as usize + 1;
        end - start + Self::SEQUENCE.len() + digits + Self::SOURCE_SEQUENCE.len()
    }

    /// Appends the line to `out` with its number in the file and a newline.
    pub fn write(&self, source_sequence: u64, out: &mut String) {
        let (before, after) = self.line.halves();
        out.push_str(before);
        out.push_str(Self::SEQUENCE);
        out.push_str(itoa::Buffer::new().format(self.sequence));
        out.push_str(Self::SOURCE_SEQUENCE);
        out.push_str(itoa::Buffer::new().format(source_sequence));
        out.push_str(after);
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_written_in_decimal_and_counted(
            sequence in any::<u64>(),
            shift in 0_u32..64,
            source_sequence in any::<u64>(),
        ) {
            let sequence = sequence >> shift;
            let mut block = RedactedText::new();
            block.push_static("before{a}after");
            let line = UnnumberedLine::new(Arc::new(block), LineSpan { start: 6, numbers_at: 8, end: 9 });
            let line = line.numbered(sequence);
            let mut out = String::new();
            line.write(source_sequence, &mut out);
            let numbers = format!(",\"seq\":{sequence},\"sourceSeq\":{source_sequence}");
            prop_assert_eq!(&out, &format!("{{a{numbers}}}\n"));
            let number_and_end = source_sequence.to_string().len() + 1;
            prop_assert_eq!(line.bytes_without_number(), out.len() - number_and_end);
        }
    }
}
