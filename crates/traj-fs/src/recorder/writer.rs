//! The writer's side of a recorder: takes batches, writes lines, tells what is
//! missing.

use std::error::Error as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use traj_core::capture::{Capture, OmittedBlob, PendingLine, Prepared};
use traj_core::event::{Event, TraceTruncated};
use traj_core::id::SessionId;
use traj_core::port::{Clock, Room, SidecarError, SidecarOptions, SidecarWriter, TrajectoryStore};

use super::queue::{Queue, Work};
use super::stats::{Dropped, RecorderStats};

/// How long a failed storage is left alone before it is tried again.
const FIRST_PATIENCE: Duration = Duration::from_millis(50);
const LAST_PATIENCE: Duration = Duration::from_secs(5);

pub(super) struct Writer {
    pub(super) queue: Arc<Queue>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) capture: Capture,
    pub(super) session: SessionId,
    pub(super) store: Arc<dyn TrajectoryStore>,
    pub(super) options: SidecarOptions,
}

/// What a writer remembers between batches.
#[derive(Default)]
struct Progress {
    sidecar: Option<Box<dyn SidecarWriter>>,
    /// The number of the last event of this run that was written.
    sequence: u64,
    /// Encoded and numbered, but not in the file yet.
    pending: Vec<PendingLine>,
    /// Drops that a `trace.truncated` event has told of.
    told: Dropped,
    /// The sidecar is full: nothing but the last word is written any more.
    is_full: bool,
    /// The storage failed; how long to leave it alone.
    patience: Option<Duration>,
}

/// What became of a batch.
#[derive(Default)]
struct Tally {
    written_events: u64,
    written_bytes: u64,
    rolled_lines: u64,
    stored_blobs: u64,
    omitted_blobs: u64,
    dropped: Dropped,
    error: Option<String>,
}

impl Writer {
    pub(super) fn run(self) {
        let mut progress = Progress::default();
        loop {
            match self.queue.next_work(progress.patience) {
                Work::Batch(batch) => {
                    let mut tally = Tally::default();
                    self.encode_batch(batch, &mut progress, &mut tally);
                    self.write_pending(&mut progress, tally);
                }
                Work::Retry => self.write_pending(&mut progress, Tally::default()),
                Work::Flush(number) => {
                    let error = self.finish_flush(&mut progress);
                    self.queue.flushed(number, error);
                }
                Work::Finish => {
                    self.finish_flush(&mut progress);
                    return;
                }
            }
        }
    }

    /// Turns events into numbered lines and stores their blobs.
    fn encode_batch(&self, batch: Vec<Event>, progress: &mut Progress, tally: &mut Tally) {
        if progress.is_full {
            tally.dropped.sidecar_full += batch.len() as u64;
            return;
        }
        for event in batch {
            // A defect in redaction must cost this event, not the recorder.
            let encoded = catch_unwind(AssertUnwindSafe(|| self.encode(event, progress, tally)));
            match encoded {
                Ok(Some(line)) => progress.pending.push(line),
                Ok(None) => tally.dropped.too_large += 1,
                Err(_) => {
                    tally.dropped.defect += 1;
                    tally.error = Some("an event met a defect of the recorder".to_owned());
                }
            }
        }
    }

    /// Encodes an event and stores its blobs; `None` when it fits no line.
    fn encode(
        &self,
        event: Event,
        progress: &mut Progress,
        tally: &mut Tally,
    ) -> Option<PendingLine> {
        let number = progress.sequence + progress.pending.len() as u64 + 1;
        let mut prepared = self.capture.prepare(event, self.clock.now());
        let line = prepared.encode(number).ok()?;
        if prepared.blobs().is_empty() {
            return Some(line);
        }
        self.store_blobs(&mut prepared, progress, tally);
        prepared.encode(number).ok()
    }

    /// Blobs go first: a line never names what is not there.
    fn store_blobs(&self, prepared: &mut Prepared<'_>, progress: &mut Progress, tally: &mut Tally) {
        for blob in prepared.blobs().to_vec() {
            let stored = self.sidecar(progress).and_then(|sidecar| sidecar.store_blob(&blob));
            let omitted = match stored {
                Ok(()) => None,
                Err(SidecarError::OverBudget { .. }) => Some(OmittedBlob::Budget),
                Err(_) => Some(OmittedBlob::Storage),
            };
            match omitted {
                None => tally.stored_blobs += 1,
                Some(reason) => {
                    tally.omitted_blobs += 1;
                    prepared.omit_blob(blob.digest(), reason);
                }
            }
        }
    }

    /// Writes the lines that wait. A storage that fails keeps them waiting; a
    /// place that is not safe, or the end, drops them.
    fn write_pending(&self, progress: &mut Progress, mut tally: Tally) {
        let outcome = self.append_pending(progress, &mut tally);
        let patience = progress.next_patience();
        progress.patience = None;
        if let Err(error) = outcome {
            progress.sidecar = None;
            let reason = describe(&error);
            if matches!(error, SidecarError::Storage { .. }) && !self.queue.is_closed() {
                progress.patience = Some(patience);
                self.queue.stalled(reason);
                return;
            }
            tally.dropped.storage += progress.pending.drain(..).count() as u64;
            tally.error = Some(reason);
        }
        self.queue.settle(|stats| tally.add_to(stats));
        if !progress.is_full {
            // Told again with the next batch or flush if it does not work now.
            self.tell_of_drops(progress).ok();
        }
    }

