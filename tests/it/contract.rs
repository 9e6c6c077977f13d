//! The contract suites of `traj_tests::contract`, run on every adapter of a port.
//!
//! Each file also contains tests that concern only one adapter.
//!
//! - `trajectory_store`, and random operations on it in `trajectory_store_model`
//! - `source`, `bundle_sink`, `bundle_source`: what an export reads and writes
//! - `session_rewriter`, `trim_logs`: what a trim uses
//! - `binding_store`, `turn_leases`: what the Codex binding uses
//! - `dataset_store`: where sessions are shipped to; `object_store`: the faults of
//!   remote ones
//! - `tables`: the databases in which agents keep sessions
//! - `scratch`: files for intermediate results

mod binding_store;
mod bundle_sink;
mod bundle_source;
mod dataset_store;
mod object_store;
mod scratch;
mod session_rewriter;
mod source;
mod tables;
mod trace_receiver;
mod trajectory_store;
mod trajectory_store_model;
mod trim_logs;
mod turn_leases;
