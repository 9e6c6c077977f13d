//! Selects events, and hides what must not be shown.

use super::TailEvent;
use crate::json::Json;

/// Decides which events are wanted and hides what must not be shown.
///
/// A row is redacted before anything of it is cut: half a secret is one that
/// nobody recognises.
pub trait Screen {
    /// Whether events of this type are wanted. The rows of others are neither
    /// redacted nor put into words.
    fn wants_type(&self, kind: &str) -> bool;

    /// The row as it may be shown.
    fn redact<'r>(&self, row: Json<'r>) -> Json<'r>;

    /// Whether this event of a wanted type is wanted; `row` is redacted.
    fn wants(&self, event: &TailEvent, row: &Json<'_>) -> bool;
}

/// Wants nothing: for lines that are read only for their times.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct WantsNothing;

impl Screen for WantsNothing {
    fn wants_type(&self, _kind: &str) -> bool {
        false
    }

    fn redact<'r>(&self, row: Json<'r>) -> Json<'r> {
        row
    }

    fn wants(&self, _event: &TailEvent, _row: &Json<'_>) -> bool {
        false
    }
}
