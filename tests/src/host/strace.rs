//! Calls that fail as the kernel would let them: strace stands between the two.

use std::process::{Command, Stdio};

use crate::host::skipped::skipped;

/// An strace that follows threads and children and says nothing by itself;
/// its other arguments and the command are the caller's. `None`, and said so,
/// where strace is missing or may not trace.
pub fn strace() -> Option<Command> {
    let mut probe = Command::new("strace");
    let probe = probe.args(["-qq", "-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    if !probe.is_ok_and(|status| status.success()) {
        skipped("no strace on this host, or it may not trace");
        return None;
    }
    let mut command = Command::new("strace");
    command.args(["-f", "-qq"]);
    Some(command)
}
