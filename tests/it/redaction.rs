//! Redaction across crates.
//!
//! - `laws`: laws of redaction
//! - `command`: `traj redact`, `traj scan` and `traj rules`

mod command;
mod laws;
