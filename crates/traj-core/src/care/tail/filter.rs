//! Selects events and redacts their rows.

use super::TailEvent;
use crate::json::Json;

/// Decides which events are wanted, and redacts secrets.
///
/// A row is redacted before anything in it is truncated: no rule recognises half
/// a secret.
pub trait EventFilter {
    /// Whether events of this type are wanted. Other rows are neither redacted
    /// nor summarised.
    fn wants_type(&self, kind: &str) -> bool;

    /// Whether events of every type are wanted. Each row is then parsed once;
    /// otherwise it is skimmed for its type first.
    fn wants_every_type(&self) -> bool {
        false
    }

    /// The row as it may be shown.
    fn redact<'r>(&self, row: Json<'r>) -> Json<'r>;

    /// Whether this event of a wanted type is wanted; `row` is redacted.
    fn wants(&self, event: &TailEvent, row: &Json<'_>) -> bool;
}

/// Keeps no event: for lines that are read for their times only.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct KeepNothing;

impl EventFilter for KeepNothing {
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
