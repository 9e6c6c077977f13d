//! Runs work on several cores.
//!
//! - `ordered`: a parallel map whose results come out in the order of the input;
//! - `reusable`: buffers that are cleared and used again.

pub(crate) mod ordered;
pub(crate) mod reusable;