    fn append_pending(
        &self,
        progress: &mut Progress,
        tally: &mut Tally,
    ) -> Result<(), SidecarError> {
        let lines = std::mem::take(&mut progress.pending);
        if lines.is_empty() {
            return Ok(());
        }
        let outcome = self.sidecar(progress).and_then(|sidecar| append(sidecar, &lines, tally));
        match outcome {
            Ok(()) => {
                progress.sequence += lines.len() as u64;
                Ok(())
            }
            Err(SidecarError::Full { room, .. }) => {
                self.append_last(&lines, room, progress, tally);
                Ok(())
            }
            Err(error) => {
                progress.pending = lines;
                Err(error)
            }
        }
    }

    /// Writes what still fits into a sidecar that is full, then the last word.
    fn append_last(
        &self,
        lines: &[PendingLine],
        room: u64,
        progress: &mut Progress,
        tally: &mut Tally,
    ) {
        let fitting = lines.get(..count_fitting(lines, room)).unwrap_or_default();
        let written = self.sidecar(progress).and_then(|sidecar| append(sidecar, fitting, tally));
        let kept = if written.is_ok() { fitting.len() } else { 0 };
        progress.sequence += kept as u64;
        progress.is_full = true;
        let dropped = (lines.len() - kept) as u64;
        tally.dropped.sidecar_full += dropped;
        let told = Dropped { sidecar_full: dropped, ..Dropped::default() };
        // The drops are counted whether or not the last word fits.
        self.write_truncated(told, progress, Room::Reserve).ok();
        progress.told.sidecar_full += dropped;
    }

    fn sidecar<'p>(
        &self,
        progress: &'p mut Progress,
    ) -> Result<&'p mut (dyn SidecarWriter + 'static), SidecarError> {
        let sidecar = match progress.sidecar.take() {
            Some(sidecar) => sidecar,
            None => self.store.open(&self.session, &self.options)?,
        };
        Ok(progress.sidecar.insert(sidecar).as_mut())
    }

    /// Makes everything durable, and tells of drops while there is a chance.
    fn finish_flush(&self, progress: &mut Progress) -> Option<String> {
        let told = self.tell_of_drops(progress);
        let flushed = progress.sidecar.as_mut().map_or(Ok(()), |sidecar| sidecar.flush());
        match (told, flushed) {
            // A full sidecar is a state, not a failure of the flush.
            (Err(SidecarError::Full { .. }) | Ok(()), Ok(())) => None,
            (Err(error), _) | (_, Err(error)) => {
                progress.sidecar = None;
                Some(describe(&error))
            }
        }
    }

    /// Writes a `trace.truncated` event for drops nobody was told of.
    fn tell_of_drops(&self, progress: &mut Progress) -> Result<(), SidecarError> {
        let room = if progress.is_full { Room::Reserve } else { Room::Ordinary };
        let dropped = self.queue.stats().dropped;
        let told = progress.told;
        let untold = Dropped {
            queue_full: dropped.queue_full - told.queue_full,
            sidecar_full: dropped.sidecar_full.saturating_sub(told.sidecar_full),
            storage: dropped.storage - told.storage,
            too_large: dropped.too_large - told.too_large,
            defect: dropped.defect - told.defect,
        };
        if untold.total() == 0 {
            return Ok(());
        }
        self.write_truncated(untold, progress, room)?;
        progress.told =
            Dropped { sidecar_full: told.sidecar_full.max(dropped.sidecar_full), ..dropped };
        Ok(())
    }

    fn write_truncated(
        &self,
        dropped: Dropped,
        progress: &mut Progress,
        room: Room,
    ) -> Result<(), SidecarError> {
        let reason = if dropped.sidecar_full > 0 {
            "trajectory-runtime-file-size-limit"
        } else if dropped.storage + dropped.defect > 0 {
            "trajectory-storage-failure"
        } else if dropped.too_large > 0 {
            "trajectory-event-size-limit"
        } else {
            "trajectory-queue-limit"
        };
        let event = TraceTruncated {
            reason,
            dropped_events: dropped.total(),
            dropped_event_bytes: 0,
            limit_bytes: self.options.limit_bytes,
        };
        let mut prepared = self.capture.prepare(event.event(), self.clock.now());
        let Ok(line) = prepared.encode(progress.sequence + 1) else { return Ok(()) };
        self.sidecar(progress)?.append(&[line], room)?;
        progress.sequence += 1;
        Ok(())
    }
}

impl Progress {
    fn next_patience(&self) -> Duration {
        self.patience.map_or(FIRST_PATIENCE, |patience| (patience * 2).min(LAST_PATIENCE))
    }
}

impl Tally {
    fn add_to(self, stats: &mut RecorderStats) {
        stats.written_events += self.written_events;
        stats.written_bytes += self.written_bytes;
        stats.rolled_lines += self.rolled_lines;
        stats.stored_blobs += self.stored_blobs;
        stats.omitted_blobs += self.omitted_blobs;
        stats.dropped.sidecar_full += self.dropped.sidecar_full;
        stats.dropped.storage += self.dropped.storage;
        stats.dropped.too_large += self.dropped.too_large;
        stats.dropped.defect += self.dropped.defect;
        if self.error.is_some() {
            stats.last_error = self.error;
        }
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
    const NUMBER_AND_LINE_END: usize = 21;
    let mut used = 1;
    lines
        .iter()
        .take_while(|line| {
            used += line.bytes_without_number() + NUMBER_AND_LINE_END;
            used as u64 <= room
        })
        .count()
}

/// An error with its causes, in one line. Ours never contain payload.
fn describe(error: &SidecarError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
