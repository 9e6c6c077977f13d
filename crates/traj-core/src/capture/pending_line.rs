//! A line that waits for its number in the file.

use std::sync::Arc;

/// An encoded event, complete but for `sourceSeq`: only whoever holds the file
/// knows which number is next.
///
/// Lines that were captured together share one piece of memory.
#[derive(Clone, Debug)]
pub struct PendingLine {
    line: UnnumberedLine,
    sequence: u64,
}

/// An encoded event without a number of any kind.
#[derive(Clone, Debug)]
pub struct UnnumberedLine {
    /// The texts of several lines, one behind the other.
    block: Arc<BlockText>,
    place: Place,
}

/// The texts of the lines of a block.
#[derive(Debug)]
pub(super) struct BlockText(pub(super) String);

/// Where in a block a line stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) start: usize,
    /// Where the numbers go.
    pub(super) numbers_at: usize,
    pub(super) end: usize,
}

impl UnnumberedLine {
    pub(super) const fn new(block: Arc<BlockText>, place: Place) -> Self {
        Self { block, place }
    }

    /// The line with the event's number in its run.
    #[must_use]
    pub const fn numbered(self, sequence: u64) -> PendingLine {
        PendingLine { line: self, sequence }
    }

    /// What stands before the numbers and behind them.
    fn halves(&self) -> (&str, &str) {
        let Place { start, numbers_at, end } = self.place;
        let half = |range| self.block.0.get(range).unwrap_or_default();
        (half(start..numbers_at), half(numbers_at..end))
    }
}

impl PendingLine {
    const SEQUENCE: &str = ",\"seq\":";
    const SOURCE_SEQUENCE: &str = ",\"sourceSeq\":";

    /// Bytes of the line without its number in the file and its line end.
    #[must_use]
    pub fn bytes_without_number(&self) -> usize {
        let Place { start, end, .. } = self.line.place;
        let digits = self.sequence.checked_ilog10().unwrap_or(0) as usize + 1;
        end - start + Self::SEQUENCE.len() + digits + Self::SOURCE_SEQUENCE.len()
    }

    /// Appends the line to `out` with its number and a line end.
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
            let block = Arc::new(BlockText("before{a}behind".to_owned()));
            let line = UnnumberedLine::new(block, Place { start: 6, numbers_at: 8, end: 9 });
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
