//! What was learned about strings that come again.
//!
//! - `names`: member names and short strings, compared whole;
//! - `texts`: longer strings, known by a hash.

pub(super) mod names;
pub(super) mod texts;
