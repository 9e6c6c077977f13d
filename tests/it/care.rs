//! Commands that maintain files: `prune`, `repair`, `doctor` and `trim`.
//!
//! - `commands`: each command end to end
//! - `prune_strays`: files that no session claims
//! - `full_disk`: a disk without free space
//! - `trim_command`: `traj trim` as scripts use it
//! - `trim_lookup`: sessions of agents by id, and queues that wait
//! - `trim_openclaw`: a trimmed session, read by OpenClaw itself
//! - `trim_rollout`: a trimmed Codex rollout
//! - `rewrite_filesystem`: a rewrite on a real filesystem
//! - `rewrite_interleavings`: a rewrite while others write

mod commands;
mod full_disk;
mod prune_strays;
mod rewrite_filesystem;
mod rewrite_interleavings;
mod trim_command;
mod trim_lookup;
mod trim_openclaw;
mod trim_rollout;
