//! Bundles as they lie on disk: packed, checked, and kept readable across versions.
//!
//! - `archives`: archives that must not be read
//! - `verify`: `traj verify`, with hostile bundles in `verify/hostile.rs`
//! - `old_versions`: bundles that earlier versions wrote

mod archives;
mod old_versions;
mod verify;
