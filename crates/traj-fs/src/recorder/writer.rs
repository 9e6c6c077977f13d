//! The writer's side of a recorder: takes batches, writes lines, tells what is
//! missing.

mod append;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use traj_core::capture::{Blob, Capture, Captured, EventTooLarge, LineBlock, PendingLine};
use traj_core::event::TraceTruncated;
use traj_core::id::SessionId;
use traj_core::port::{Clock, Room, SidecarError, SidecarOptions, SidecarWriter, TrajectoryStore};
use traj_core::settings::WhenFull;

use super::encode::encode;
use super::prepare::{Begun, Preparer, WORTH_A_THREAD};
use super::queue::{Inbox, Queue, Taken, Work};
use super::stats::Dropped;
use super::tally::{DEFECT, Tally, bytes_of, describe};

/// Digits a number in the file can have, and the line end.
const NUMBER_AND_LINE_END: usize = 21;

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
    /// Kept over failures: it knows which file it wrote to.
    sidecar: Option<Box<dyn SidecarWriter>>,
    /// The number of the last event of this run that was written.
    sequence: u64,
    /// Encoded and numbered, but not in the file yet.
    pending: Vec<PendingLine>,
    /// The events that those were, and others of their batch: not settled yet.
    taken: Taken,
    /// Drops that a `trace.truncated` event has told of.
    told: Dropped,
    /// The sidecar is full: nothing but the last word is written any more.
    is_full: bool,
    /// The storage failed; how long to leave it alone.
    patience: Option<Duration>,
}

/// Lets nobody wait for a writer that is gone, however it went.
struct LeaveAtEnd<'q>(&'q Queue);

impl Drop for LeaveAtEnd<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl Writer {
    pub(super) fn run(self, inbox: &Inbox) {
        let _leave = LeaveAtEnd(&self.queue);
        thread::scope(|scope| {
            self.work(inbox, Preparer::new(scope, &self.capture, &*self.clock));
        });
    }

    fn work(&self, inbox: &Inbox, mut preparer: Preparer<'_, '_>) {
        let mut progress = Progress::default();
        let mut ahead = None;
        loop {
            match inbox.next_work(progress.patience, ahead.is_some()) {
                Work::Batch(batch) if progress.is_full => {
                    self.drop_batch(batch.taken, &mut progress);
                }
                Work::Batch(batch) => {
                    let begun = preparer.begin(batch);
                    ahead = self.write_batch(&begun, inbox, &mut preparer, &mut progress);
                }
                Work::Ahead => {
                    let Some(begun) = ahead.take() else { continue };
                    ahead = self.write_batch(&begun, inbox, &mut preparer, &mut progress);
                }
                Work::Retry => self.write_pending(&mut progress, Tally::default()),
                Work::Flush(number) => {
                    let error = self.finish_flush(&mut progress);
                    self.queue.flushed(number, error);
                }
                Work::Finish => {
                    let error = self.finish_flush(&mut progress);
                    self.queue.ended(error);
                    return;
                }
            }
        }
    }

