//! The `traj` command.
fn main() {}
