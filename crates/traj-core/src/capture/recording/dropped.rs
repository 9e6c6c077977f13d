//! Events that were not written, by reason.

/// Events that were not written, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// The queue was full.
    pub queue_full: u64,
    /// The sidecar reached its limit.
    pub sidecar_full: u64,
    /// The sidecar could not be used, or was not safe to use.
    pub storage: u64,
    /// The event does not fit into a line even without its data.
    pub too_large: u64,
    /// Encoding it hit a defect of the recorder.
    pub defect: u64,
    /// The recorder's thread could not be started.
    pub not_started: u64,
    /// Total bytes: of their lines, or roughly of the events in memory if no
    /// line was made. The size of events lost to a defect is unknown.
    pub bytes: u64,
}

impl Dropped {
    /// The number of dropped events.
    #[must_use]
    pub const fn total(&self) -> u64 {
        let never_tried = self.queue_full + self.not_started;
        never_tried + self.sidecar_full + self.storage + self.too_large + self.defect
    }

    /// What was dropped since `reported`.
    pub(super) const fn since(&self, reported: &Self) -> Self {
        Self {
            queue_full: self.queue_full - reported.queue_full,
            sidecar_full: self.sidecar_full.saturating_sub(reported.sidecar_full),
            storage: self.storage - reported.storage,
            too_large: self.too_large - reported.too_large,
            defect: self.defect - reported.defect,
            // Without a thread, no report could be written.
            not_started: 0,
            bytes: self.bytes.saturating_sub(reported.bytes),
        }
    }

    /// The reason for a `trace.truncated` event: the most severe one.
    pub(super) const fn reason(&self) -> &'static str {
        if self.sidecar_full > 0 {
            "trajectory-runtime-file-size-limit"
        } else if self.storage + self.defect > 0 {
            "trajectory-storage-failure"
        } else if self.too_large > 0 {
            "trajectory-event-size-limit"
        } else {
            "trajectory-queue-limit"
        }
    }
}
