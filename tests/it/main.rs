//! The one integration-test binary.

mod rewrite_interleavings;
mod session_rewriter_contract;
