//! Strict in-memory adapters for every port.

mod session_rewriter;

pub use session_rewriter::{MemoryFiles, MemoryHandle, MemorySession};
