//! Repair: what is wrong with a session, sidecar or rollout, line by line, and
//! how a sound copy of it looks.
//!
//! A file is read twice. [`Survey`] hears every line and ends in a
//! [`Diagnosis`]; [`Rebuild`] hears every line again and says what the copy
//! holds. A line that is valid is in the copy: unchanged, or with a corrected
//! parent or ordinal; only a byte-for-byte repetition of a row is left out.

mod diagnosis;
mod links;
mod rebuild;
mod row;
mod salvage;
mod survey;

pub use diagnosis::{Diagnosis, DocumentKind, Finding, Problem};
pub use rebuild::Rebuild;
pub use survey::Survey;

#[cfg(test)]
mod tests;
