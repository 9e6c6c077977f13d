//! The one integration-test binary.

mod binding_store_contract;
mod rewrite_interleavings;
mod session_rewriter_contract;
