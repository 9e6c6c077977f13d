//! What a recorder did, in numbers.

use std::time::Duration;

use traj_core::port::Exposure;
use traj_core::recording::Dropped;

/// What a recorder did so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecorderStats {
    /// Events the host gave.
    pub recorded_events: u64,
    /// Events that are in the sidecar.
    pub written_events: u64,
    /// Bytes those have, line ends included.
    pub written_bytes: u64,
    /// Texts that were stored as blobs.
    pub stored_blobs: u64,
    /// Texts that should have been, but were not.
    pub omitted_blobs: u64,
    /// Those of them for which the blobs' budget was too small.
    pub blobs_over_budget: u64,
    /// Old lines that made room for new ones.
    pub rolled_lines: u64,
    /// Events that were not written.
    pub dropped: Dropped,
    /// Events that wait in the queue.
    pub queued_events: u64,
    /// Their size in memory, roughly.
    pub queued_bytes: u64,
    /// The last thing that went wrong, without any payload.
    pub last_error: Option<String>,
    /// Why the sidecar is not safe from others, if it is not.
    pub exposure: Option<Exposure>,
}

/// How a flush ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlushReport {
    /// Events recorded before the flush that still wait.
    pub pending_events: u64,
    /// The size in memory of all that waits, roughly.
    pub pending_bytes: u64,
    /// The time ran out; the writer is still at it.
    pub timed_out: bool,
    /// The time that was given.
    pub timeout: Duration,
    /// Why the storage did not take them, without any payload.
    pub error: Option<String>,
}

impl FlushReport {
    pub(super) const fn nothing_to_do() -> Self {
        let timeout = Duration::ZERO;
        Self { pending_events: 0, pending_bytes: 0, timed_out: false, timeout, error: None }
    }

    /// Whether nothing recorded before the flush waits any more, and the
    /// storage did its part. What was dropped before is in the stats.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.pending_events == 0 && !self.timed_out && self.error.is_none()
    }
}
