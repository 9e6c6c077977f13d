//! Redaction across crates.
//!
//! - `laws`: laws that every redaction obeys
//! - `command`: `traj redact`, `traj scan` and `traj rules`

mod command;
mod laws;
