//! Which processes work on the same files at this moment.

use std::fmt::Debug;

/// The processes of a host that share what they remember, such as a log.
///
/// A process that was killed leaves work that others have to look at. One that
/// still runs may add to its work at any time, however long it was silent.
pub trait RunningProcesses: Debug {
    /// The number of this process, which no other one of them has, not even one
    /// that ended. Never 0.
    fn own(&self) -> u64;

    /// Whether the process with this number may still be running. `false` is
    /// final: it does nothing from now on.
    fn is_running(&self, process: u64) -> bool;
}
