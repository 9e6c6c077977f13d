//! The one integration-test binary.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "helpers of a test fail by panicking, as the test does"
)]

mod binding_store_contract;
mod codex_lifecycle;
mod rewrite_filesystem;
mod rewrite_interleavings;
mod session_rewriter_contract;
mod traj_binary;
mod trajectory_store_contract;
