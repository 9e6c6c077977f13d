//! What was lost on the way to the sidecar, why, and what can be done about it.

use traj_fs::{Dropped, FlushReport, RecorderStats};

use crate::command_error::CommandError;
use crate::quantity::counted;

/// The error that a recorder's end is, if anything was lost or is not durable.
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
                format!("recorded {written}, but a loss of power can take them")
            }
        });
    }
    if stats.omitted_blobs > 0 {
        let texts = counted(stats.omitted_blobs, "long text");
        said.push(format!("not stored: {texts}"));
    }
    if said.is_empty() {
        return None;
    }
    let has_time_run_out = flushed.timed_out;
    let reason = flushed.error.or_else(|| stats.last_error.clone());
    let reason = reason.or_else(|| has_time_run_out.then(|| "the time ran out".to_owned()));
    let mut error = CommandError::failure(said.join(", and "));
    for hint in hints(stats, has_time_run_out) {
        error = error.hint(hint);
    }
    error.source = reason.map(Into::into);
    Some(error)
}

/// Which settings the losses have to do with.
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
        "TRAJ_MAX_SIDECAR_BYTES is the limit; with TRAJ_WHEN_FULL=roll the oldest lines make room",
    );
    when(
        too_large > 0,
        "TRAJ_MAX_LINE_BYTES is the limit of a line, TRAJ_MAX_SIDECAR_BYTES that of a sidecar",
    );
    when(
        queue_full > 0,
        "TRAJ_MAX_QUEUE_EVENTS and TRAJ_MAX_QUEUE_BYTES say how much may wait for the disk",
    );
    when(
        stats.blobs_over_budget > 0,
        "TRAJ_MAX_BLOB_BYTES is the budget of the long texts of a sidecar",
    );
    when(has_time_run_out, "TRAJ_TRAJECTORY_FLUSH_TIMEOUT_MS says how long the end may take");
    when(not_started > 0, "`ulimit -u` tells how many threads and processes there may be");
    when(storage > 0, "`traj doctor --probe` tries the places that are written to");
    hints
}
