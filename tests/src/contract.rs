//! One suite per port, run on the in-memory adapter and on the filesystem.

pub mod binding_store;
pub mod session_rewriter;
pub mod trajectory_store;
