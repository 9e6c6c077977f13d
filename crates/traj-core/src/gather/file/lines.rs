//! Reads a source line by line.

use std::ops::ControlFlow;

use super::super::GatherError;
use crate::json::lines::{Line, Lines};
use crate::limits::Reading;
use crate::port::Source;

/// How much is read at once.
const BLOCK: usize = 256 * 1024;

/// Longer lines are not looked into. Readers skip them too.
pub(super) const LONGEST: usize = Reading::standard().session_line_bytes;

/// Whether the next line is wanted.
pub(super) type Flow = Result<ControlFlow<()>, GatherError>;

/// Shows the lines of a source from an offset on, each with its offset, until
/// `show` breaks.
pub(super) fn each_line(
    source: &dyn Source,
    from: u64,
    show: &mut dyn FnMut(u64, Line<'_>) -> Flow,
) -> Result<(), GatherError> {
    let mut lines = Lines::new(LONGEST);
    let (mut position, mut offset) = (from, from);
    let mut block = Vec::new();
    while position < source.len() {
        let rest = usize::try_from(source.len() - position).unwrap_or(BLOCK);
        block.resize(rest.min(BLOCK), 0);
        source.read_exact_at(position, &mut block)?;
        position += block.len() as u64;
        let mut take = |line: Line<'_>| {
            let start = offset;
            offset += line.span();
            match show(start, line) {
                Ok(ControlFlow::Continue(())) => ControlFlow::Continue(()),
                Ok(ControlFlow::Break(())) => ControlFlow::Break(Ok(())),
                Err(error) => ControlFlow::Break(Err(error)),
            }
        };
        let mut flow = lines.push(&block, &mut take);
        if position >= source.len() && flow.is_continue() {
            flow = lines.finish(take);
        }
        if let ControlFlow::Break(end) = flow {
            return end;
        }
    }
    Ok(())
}

/// Reads a part of a source: a line that was seen before, or a document.
pub(super) fn read(source: &dyn Source, from: u64, length: u64) -> Result<Vec<u8>, GatherError> {
    let length = usize::try_from(length).map_err(|_| GatherError::TooLarge)?;
    let mut bytes = vec![0; length];
    source.read_exact_at(from, &mut bytes)?;
    Ok(bytes)
}