    /// Writes a batch; the next one, if many events wait, is begun with
    /// meanwhile, and written after it.
    fn write_batch<'c>(
        &self,
        begun: &Begun,
        inbox: &Inbox,
        preparer: &mut Preparer<'_, 'c>,
        progress: &mut Progress,
    ) -> Option<Begun> {
        let blocks = preparer.complete(begun);
        if progress.is_full {
            self.drop_batch(begun.taken, progress);
            return None;
        }
        let ahead = inbox.take_ahead(WORTH_A_THREAD).map(|batch| preparer.begin(batch));
        progress.taken = begun.taken;
        let mut tally = Tally::default();
        self.encode_batch(blocks, preparer, progress, &mut tally);
        self.write_pending(progress, tally);
        ahead
    }

    /// Gives up a batch that comes after the end of the sidecar.
    fn drop_batch(&self, taken: Taken, progress: &mut Progress) {
        progress.taken = taken;
        let mut tally = Tally::default();
        let limit = self.options.limit_bytes;
        tally.sidecar_full(taken.events as u64, taken.bytes as u64, limit);
        self.write_pending(progress, tally);
    }

    /// Turns events into numbered lines and stores their blobs.
    fn encode_batch<'c>(
        &self,
        blocks: Vec<LineBlock<'c>>,
        preparer: &mut Preparer<'_, 'c>,
        progress: &mut Progress,
        tally: &mut Tally,
    ) {
        for captured in preparer.captured(blocks) {
            let number = progress.sequence + progress.pending.len() as u64 + 1;
            let encoded = match captured {
                Captured::Line(line) => Ok(Ok(line.numbered(number))),
                Captured::Apart(prepared) => catch_unwind(AssertUnwindSafe(|| {
                    let store = |blob: &Blob| self.sidecar(progress)?.store_blob(blob);
                    encode(*prepared, number, tally, store)
                })),
                _ => {
                    tally.met_defect(1);
                    continue;
                }
            };
            match encoded.map(|line| line.and_then(|line| self.fitting_sidecar(line))) {
                Ok(Ok(line)) => progress.pending.push(line),
                Ok(Err(error)) => tally.too_large(&error),
                Err(_) => tally.met_defect(1),
            }
        }
    }

    /// The line, if it has a place in a sidecar that rolls on: there is no end
    /// at which it could be told that it has none.
    fn fitting_sidecar(&self, line: PendingLine) -> Result<PendingLine, EventTooLarge> {
        let bytes = line.bytes_without_number() + NUMBER_AND_LINE_END;
        let capacity = self.options.capacity(Room::Ordinary);
        if self.options.when_full != WhenFull::Roll || bytes as u64 <= capacity {
            return Ok(line);
        }
        let limit = usize::try_from(capacity).unwrap_or(usize::MAX);
        Err(EventTooLarge::new(bytes, limit))
    }

    /// Writes the lines that wait. A storage that fails keeps them waiting; a
    /// place that is not safe, or the end, drops them.
    fn write_pending(&self, progress: &mut Progress, mut tally: Tally) {
        let waiting = progress.pending.len() as u64;
        let outcome = catch_unwind(AssertUnwindSafe(|| self.append_pending(progress, &mut tally)));
        let patience = progress.next_patience();
        progress.patience = None;
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(error)) if error.is_temporary() && !self.queue.is_closed() => {
                progress.patience = Some(patience);
                // Part of the batch may be in the file, and waits no more.
                let done = progress.taken.split_done(progress.pending.len());
                self.queue.stalled(describe(&error), done, |stats| tally.add_to(stats));
                return;
            }
            Ok(Err(error)) => {
                tally.dropped.bytes += bytes_of(&progress.pending);
                tally.dropped.storage += progress.pending.drain(..).count() as u64;
                tally.error = Some(describe(&error));
            }
            Err(_) => {
                // Whatever the adapter was about to do, it starts afresh.
                progress.sidecar = None;
                progress.pending.clear();
                tally.met_defect(waiting.saturating_sub(tally.written_events));
            }
        }
        self.queue.settle(std::mem::take(&mut progress.taken), |stats| tally.add_to(stats));
        if !progress.is_full {
            // Told again with the next batch or flush if it does not work now.
            catch_unwind(AssertUnwindSafe(|| self.tell_of_drops(progress).ok())).ok();
        }
    }

    fn sidecar<'p>(
        &self,
        progress: &'p mut Progress,
    ) -> Result<&'p mut (dyn SidecarWriter + 'static), SidecarError> {
        let sidecar = match progress.sidecar.take() {
            Some(sidecar) => sidecar,
            None => {
                let opened = self.store.open(&self.session, &self.options)?;
                self.queue.note(|stats| stats.exposure = opened.exposure());
                opened
            }
        };
        Ok(progress.sidecar.insert(sidecar).as_mut())
    }

    /// Makes everything durable, and tells of drops while there is a chance.
    fn finish_flush(&self, progress: &mut Progress) -> Option<String> {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let told = self.tell_of_drops(progress);
            let flushed = progress.sidecar.as_mut().map_or(Ok(()), |sidecar| sidecar.flush());
            match told {
                // A full sidecar is a state, not a failure of the flush.
                Err(SidecarError::Full { .. }) | Ok(()) => flushed,
                Err(error) => Err(error),
            }
        }));
        match outcome {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(describe(&error)),
            Err(_) => Some(DEFECT.to_owned()),
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
            // Without a thread there is nobody to tell.
            not_started: 0,
            bytes: dropped.bytes.saturating_sub(told.bytes),
        };
        if untold.total() == 0 {
            return Ok(());
        }
        self.write_truncated(untold, progress, room)?;
        progress.told = Dropped {
            sidecar_full: told.sidecar_full.max(dropped.sidecar_full),
            bytes: told.bytes.max(dropped.bytes),
            ..dropped
        };
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
            dropped_event_bytes: dropped.bytes,
            limit_bytes: self.options.limit_bytes,
        };
        let prepared = self.capture.prepare(event.event(), self.clock.now());
        let (number, mut tally) = (progress.sequence + 1, Tally::default());
        // Limits can be so small that even this event has a blob.
        let store = |blob: &Blob| self.sidecar(progress)?.store_blob(blob);
        let Ok(line) = encode(prepared, number, &mut tally, store) else { return Ok(()) };
        self.sidecar(progress)?.append(&[line], room)?;
        progress.sequence = number;
        Ok(())
    }
}

impl Progress {
    fn next_patience(&self) -> Duration {
        self.patience.map_or(FIRST_PATIENCE, |patience| (patience * 2).min(LAST_PATIENCE))
    }
}
