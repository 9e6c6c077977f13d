//! Repair: what is wrong with a session, sidecar or rollout, line by line, and
//! what a sound copy of it contains.
//!
//! A file is read twice. [`RepairSurvey`] takes every line and produces a
//! [`Diagnosis`]; [`Rebuild`] takes every line again and returns the lines of the
//! copy. Every valid row is in the copy, unchanged or with a corrected parent or
//! ordinal. Only byte-for-byte repetitions of a row are left out.
//!
//! Memory does not grow with the file. A record of 56 bytes per row goes to a
//! scratch file when there are many, and is read back in slices. Held in memory
//! are one line, the rows taken from it, and the previous line if it broke off:
//! up to three times the longest line.

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
pub use survey::RepairSurvey;

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests;
