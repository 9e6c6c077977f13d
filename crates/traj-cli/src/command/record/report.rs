//! The report that `traj record` prints at its end.

use serde::Serialize;
use traj_fs::RecorderStats;

use super::input::{InvalidLine, Problems, UnknownMembers};
use crate::quantity::counted;
use crate::terminal_text::escape_control;

/// What was recorded.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Report")]
pub(super) struct RecordReport {
    /// Whether recording is switched on.
    enabled: bool,
    /// The sidecar.
    sidecar: String,
    /// Events that were accepted.
    recorded_events: u64,
    /// Events that were written.
    written_events: u64,
    /// The size of what was written.
    written_bytes: u64,
    /// Long strings that were stored as blobs.
    stored_blobs: u64,
    /// Blobs that were not stored.
    omitted_blobs: u64,
    /// Blobs that were not stored because they exceeded the limit for blobs.
    blobs_over_budget: u64,
    /// Old lines that were dropped to make room.
    rolled_lines: u64,
    /// Events that were lost.
    dropped_events: u64,
    /// Their size.
    dropped_event_bytes: u64,
    /// Why they were lost.
    dropped: DroppedReport,
    /// Events that were still in the queue when the flush timeout expired.
    pending_events: u64,
    /// Why other users can access the sidecar, if they can.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    /// Lines that are not valid events.
    invalid_lines: u64,
    /// The first of them.
    invalid: Vec<InvalidLine>,
    /// Lines with unknown members.
    lines_with_unknown_members: u64,
    /// The first of them.
    unknown_members: Vec<UnknownMembers>,
    /// The signal that ended the reading, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_by: Option<&'static str>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DroppedReport {
    /// The queue was full.
    queue_full: u64,
    /// The sidecar had reached its size limit.
    sidecar_full: u64,
    /// The sidecar could not be used, or was not safe to use.
    storage: u64,
    /// They were too large.
    too_large: u64,
    /// The recorder has a defect.
    defect: u64,
    /// The recorder could not start.
    not_started: u64,
}

impl RecordReport {
    pub(super) fn new(
        enabled: bool,
        sidecar: String,
        stats: &RecorderStats,
        problems: Problems,
        ended_by: Option<&'static str>,
    ) -> Self {
        Self {
            enabled,
            sidecar,
            recorded_events: stats.recorded_events,
            written_events: stats.written_events,
            written_bytes: stats.written_bytes,
            stored_blobs: stats.stored_blobs,
            omitted_blobs: stats.omitted_blobs,
            blobs_over_budget: stats.blobs_over_budget,
            rolled_lines: stats.rolled_lines,
            dropped_events: stats.dropped.total(),
            dropped_event_bytes: stats.dropped.bytes,
            dropped: DroppedReport {
                queue_full: stats.dropped.queue_full,
                sidecar_full: stats.dropped.sidecar_full,
                storage: stats.dropped.storage,
                too_large: stats.dropped.too_large,
                defect: stats.dropped.defect,
                not_started: stats.dropped.not_started,
            },
            pending_events: stats.queued_events,
            warning: stats.exposure.map(|exposure| exposure.to_string()),
            invalid_lines: problems.invalid_lines,
            invalid: problems.invalid,
            lines_with_unknown_members: problems.lines_with_unknown_members,
            unknown_members: problems.unknown_members,
            ended_by,
        }
    }

    /// The report as text.
    pub(super) fn describe(&self) -> String {
        let events = counted(self.written_events, "event");
        let bytes = self.written_bytes;
        let sidecar = escape_control(&self.sidecar);
        let mut lines = vec![format!("recorded {events} ({bytes} bytes) in {sidecar}")];
        if self.stored_blobs > 0 {
            lines.push(format!("stored {} next to it", counted(self.stored_blobs, "long string")));
        }
        if let Some(warning) = &self.warning {
            lines.push(format!("WARNING: {warning}"));
        }
        if self.invalid_lines > 0 {
            lines.push(format!("skipped {}", counted(self.invalid_lines, "invalid line")));
        }
        if self.lines_with_unknown_members > 0 {
            let count = counted(self.lines_with_unknown_members, "line");
            lines.push(format!(
                "WARNING: ignored unknown fields in {count}; only type, data and ts are recorded"
            ));
        }
        if let Some(signal) = self.ended_by {
            lines.push(format!("ended by {signal}; the rest of standard input was not read"));
        }
        lines.join("\n") + "\n"
    }
}
