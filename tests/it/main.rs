//! The one integration-test binary.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "helpers of a test fail by panicking, as the test does"
)]

mod bundle;
mod care;
mod cli;
mod codex;
mod contract;
mod convert;
mod export;
mod gather;
mod hosts;
mod lake;
mod page;
mod reading;
mod real_agents;
mod recorder;
mod redaction;
mod sidecar;
