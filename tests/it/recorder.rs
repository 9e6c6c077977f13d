//! The recorder: in a host, in a separate process, and as `traj record`.
//!
//! - `behaviour`: what a host can rely on
//! - `order`: the order of events
//! - `ahead`: a batch that is prepared while another is written
//! - `end`: the end of a recorder
//! - `defects`: panics inside the recorder
//! - `process`: recorders in separate processes (helper)
//! - `faults`: disks that are full, read-only or unavailable
//! - `injected`: system calls that fail
//! - `crash`: several processes at once, and sudden ends
//! - `kills`: processes killed at any moment
//! - `record_command`: `traj record`
//! - `record_losses`: how `traj record` reports lost events

mod ahead;
mod behaviour;
mod crash;
mod defects;
mod end;
mod faults;
mod injected;
mod kills;
mod order;
mod process;
pub(crate) mod record_command;
mod record_losses;
