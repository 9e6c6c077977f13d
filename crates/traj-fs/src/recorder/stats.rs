//! The counts of a recorder.

use std::time::Duration;

use traj_core::capture::recording::Dropped;
use traj_core::port::Exposure;

/// What a recorder has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecorderStats {
    /// The number of events that the host recorded.
    pub recorded_events: u64,
    /// The number of events that were written.
    pub written_events: u64,
    /// Their size in bytes, including line ends.
    pub written_bytes: u64,
    /// The number of strings that were stored as blobs.
    pub stored_blobs: u64,
    /// The number of strings that should have been stored as blobs, but were
    /// not.
    pub omitted_blobs: u64,
    /// The number of those for which the blob budget was too small.
    pub blobs_over_budget: u64,
    /// The number of old lines that were removed to make space for new ones.
    pub rolled_lines: u64,
    /// Events that were not written.
    pub dropped: Dropped,
    /// The number of events in the queue.
    pub queued_events: u64,
    /// Their approximate size in memory.
    pub queued_bytes: u64,
    /// The last error, without payload.
    pub last_error: Option<String>,
    /// Why other users can interfere with the sidecar, if they can.
    pub exposure: Option<Exposure>,
}

/// How a flush ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlushReport {
    /// The number of events recorded before the flush that are still pending.
    pub pending_events: u64,
    /// The approximate size in memory of all pending events.
    pub pending_bytes: u64,
    /// Whether the time ran out while the writer was still working.
    pub timed_out: bool,
    /// The time that the flush was allowed to take.
    pub timeout: Duration,
    /// Why the storage did not take the events, without payload.
    pub error: Option<String>,
}

impl FlushReport {
    pub(super) const fn nothing_to_do() -> Self {
        let timeout = Duration::ZERO;
        Self { pending_events: 0, pending_bytes: 0, timed_out: false, timeout, error: None }
    }

    /// Whether the storage succeeded, and no event from before the flush is
    /// pending. Dropped events are counted in [`RecorderStats`].
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.pending_events == 0 && !self.timed_out && self.error.is_none()
    }
}
