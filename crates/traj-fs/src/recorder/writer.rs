//! The writer's thread: takes batches, and executes what the recording policy
//! decides about their lines.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use traj_core::capture::recording::{AfterWrite, Dropped, Phase, Recording, WriteStep};
use traj_core::capture::{Blob, Capture, Captured, LineBlock};
use traj_core::id::SessionId;
use traj_core::port::{Clock, Room, SidecarError, SidecarOptions, SidecarWriter, TrajectoryStore};

use super::encode::encode;
use super::prepare::{BegunBatch, Preparer, WORTH_A_THREAD};
use super::queue::{EventQueue, Inbox, TakenEvents, WriterWork};
use super::tally::{BatchTally, DEFECT, describe};

pub(super) struct Writer {
    pub(super) queue: Arc<EventQueue>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) capture: Capture,
    pub(super) session: SessionId,
    pub(super) store: Arc<dyn TrajectoryStore>,
    pub(super) options: SidecarOptions,
}

/// What a writer remembers between batches.
struct WriterState {
    /// Kept after failures: it knows which file it wrote to.
    sidecar: Option<Box<dyn SidecarWriter>>,
    /// Decides what happens to the lines.
    recording: Recording,
    /// The events that were taken and are not settled yet.
    taken: TakenEvents,
}

