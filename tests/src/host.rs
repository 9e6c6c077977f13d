//! What tests need from the host, and what they do where it is missing.
//!
//! - [`skipped`]: a test that cannot run here says so, and fails in CI
//! - [`pinned`]: programs of others that `cargo xtask` installs
//! - [`strace`]: system calls that fail
//! - [`small_disk`]: a filesystem that is soon full

pub mod pinned;
pub mod skipped;
pub mod small_disk;
pub mod strace;
