//! What was lost on the way to the sidecar, and why.

use traj_fs::{FlushReport, RecorderStats};

use crate::command_error::CommandError;

/// The error that a recorder's end is, if anything was lost.
pub(super) fn losses(flushed: FlushReport, stats: &RecorderStats) -> Option<CommandError> {
    let lost = stats.dropped.total() + stats.queued_events;
    if flushed.is_complete() && lost == 0 {
        return None;
    }
    let mut error = CommandError::failure(format!("{lost} events were not recorded"));
    let reason = flushed.error.or_else(|| stats.last_error.clone());
    error.source = reason.map(Into::into);
    Some(error)
}
