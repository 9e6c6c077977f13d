//! Bundles on disk: archives, verification, and compatibility across versions.
//!
//! - `archives`: archives that must be refused
//! - `verify`: `traj verify`, with hostile bundles in `verify/hostile.rs`
//! - `old_versions`: bundles that earlier versions wrote

mod archives;
mod old_versions;
mod verify;
