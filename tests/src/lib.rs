//! Contract suites and builders that the tests share.
#![expect(clippy::expect_used, reason = "a suite fails by panicking, with a reason")]

pub mod codex_rig;
pub mod contract;
pub mod dice;
pub mod export_fixture;
pub mod export_home;
pub mod json_schema;
pub mod model_server;
pub mod pinned;
pub mod rows;
pub mod session_fixtures;
pub mod sidecar;
pub mod skipped;
pub mod small_disk;
pub mod strace;
pub mod stub_store;
pub mod traj_binary;
