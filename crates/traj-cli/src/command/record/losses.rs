//! What was lost on the way to the sidecar, and why.

use traj_fs::{FlushReport, RecorderStats};

use crate::command_error::CommandError;

/// The error that a recorder's end is, if anything was lost.
pub(super) fn losses(flushed: FlushReport, stats: &RecorderStats) -> Option<CommandError> {
    let lost = stats.dropped.total() + stats.queued_events;
    let mut said = Vec::new();
    if !flushed.is_complete() || lost > 0 {
        said.push(format!("{lost} events were not recorded"));
    }
    if stats.omitted_blobs > 0 {
        said.push(format!("{} long texts were not stored", stats.omitted_blobs));
    }
    if said.is_empty() {
        return None;
    }
    let mut error = CommandError::failure(said.join(", and "));
    if stats.blobs_over_budget > 0 {
        error = error.hint("TRAJ_MAX_BLOB_BYTES is the budget of the long texts of a sidecar");
    }
    let reason = flushed.error.or_else(|| stats.last_error.clone());
    error.source = reason.map(Into::into);
    Some(error)
}
