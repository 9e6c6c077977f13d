//! The Codex binding with the real Codex CLI.
//!
//! - `command`: `traj codex`
//! - `conversation`: a bound conversation on a shared server
//! - `turns`: questions, interruptions and deaths in turns
//! - `lifecycle`: bind, resume, detach
//! - `faults`: server processes that misbehave
//! - `random`: a server that dies at random

mod command;
mod conversation;
mod faults;
mod lifecycle;
mod random;
mod turns;
