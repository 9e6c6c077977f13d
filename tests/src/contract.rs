//! One suite per port, run on the in-memory adapter and on the filesystem.

pub mod binding_store;
pub mod blob_folder;
pub mod bundle_sink;
pub mod bundle_source;
pub mod line_log;
pub mod scratch;
pub mod session_rewriter;
pub mod source;
pub mod trajectory_store;