/// Makes sure that nobody waits for a writer that has ended, even if it
/// panicked.
struct LeaveAtEnd<'q>(&'q EventQueue);

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
        let recording = Recording::new(self.options.clone());
        let mut progress = WriterState { sidecar: None, recording, taken: TakenEvents::default() };
        let mut ahead = None;
        loop {
            match inbox.next_work(progress.recording.pause(), ahead.is_some()) {
                WriterWork::Batch(batch) if progress.recording.is_full() => {
                    self.drop_batch(batch.taken, &mut progress);
                }
                WriterWork::Batch(batch) => {
                    let begun = preparer.begin(batch);
                    ahead = self.write_batch(&begun, inbox, &mut preparer, &mut progress);
                }
                WriterWork::Ahead => {
                    let Some(begun) = ahead.take() else { continue };
                    ahead = self.write_batch(&begun, inbox, &mut preparer, &mut progress);
                }
                WriterWork::Retry => self.write_pending(&mut progress, BatchTally::default()),
                WriterWork::Flush(number) => {
                    let error = self.finish_flush(&mut progress);
                    self.queue.flushed(number, error);
                }
                WriterWork::Finish => {
                    let error = self.finish_flush(&mut progress);
                    self.queue.ended(error);
                    return;
                }
            }
        }
    }

    /// Writes a batch. If many events wait, the helper begins with the next
    /// batch meanwhile.
    fn write_batch<'c>(
        &self,
        begun: &BegunBatch,
        inbox: &Inbox,
        preparer: &mut Preparer<'_, 'c>,
        progress: &mut WriterState,
    ) -> Option<BegunBatch> {
        let blocks = preparer.complete(begun);
        if progress.recording.is_full() {
            self.drop_batch(begun.taken, progress);
            return None;
        }
        let ahead = inbox.take_ahead(WORTH_A_THREAD).map(|batch| preparer.begin(batch));
        progress.taken = begun.taken;
        let mut tally = BatchTally::default();
        self.encode_batch(blocks, preparer, progress, &mut tally);
        self.write_pending(progress, tally);
        ahead
    }

    /// Drops a batch because the sidecar is full.
    fn drop_batch(&self, taken: TakenEvents, progress: &mut WriterState) {
        progress.taken = taken;
        let mut tally = BatchTally::default();
        let limit = self.options.limit_bytes;
        tally.sidecar_full(taken.events as u64, taken.bytes as u64, limit);
        self.write_pending(progress, tally);
    }

    /// Turns events into numbered lines and stores their blobs.
    fn encode_batch<'c>(
        &self,
        blocks: Vec<LineBlock<'c>>,
        preparer: &mut Preparer<'_, 'c>,
        progress: &mut WriterState,
        tally: &mut BatchTally,
    ) {
        let WriterState { sidecar, recording, .. } = progress;
        for captured in preparer.captured(blocks) {
            let number = recording.next_number();
            let encoded = match captured {
                Captured::Line(line) => Ok(Ok(line.numbered(number))),
                Captured::Apart(prepared) => catch_unwind(AssertUnwindSafe(|| {
                    let store = |blob: &Blob| self.open(sidecar)?.store_blob(blob);
                    encode(*prepared, number, tally, store)
                })),
                _ => {
                    tally.met_defect(1);
                    continue;
                }
            };
            match encoded.map(|line| line.and_then(|line| recording.push(line))) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tally.too_large(&error),
                Err(_) => tally.met_defect(1),
            }
        }
    }

    /// Writes the pending lines, and reports drops.
    fn write_pending(&self, progress: &mut WriterState, mut tally: BatchTally) {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.take_steps(progress, &mut tally)));
        let Ok(outcome) = outcome else {
            // The adapter may be in any state. Open a new one.
            progress.sidecar = None;
            tally.met_defect(progress.recording.abandon());
            return self.settle(progress, tally);
        };
        let error = outcome.err();
        let is_ending = error.is_some() && self.queue.is_closed();
        let phase = if is_ending { Phase::Ending } else { Phase::Running };
        match progress.recording.after_write(error.as_ref(), phase) {
            AfterWrite::Retry(_) => {
                // Part of the batch may already be in the file.
                let done = progress.taken.split_done(progress.recording.waiting());
                let error = error.as_ref().map_or_else(String::new, |error| describe(error));
                self.queue.stalled(error, done, |stats| tally.add_to(stats));
            }
            AfterWrite::GivenUp(dropped) => {
                tally.given_up(&dropped, error.as_ref());
                self.settle(progress, tally);
            }
            _ => self.settle(progress, tally),
        }
    }

    /// Executes the steps of the policy until it is done or a failure stops it.
    fn take_steps(
        &self,
        progress: &mut WriterState,
        tally: &mut BatchTally,
    ) -> Result<(), SidecarError> {
        loop {
            let WriterState { sidecar, recording, .. } = &mut *progress;
            let dropped = match recording.next_step() {
                WriteStep::Append(lines) => {
                    let count = lines.len() as u64;
                    let appended = self
                        .open(sidecar)
                        .and_then(|sidecar| sidecar.append(lines, Room::Ordinary));
                    match appended {
                        Ok(appended) => {
                            tally.appended(count, appended);
                            recording.appended();
                        }
                        Err(error) if recording.append_failed(&error).is_break() => {
                            return Err(error);
                        }
                        Err(_) => {}
                    }
                    continue;
                }
                WriteStep::Close(dropped) => dropped,
                _ => return Ok(()),
            };
            tally.sidecar_full(dropped.sidecar_full, dropped.bytes, self.options.limit_bytes);
            // The drops are counted whether or not the report fits.
            self.write_report(&dropped, progress).ok();
        }
    }

    /// Counts a batch, and reports drops while the sidecar takes events.
    fn settle(&self, progress: &mut WriterState, tally: BatchTally) {
        self.queue.settle(std::mem::take(&mut progress.taken), |stats| tally.add_to(stats));
        if !progress.recording.is_full() {
            // If this fails, the next batch or flush reports them.
            catch_unwind(AssertUnwindSafe(|| self.report_drops(progress).ok())).ok();
        }
    }

    /// The sidecar, opened with the first line.
    fn open<'p>(
        &self,
        sidecar: &'p mut Option<Box<dyn SidecarWriter>>,
    ) -> Result<&'p mut (dyn SidecarWriter + 'static), SidecarError> {
        let opened = match sidecar.take() {
            Some(opened) => opened,
            None => {
                let opened = self.store.open(&self.session, &self.options)?;
                self.queue.note(|stats| stats.exposure = opened.exposure());
                opened
            }
        };
        Ok(sidecar.insert(opened).as_mut())
    }

    /// Makes everything durable and reports drops.
    fn finish_flush(&self, progress: &mut WriterState) -> Option<String> {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let reported = self.report_drops(progress);
            let flushed = progress.sidecar.as_mut().map_or(Ok(()), |sidecar| sidecar.flush());
            match reported {
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

    /// Writes a `trace.truncated` event for drops that were not reported yet.
    fn report_drops(&self, progress: &mut WriterState) -> Result<(), SidecarError> {
        let dropped = self.queue.stats().dropped;
        let Some(unreported) = progress.recording.unreported(&dropped) else { return Ok(()) };
        self.write_report(&unreported, progress)?;
        progress.recording.mark_reported(&dropped);
        Ok(())
    }

    fn write_report(
        &self,
        dropped: &Dropped,
        progress: &mut WriterState,
    ) -> Result<(), SidecarError> {
        let WriterState { sidecar, recording, .. } = progress;
        let (event, room) = recording.report_of(dropped);
        let prepared = self.capture.prepare(event, self.clock.now());
        let mut tally = BatchTally::default();
        // With very small limits, even this event has a blob.
        let store = |blob: &Blob| self.open(sidecar)?.store_blob(blob);
        let Ok(line) = encode(prepared, recording.report_number(), &mut tally, store) else {
            return Ok(());
        };
        self.open(sidecar)?.append(&[line], room)?;
        recording.report_written();
        Ok(())
    }
}
