//! System calls that fail: strace injects the errors.

use std::process::{Command, Stdio};

use crate::host::skipped::skipped;

/// An strace that follows threads and children and prints nothing itself. The
/// caller adds other arguments and the command. `None`, reported as skipped, if
/// strace is missing or may not trace.
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
