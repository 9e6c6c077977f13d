//! Programs and permissions of the host that tests need, and what to do without them.
//!
//! - [`skipped`]: reports a test that cannot run here; in CI that is a failure
//! - [`pinned`]: third-party programs that `cargo xtask` installs
//! - [`strace`]: system calls that fail
//! - [`small_disk`]: a filesystem that is easily filled

pub mod pinned;
pub mod skipped;
pub mod small_disk;
pub mod strace;
