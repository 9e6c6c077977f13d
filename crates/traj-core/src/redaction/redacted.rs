//! Redacted values, and how they are combined without losing the proof.
//!
//! The constructors of [`Redacted`] are private to redaction. The operations
//! here are the only way to make one redacted value from others.
//!
//! - `constant`: [`ConstantText`], a text that the program was compiled with;
//! - `proof`: [`Redacted`], the proof that a value was redacted;
//! - `value`: cuts and extends redacted JSON;
//! - `text`: [`RedactedText`], a text assembled from redacted parts;
//! - `spill`: redacted texts in a scratch file.

mod constant;
mod proof;
mod spill;
mod text;
mod value;

pub use constant::{Constant, ConstantText};
pub use proof::Redacted;
pub use spill::{RedactedSpill, SpillError, SpillSlot};
pub use text::RedactedText;
