//! The recorder: takes events from a host without ever disturbing it.
//!
//! [`Recorder::record`] puts an event into a bounded queue and returns. One
//! thread redacts, encodes and writes; a second one helps with large batches.
//! Failures are counted, reported in a `trace.truncated` event once writing
//! works again, and never returned to the host.

mod encode;
mod prepare;
mod queue;
mod stats;
mod tally;
mod writer;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use traj_core::capture::Capture;
pub use traj_core::capture::recording::Dropped;
use traj_core::capture::recording::FinalRetries;
use traj_core::event::{Event, RunContext};
use traj_core::port::{Clock, EventSink, SidecarOptions, TrajectoryStore};
use traj_core::redaction::Redactor;
use traj_core::settings::Settings;

use self::queue::EventQueue;
pub use self::stats::{FlushReport, RecorderStats};
use self::writer::Writer;

/// Records the events of one run. Create one per run, and share it by reference
/// or in an [`Arc`].
#[derive(Debug)]
pub struct Recorder {
    /// `None` if recording is off. Every call then returns at once.
    active: Option<ActiveRecorder>,
}

#[derive(Debug)]
struct ActiveRecorder {
    queue: Arc<EventQueue>,
    clock: Arc<dyn Clock>,
    flush_timeout: Duration,
    /// `None` if the thread could not be started. Every event is then dropped.
    thread: Option<JoinHandle<()>>,
}

impl Recorder {
    /// A recorder that keeps nothing and costs nothing.
    #[must_use]
    pub const fn disabled() -> Self {
        Self { active: None }
    }

    /// Starts recording the run that `context` describes. If the settings
    /// disable recording, this is a [`Self::disabled`] recorder. If the thread
    /// cannot be started, nothing is recorded: every event counts as dropped,
    /// and every flush reports why.
    #[must_use]
    pub fn start(
        store: Arc<dyn TrajectoryStore>,
        clock: Arc<dyn Clock>,
        redactor: Redactor,
        context: RunContext,
        settings: &Settings,
    ) -> Self {
        if !settings.enabled {
            return Self::disabled();
        }
        let (queue, inbox) = EventQueue::new(settings.queue_events, settings.queue_bytes);
        let writer = Writer {
            queue: Arc::clone(&queue),
            clock: Arc::clone(&clock),
            capture: Capture::new(redactor, settings.limits.clone(), &context),
            session: context.session,
            store,
            options: SidecarOptions::from_settings(settings),
        };
        let started = thread::Builder::new()
            .name("traj-recorder".to_owned())
            .spawn(move || writer.run(&inbox));
        let thread = started.map_err(|error| queue.not_started(&error)).ok();
        let flush_timeout = settings.flush_timeout;
        Self { active: Some(ActiveRecorder { queue, clock, flush_timeout, thread }) }
    }

    /// Whether anything is recorded: recording is enabled, and its thread was
    /// started.
    #[must_use]
    pub const fn is_enabled(&self) -> bool {
        matches!(self.active, Some(ActiveRecorder { thread: Some(_), .. }))
    }

    /// Records an event. Returns at once; if the queue is full, the event is
    /// dropped and counted.
    pub fn record(&self, event: Event) {
        if let Some(active) = &self.active {
            active.queue.offer(active.stamp(event));
        }
    }

    /// Records an event, waiting for space in the queue: for hosts that prefer
    /// backpressure to losing events. If the storage has failed for longer than
    /// the flush timeout, the event is dropped.
    pub fn record_waiting(&self, event: Event) {
        if let Some(active) = &self.active {
            active.queue.put(active.stamp(event), active.flush_timeout);
        }
    }

    /// Waits until everything recorded so far is stored, for at most the flush
    /// timeout in the settings.
    pub fn flush(&self) -> FlushReport {
        self.active.as_ref().map_or_else(FlushReport::nothing_to_do, |active| {
            active.queue.flush(active.flush_timeout)
        })
    }

    /// Waits until everything recorded so far is stored, for at most `timeout`.
    pub fn flush_within(&self, timeout: Duration) -> FlushReport {
        self.active
            .as_ref()
            .map_or_else(FlushReport::nothing_to_do, |active| active.queue.flush(timeout))
    }

    /// Like [`Self::flush`], for async hosts: the wait happens on a thread for
    /// blocking work.
    #[cfg(feature = "tokio")]
    pub async fn flush_async(&self) -> FlushReport {
        let Some(active) = &self.active else { return FlushReport::nothing_to_do() };
        let (queue, timeout) = (Arc::clone(&active.queue), active.flush_timeout);
        let stats = Arc::clone(&active.queue);
        tokio::task::spawn_blocking(move || queue.flush(timeout))
            .await
            .unwrap_or_else(|_| stats.pending_report())
    }

    /// Flushes and ends the recorder within the flush timeout. If the storage
    /// fails, the recorder retries for about another second and then gives up.
    /// Unless the time ran out, nothing is pending afterwards and the counts
    /// are final.
    ///
    /// A recorder that is dropped instead tries the storage only once more.
    #[must_use]
    pub fn finish(mut self) -> (FlushReport, RecorderStats) {
        let Some(mut active) = self.active.take() else {
            return (FlushReport::nothing_to_do(), RecorderStats::default());
        };
        let report = active.end(FinalRetries::standard());
        (report, active.queue.stats())
    }

    /// What was recorded, written and dropped so far.
    #[must_use]
    pub fn stats(&self) -> RecorderStats {
        self.active.as_ref().map(|active| active.queue.stats()).unwrap_or_default()
    }
}

impl ActiveRecorder {
    /// Stamps an event when it happens, not when it is written. A clock that
    /// panics must not take the host down: the writer asks it again.
    fn stamp(&self, mut event: Event) -> Event {
        if event.at.is_none() {
            event.at = catch_unwind(AssertUnwindSafe(|| self.clock.now())).ok();
        }
        event
    }

    /// Flushes, retries while the storage fails, and ends the writer. It waits
    /// for the writer even after a failure, because the process must not end in
    /// the middle of a line.
    fn end(&mut self, mut retries: FinalRetries) -> FlushReport {
        let (start, timeout) = (Instant::now(), self.flush_timeout);
        let left = || timeout.saturating_sub(start.elapsed());
        let mut report = self.queue.flush(timeout);
        while report.error.is_some()
            && self.thread.is_some()
            && let Some(pause) = retries.next_pause(left())
        {
            thread::sleep(pause);
            report = self.queue.flush(left());
        }
        self.queue.close();
        let has_left = self.queue.wait_until_left(left());
        if let Some(thread) = self.thread.take().filter(|_| has_left) {
            // A writer that panicked has nothing to report.
            thread.join().ok();
        }
        FlushReport { timed_out: !has_left, timeout, ..self.queue.pending_report() }
    }
}

impl EventSink for Recorder {
    fn record(&self, event: Event) {
        Self::record(self, event);
    }
}

impl Drop for ActiveRecorder {
    /// Flushes within the timeout. A writer that hangs on its disk is
    /// abandoned, and the host continues.
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.end(FinalRetries::none());
        }
    }
}
