//! `traj export` and the bundle that it writes.
//!
//! - `command`: the command as scripts use it
//! - `sources`: the session and its sidecar
//! - `stores`: sessions by the key of an OpenClaw store
//! - `rollout`: Codex rollouts
//! - `shapes`: whole bundles as snapshots
//! - `events`: the events of a bundle
//! - `branch`: which branch is exported
//! - `values`: odd values
//! - `unknown`: input of an unknown format
//! - `long_texts`: texts that are too long for memory
//! - `places`: which paths and names a bundle reveals
//! - `changes`: sessions that change during an export
//! - `threads`: several threads
//! - `faults`: ports that fail, failing system calls (`faults/injected.rs`) and
//!   processes that end early (`faults/process.rs`)

mod branch;
mod changes;
mod command;
mod events;
mod faults;
mod long_texts;
mod places;
mod rollout;
mod shapes;
mod sources;
mod stores;
mod threads;
mod unknown;
mod values;
