//! Putting the lines that wait into the sidecar, as many as it takes.

use traj_core::capture::PendingLine;
use traj_core::port::{Room, SidecarError, SidecarWriter};
use traj_core::settings::WhenFull;

use super::{Dropped, NUMBER_AND_LINE_END, Progress, Tally, Writer, bytes_of};

impl Writer {
    /// Writes the lines that wait; on failure those that could not be written
    /// wait on.
    pub(super) fn append_pending(
        &self,
        progress: &mut Progress,
        tally: &mut Tally,
    ) -> Result<(), SidecarError> {
        let mut lines = std::mem::take(&mut progress.pending);
        if lines.is_empty() {
            return Ok(());
        }
        let outcome = self.sidecar(progress).and_then(|sidecar| append(sidecar, &lines, tally));
        match outcome {
            Ok(()) => {
                progress.sequence += lines.len() as u64;
                Ok(())
            }
            Err(error) if lines.len() > 1 && self.may_take_half(&error) => {
                let rest = lines.split_off(lines.len() / 2);
                progress.pending = lines;
                let first = self.append_pending(progress, tally);
                progress.pending.extend(rest);
                first.and_then(|()| self.append_pending(progress, tally))
            }
            Err(SidecarError::Full { room, .. }) => {
                let outcome = self.append_last(&lines, room, progress, tally);
                if outcome.is_err() {
                    progress.pending = lines;
                }
                outcome
            }
            Err(error) => {
                progress.pending = lines;
                Err(error)
            }
        }
    }

    /// Whether fewer lines could work: more than the sidecar holds at once makes
    /// it roll on twice, and a full disk may have room for some.
    fn may_take_half(&self, error: &SidecarError) -> bool {
        match error {
            SidecarError::Full { .. } => self.options.when_full == WhenFull::Roll,
            SidecarError::NoSpace { .. } => true,
            _ => false,
        }
    }

    /// Writes what still fits into a sidecar that is full, then the last word.
    fn append_last(
        &self,
        lines: &[PendingLine],
        room: u64,
        progress: &mut Progress,
        tally: &mut Tally,
    ) -> Result<(), SidecarError> {
        let fitting = lines.get(..count_fitting(lines, room)).unwrap_or_default();
        append(self.sidecar(progress)?, fitting, tally)?;
        progress.sequence += fitting.len() as u64;
        progress.is_full = true;
        let beyond = lines.get(fitting.len()..).unwrap_or_default();
        let (dropped, bytes) = (beyond.len() as u64, bytes_of(beyond));
        tally.sidecar_full(dropped, bytes, self.options.limit_bytes);
        let told = Dropped { sidecar_full: dropped, bytes, ..Dropped::default() };
        // The drops are counted whether or not the last word fits.
        self.write_truncated(told, progress, Room::Reserve).ok();
        progress.told.sidecar_full += dropped;
        progress.told.bytes += bytes;
        Ok(())
    }
}

fn append(
    sidecar: &mut dyn SidecarWriter,
    lines: &[PendingLine],
    tally: &mut Tally,
) -> Result<(), SidecarError> {
    if lines.is_empty() {
        return Ok(());
    }
    let appended = sidecar.append(lines, Room::Ordinary)?;
    tally.written_events += lines.len() as u64;
    tally.written_bytes += appended.bytes;
    tally.rolled_lines += appended.rolled_lines;
    Ok(())
}

/// How many lines from the start fit into `room` bytes, whatever their number
/// in the file and with a line end to close off a torn line before them.
fn count_fitting(lines: &[PendingLine], room: u64) -> usize {
    let mut used = 1;
    lines
        .iter()
        .take_while(|line| {
            used += line.bytes_without_number() + NUMBER_AND_LINE_END;
            used as u64 <= room
        })
        .count()
}
