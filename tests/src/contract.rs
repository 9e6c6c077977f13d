//! One suite per port, run on the in-memory adapter and on the filesystem.

pub mod session_rewriter;
