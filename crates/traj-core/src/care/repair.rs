//! Repair: what is wrong with a session, sidecar or rollout, line by line, and
//! how a sound copy of it looks.
//!
//! A file is read twice. [`Survey`] takes every line and ends in a
//! [`Diagnosis`]; [`Rebuild`] takes every line again and returns what the copy
//! holds. A line that is valid is in the copy: unchanged, or with a corrected
//! parent or ordinal; only a byte-for-byte repetition of a row is left out.
//!
//! Memory does not grow with the file: a record of 56 bytes a row goes to a
//! scratch file when there are many, and is read again in slices. What is held
//! whole is one line, what is taken out of it, and the line before it if that
//! broke off: up to three times the longest line.

mod diagnosis;
mod error;
mod ledger;
mod links;
#[cfg(test)]
#[cfg(feature = "memory")]
mod links_oracle;
mod rebuild;
mod salvage;
mod survey;

pub use diagnosis::{Diagnosis, DocumentKind, LineProblem, Problem};
pub use error::RepairError;
pub use rebuild::Rebuild;
pub use survey::Survey;

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests;
