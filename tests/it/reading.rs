//! Reading a session: finding it, its run, and the commands that print it.
//!
//! - `resolve_session`: from an argument to the files of a session
//! - `discovery`: where the agents keep their sessions
//! - `cross_finder`: every command finds the same sidecar
//! - `cross_reader`: every command reads the same run
//! - `run_law`: laws of the run model
//! - `dialect_laws`: laws of the dialects
//! - `limits`: the longest line that is read
//! - `sessions_command`: `traj sessions`
//! - `show_command`: `traj show`
//! - `markdown`: `traj show --format markdown`
//! - `show_terminal`: `traj show` on a terminal
//! - `tail_command`: `traj tail`
//! - `inspect_command`: `traj inspect`
//! - `inspect_hostile`: `traj inspect` on hostile bundles

mod cross_finder;
mod cross_reader;
mod dialect_laws;
mod discovery;
mod inspect_command;
mod inspect_hostile;
mod limits;
mod markdown;
mod resolve_session;
pub(crate) mod run_law;
mod sessions_command;
mod show_command;
mod show_terminal;
mod tail_command;
