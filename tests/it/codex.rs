//! The Codex binding with the real Codex CLI.
//!
//! - `command`: `traj codex`
//! - `conversation`: a bound conversation on a shared server
//! - `turns`: requests, interruptions and crashes during turns
//! - `approvals`: a person on the terminal, or nobody
//! - `stopping`: signals, the user's time, and another turn
//! - `lifecycle`: bind, resume, detach
//! - `faults`: server processes that misbehave
//! - `records`: instructions, approvals and secrets in what a turn leaves behind
//! - `choices`: what was chosen for a binding reaches Codex and stays
//! - `configuration`: code mode, layers, plugin apps and MCP servers, as Codex takes them
//! - `tools`: what a change of tools or of the model does to the thread
//! - `rotation`: threads that are replaced, or that another Codex home hides
//! - `explain`: predictions, `bind`, `status`, and policies of changes
//! - `server`: its version, last words and environment
//! - `random`: a server that is killed at random

mod approvals;
mod choices;
mod command;
mod configuration;
mod conversation;
mod explain;
mod faults;
mod lifecycle;
mod random;
mod records;
mod rotation;
mod server;
mod stopping;
mod tools;
mod turns;
