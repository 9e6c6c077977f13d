//! Counts the outcome of one batch.

use std::error::Error;

use traj_core::capture::recording::Dropped;
use traj_core::capture::{EventTooLarge, OmittedBlob};
use traj_core::port::{Appended, SidecarError};

use super::stats::RecorderStats;

/// The counts of one batch, until they are added to those of the recorder.
#[derive(Default)]
pub(super) struct BatchTally {
    pub(super) written_events: u64,
    pub(super) written_bytes: u64,
    pub(super) rolled_lines: u64,
    pub(super) stored_blobs: u64,
    pub(super) omitted_blobs: u64,
    pub(super) blobs_over_budget: u64,
    pub(super) dropped: Dropped,
    pub(super) error: Option<String>,
}

impl BatchTally {
    /// Counts lines that the sidecar took.
    pub(super) const fn appended(&mut self, lines: u64, appended: Appended) {
        self.written_events += lines;
        self.written_bytes += appended.bytes;
        self.rolled_lines += appended.rolled_lines;
    }

    /// Counts events that the storage will not take, and records why.
    pub(super) fn given_up(&mut self, dropped: &Dropped, error: Option<&SidecarError>) {
        self.dropped.storage += dropped.storage;
        self.dropped.bytes += dropped.bytes;
        self.error = error.map(|error| describe(error));
    }

    /// Counts events that were lost to a defect of the recorder.
    pub(super) fn met_defect(&mut self, events: u64) {
        self.dropped.defect += events;
        self.error = Some(DEFECT.to_owned());
    }

    /// Counts an event that does not fit into a line, or into the sidecar.
    pub(super) fn too_large(&mut self, error: &EventTooLarge) {
        self.dropped.too_large += 1;
        self.dropped.bytes += error.bytes as u64;
        self.error = Some(error.to_string());
    }

    /// Counts events for which a sidecar with this limit was already full.
    pub(super) fn sidecar_full(&mut self, events: u64, bytes: u64, limit: u64) {
        if events > 0 {
            self.dropped.sidecar_full += events;
            self.dropped.bytes += bytes;
            self.error = Some(describe(&SidecarError::Full { limit, room: 0 }));
        }
    }

    /// Counts a string that was not stored. Returns the reason for its marker.
    pub(super) fn omitted_blob(&mut self, error: &SidecarError) -> OmittedBlob {
        self.omitted_blobs += 1;
        if matches!(error, SidecarError::OverBudget { .. }) {
            self.blobs_over_budget += 1;
            self.error = Some(describe(error));
            return OmittedBlob::Budget;
        }
        // The error is about the sidecar, which continues to work. Give only
        // its cause.
        let cause = error.source().map_or_else(|| error.to_string(), describe);
        self.error = Some(format!("cannot store a long string: {cause}"));
        OmittedBlob::Storage
    }

    /// Adds the counts to those of the recorder.
    pub(super) fn add_to(self, stats: &mut RecorderStats) {
        stats.written_events += self.written_events;
        stats.written_bytes += self.written_bytes;
        stats.rolled_lines += self.rolled_lines;
        stats.stored_blobs += self.stored_blobs;
        stats.omitted_blobs += self.omitted_blobs;
        stats.blobs_over_budget += self.blobs_over_budget;
        stats.dropped.sidecar_full += self.dropped.sidecar_full;
        stats.dropped.storage += self.dropped.storage;
        stats.dropped.too_large += self.dropped.too_large;
        stats.dropped.defect += self.dropped.defect;
        stats.dropped.bytes += self.dropped.bytes;
        if self.error.is_some() {
            stats.last_error = self.error;
        }
    }
}

/// The message for a panic. The panic's own message could contain payload.
pub(super) const DEFECT: &str = "internal error in the recorder";

/// An error with its causes, in one line. Our errors never contain payload.
pub(super) fn describe(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
