//! Strict in-memory adapters for every port.

mod bundle_sink;
mod session_rewriter;
mod source;

pub use bundle_sink::{MemoryBundle, MemoryBundleSink};
pub use session_rewriter::{MemoryFiles, MemoryHandle, MemorySession};
pub use source::MemorySources;
