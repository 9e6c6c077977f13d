//! The rows that contexts are built from.

use std::ops::Range;

use super::ContextError;
use crate::gather::{GatherError, RowReader};
use crate::json::Json;
use crate::port::Source;

/// How much is read at once.
const BLOCK: usize = 1024 * 1024;

/// A row of Claude Code.
#[derive(Debug)]
#[non_exhaustive]
pub struct ContextRow<'r> {
    /// The row, as Claude Code wrote it or as redaction left it.
    pub row: Json<'r>,
    /// The bytes of the file that hold it.
    pub place: Range<u64>,
}

impl<'r> ContextRow<'r> {
    /// A row in these bytes of its file.
    #[must_use]
    pub const fn new(row: Json<'r>, place: Range<u64>) -> Self {
        Self { row, place }
    }

    /// How many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        usize::try_from(self.place.end.saturating_sub(self.place.start)).unwrap_or(usize::MAX)
    }
}

/// Takes a row.
pub type TakeContextRow<'t> = dyn FnMut(ContextRow<'_>) -> Result<(), ContextError> + 't;

/// The rows of a session, which are read as often as they are needed.
pub trait ContextRows {
    /// Passes the rows in order; those that contain none of the texts `marks` may be
    /// left out.
    ///
    /// # Errors
    /// If the rows cannot be read, and any error of `take`.
    fn each(&self, marks: &[&str], take: &mut TakeContextRow<'_>) -> Result<(), ContextError>;

    /// Whether they were redacted, so that only unchanged parts match their hashes.
    fn are_redacted(&self) -> bool;
}

/// Whether a text contains one of these.
#[must_use]
pub fn contains_any(text: &[u8], marks: &[&str]) -> bool {
    marks.iter().any(|mark| memchr::memmem::find(text, mark.as_bytes()).is_some())
}

/// The rows of a session file.
pub(super) struct SourceRows<'s>(pub(super) &'s dyn Source);

impl ContextRows for SourceRows<'_> {
    fn each(&self, marks: &[&str], take: &mut TakeContextRow<'_>) -> Result<(), ContextError> {
        let mut reader = RowReader::new(self.0, BLOCK);
        let (mut start, mut end) = (0, 0);
        while let Some(piece) = reader.next().map_err(source_error)? {
            end += piece.bytes.len() as u64;
            let place = start..end;
            if piece.ends {
                end += 1;
                start = end;
            }
            if !piece.is_whole || !contains_any(piece.bytes, marks) {
                continue;
            }
            if let Ok(row) = Json::parse_lossy(piece.bytes) {
                take(ContextRow { row, place })?;
            }
        }
        Ok(())
    }

    fn are_redacted(&self) -> bool {
        false
    }
}

fn source_error(error: GatherError) -> ContextError {
    ContextError::Source(error.into_source_error("the session"))
}
