//! Reports events that were not recorded, why, and what to do about it.

use traj_fs::{Dropped, FlushReport, RecorderStats};

use crate::command_error::CommandError;
use crate::quantity::counted;

/// The error to report if anything was lost or is not durable.
pub(super) fn losses(flushed: FlushReport, stats: &RecorderStats) -> Option<CommandError> {
    let lost = stats.dropped.total() + stats.queued_events;
    let mut said = Vec::new();
    if lost > 0 {
        let were = if lost == 1 { "was" } else { "were" };
        said.push(format!("{} {were} not recorded", counted(lost, "event")));
    } else if !flushed.is_complete() {
        said.push(match stats.written_events {
            0 => "nothing could be recorded".to_owned(),
            written => {
                let written = counted(written, "event");
                format!("recorded {written}, but a power failure can lose them")
            }
        });
    }
    if stats.omitted_blobs > 0 {
        let texts = counted(stats.omitted_blobs, "long string");
        said.push(format!("not stored: {texts}"));
    }
    if said.is_empty() {
        return None;
    }
    let has_time_run_out = flushed.timed_out;
    let reason = flushed.error.or_else(|| stats.last_error.clone());
    let reason =
        reason.or_else(|| has_time_run_out.then(|| "the flush timeout expired".to_owned()));
    let mut error = CommandError::failure(said.join(", and "));
    for hint in hints(stats, has_time_run_out) {
        error = error.hint(hint);
    }
    error.source = reason.map(Into::into);
    Some(error)
}

/// Hints that name the settings that caused the losses.
fn hints(stats: &RecorderStats, has_time_run_out: bool) -> Vec<&'static str> {
    let Dropped { queue_full, sidecar_full, storage, too_large, not_started, .. } = stats.dropped;
    let mut hints = Vec::new();
    let mut when = |is_so: bool, hint| {
        if is_so {
            hints.push(hint);
        }
    };
    when(
        sidecar_full > 0,
        "TRAJ_MAX_SIDECAR_BYTES is the limit; TRAJ_WHEN_FULL=roll drops the oldest lines instead",
    );
    when(
        too_large > 0,
        "TRAJ_MAX_LINE_BYTES limits a line, TRAJ_MAX_SIDECAR_BYTES limits a sidecar",
    );
    when(queue_full > 0, "TRAJ_MAX_QUEUE_EVENTS and TRAJ_MAX_QUEUE_BYTES limit the queue");
    when(stats.blobs_over_budget > 0, "TRAJ_MAX_BLOB_BYTES limits the long strings of a sidecar");
    when(has_time_run_out, "TRAJ_TRAJECTORY_FLUSH_TIMEOUT_MS is the flush timeout");
    when(not_started > 0, "`ulimit -u` prints the limit on threads and processes");
    when(storage > 0, "`traj doctor --probe` tests the locations that traj writes to");
    hints
}
