//! Redaction across crates.
//!
//! - `laws`: laws of redaction
//! - `command`: `traj redact`, `traj scan` and `traj rules`
//! - `streams`: secrets across the rows of an exported session

mod command;
mod laws;
mod streams;
