//! Redacted values, and how they are combined without losing the proof.
//!
//! - `proof`: [`Redacted`], the proof that redaction has seen a value;
//! - `text`: [`RedactedText`], a text assembled from redacted parts;
//! - `spill`: redacted texts in a scratch file.

mod proof;
mod spill;
mod text;

pub use proof::Redacted;
pub use spill::{RedactedSpill, SpillSlot};
pub use text::RedactedText;
