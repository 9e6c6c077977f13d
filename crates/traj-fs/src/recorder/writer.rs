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

use super::queue::{Queue, Queued, Work};
use super::stats::Dropped;

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
    /// Drops that a `trace.truncated` event has told of.
    told: Dropped,
    /// The sidecar is full: nothing but the last word is written any more.
    is_full: bool,
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
                Work::Batch(batch) => self.write_batch(batch, &mut progress),
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

    fn write_batch(&self, batch: Vec<Queued>, progress: &mut Progress) {
        let mut tally = Tally::default();
        // A bug in redaction must cost this batch, not the host's recorder.
        let outcome =
            catch_unwind(AssertUnwindSafe(|| self.try_batch(&batch, progress, &mut tally)));
        match outcome {
            Ok(Ok(())) => progress.patience = None,
            Ok(Err(error @ SidecarError::Storage { .. })) if !self.queue.is_closed() => {
                // Lines of this batch are not in the file; it is kept for later.
                progress.sidecar = None;
                let patience = progress.patience.map_or(FIRST_PATIENCE, |patience| patience * 2);
                progress.patience = Some(patience.min(LAST_PATIENCE));
                self.queue.put_back(batch, describe(&error));
                return;
            }
            Ok(Err(error)) => {
                progress.sidecar = None;
                tally = Tally { error: Some(describe(&error)), ..Tally::default() };
                tally.dropped.storage = batch.len() as u64;
            }
            Err(_) => {
                tally.dropped.storage = batch.len() as u64 - tally.written_events;
                tally.error = Some("the recorder met a defect of its own".to_owned());
            }
        }
        self.queue.settle(|stats| {
            stats.written_events += tally.written_events;
            stats.written_bytes += tally.written_bytes;
            stats.rolled_lines += tally.rolled_lines;
            stats.stored_blobs += tally.stored_blobs;
            stats.omitted_blobs += tally.omitted_blobs;
            stats.dropped.sidecar_full += tally.dropped.sidecar_full;
            stats.dropped.storage += tally.dropped.storage;
            stats.dropped.too_large += tally.dropped.too_large;
            if tally.error.is_some() {
                stats.last_error = tally.error;
            }
        });
    }

    /// Writes a batch as a whole, or, into a sidecar that gets full, its first
    /// events.
    fn try_batch(
        &self,
        batch: &[Queued],
        progress: &mut Progress,
        tally: &mut Tally,
    ) -> Result<(), SidecarError> {
        if progress.is_full {
            tally.dropped.sidecar_full += batch.len() as u64;
            return Ok(());
        }
        self.tell_of_drops(progress, Room::Ordinary)?;
        let mut sidecar = self.open(progress)?;
        let mut lines = Vec::with_capacity(batch.len());
        for queued in batch {
            let number = progress.sequence + 1 + lines.len() as u64;
            match self.encode(queued.event.clone(), number, sidecar.as_mut(), tally) {
                Some(line) => lines.push(line),
                None => tally.dropped.too_large += 1,
            }
        }
        let outcome = append(sidecar.as_mut(), &lines, tally);
        progress.sidecar = Some(sidecar);
        match outcome {
            Ok(()) => {
                progress.sequence += lines.len() as u64;
                Ok(())
            }
            Err(SidecarError::Full { room, .. }) => {
                let fitting = count_fitting(&lines, room);
                let sidecar = progress.sidecar.as_deref_mut();
                let kept = lines.get(..fitting).unwrap_or_default();
                let written = sidecar.map_or(Ok(()), |sidecar| append(sidecar, kept, tally));
                let kept = if written.is_ok() { fitting } else { 0 };
                progress.sequence += kept as u64;
                progress.is_full = true;
                let dropped = (lines.len() - kept) as u64;
                tally.dropped.sidecar_full += dropped;
                let told = Dropped { sidecar_full: dropped, ..Dropped::default() };
                // The last word is all that is left to say; the drops are
                // counted whether or not it fits.
                self.write_truncated(told, progress, Room::Reserve).ok();
                progress.told.sidecar_full += dropped;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn open(&self, progress: &mut Progress) -> Result<Box<dyn SidecarWriter>, SidecarError> {
        progress.sidecar.take().map_or_else(|| self.store.open(&self.session, &self.options), Ok)
    }

    /// Encodes an event and stores its blobs; `None` when it fits no line.
    fn encode(
        &self,
        event: Event,
        number: u64,
        sidecar: &mut dyn SidecarWriter,
        tally: &mut Tally,
    ) -> Option<PendingLine> {
        let mut prepared = self.capture.prepare(event, self.clock.now());
        let line = prepared.encode(number).ok()?;
        if prepared.blobs().is_empty() {
            return Some(line);
        }
        store_blobs(&mut prepared, sidecar, tally);
        prepared.encode(number).ok()
    }

    /// Makes everything durable, and tells of drops while there is a chance.
    fn finish_flush(&self, progress: &mut Progress) -> Option<String> {
        let room = if progress.is_full { Room::Reserve } else { Room::Ordinary };
        let told = self.tell_of_drops(progress, room);
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
    fn tell_of_drops(&self, progress: &mut Progress, room: Room) -> Result<(), SidecarError> {
        let dropped = self.queue.stats().dropped;
        let told = progress.told;
        let untold = Dropped {
            queue_full: dropped.queue_full - told.queue_full,
            sidecar_full: dropped.sidecar_full.saturating_sub(told.sidecar_full),
            storage: dropped.storage - told.storage,
            too_large: dropped.too_large - told.too_large,
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
        } else if dropped.storage > 0 {
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
        let mut sidecar = self.open(progress)?;
        let outcome = sidecar.append(&[line], room);
        progress.sidecar = Some(sidecar);
        outcome?;
        progress.sequence += 1;
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

/// Blobs go first: a line never names what is not there.
fn store_blobs(prepared: &mut Prepared<'_>, sidecar: &mut dyn SidecarWriter, tally: &mut Tally) {
    for blob in prepared.blobs().to_vec() {
        let omitted = match sidecar.store_blob(&blob) {
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
