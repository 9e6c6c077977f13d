//! The bounded queue between hosts and the writer.
//!
//! A lock that is only held to move values, so that a host waits for other
//! hosts at most, never for the disk.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use traj_core::event::Event;
use traj_core::json::Json;

use super::stats::{FlushReport, RecorderStats};

/// Events the writer takes at once.
const BATCH_EVENTS: usize = 512;

/// Bytes of events the writer takes at once, roughly.
const BATCH_BYTES: usize = 1024 * 1024;

#[derive(Debug)]
pub(super) struct Queue {
    /// Events that may wait.
    max_events: usize,
    /// Bytes of events that may wait, roughly.
    max_bytes: usize,
    state: Mutex<State>,
    /// The writer waits here for work.
    work: Condvar,
    /// Hosts wait here for room or for a flush.
    progress: Condvar,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Queued>,
    bytes: usize,
    /// Taken by the writer and not settled yet.
    taken_events: usize,
    taken_bytes: usize,
    writer_waits: bool,
    hosts_wait: usize,
    /// Events that were ever put into the queue.
    accepted: u64,
    /// Events of those that were written or given up.
    settled: u64,
    /// Flushes that wait, oldest first.
    flushes: VecDeque<WantedFlush>,
    flushes_wanted: u64,
    flushes_done: u64,
    /// How the last flush ended.
    flush_error: Option<String>,
    is_closed: bool,
    /// When the storage began to refuse what it is given.
    failing_since: Option<Instant>,
    stats: RecorderStats,
}

/// A flush waits for what was accepted before it, not for what comes after.
#[derive(Clone, Copy, Debug)]
struct WantedFlush {
    number: u64,
    accepted_before: u64,
}

/// An event with its size in memory, roughly.
#[derive(Debug)]
struct Queued {
    event: Event,
    bytes: usize,
}

/// What the writer is to do next.
#[derive(Debug)]
pub(super) enum Work {
    /// Write these events.
    Batch(Vec<Event>),
    /// Try again what the storage did not take.
    Retry,
    /// Make everything durable; then say so with this number.
    Flush(u64),
    /// No more events will come.
    Finish,
}

impl Queue {
    pub(super) fn new(max_events: usize, max_bytes: usize) -> Self {
        let (work, progress) = (Condvar::new(), Condvar::new());
        Self { max_events, max_bytes, state: Mutex::default(), work, progress }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is consistent between any two statements that can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event if there is room, else counts it as dropped.
    pub(super) fn offer(&self, event: Event) {
        let queued = Queued::new(event);
        let mut state = self.lock();
        state.stats.recorded_events += 1;
        if self.has_room(&state, queued.bytes) {
            self.push(state, queued);
        } else {
            state.stats.dropped.queue_full += 1;
        }
    }

    /// Adds an event as soon as there is room. A storage that has failed for
    /// longer than `patience` will make none: the event is then dropped.
    pub(super) fn put(&self, event: Event, patience: Duration) {
        let queued = Queued::new(event);
        let mut state = self.lock();
        state.stats.recorded_events += 1;
        while !self.has_room(&state, queued.bytes) && !state.is_closed {
            let failing = state.failing_since.map_or(Duration::ZERO, |since| since.elapsed());
            if failing >= patience {
                state.stats.dropped.queue_full += 1;
                return;
            }
            state.hosts_wait += 1;
            let waited = self.progress.wait_timeout(state, patience - failing);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.hosts_wait -= 1;
        }
        if state.is_closed {
            state.stats.dropped.queue_full += 1;
        } else {
            self.push(state, queued);
        }
    }

    fn has_room(&self, state: &State, bytes: usize) -> bool {
        let waiting = state.bytes + state.taken_bytes;
        // One event of any size is taken when nothing else waits.
        let fits = waiting + bytes <= self.max_bytes || waiting == 0;
        state.events.len() < self.max_events && fits
    }

    fn push(&self, mut state: MutexGuard<'_, State>, queued: Queued) {
        state.bytes += queued.bytes;
        state.accepted += 1;
        state.events.push_back(queued);
        let wake = std::mem::take(&mut state.writer_waits);
        drop(state);
        if wake {
            self.work.notify_one();
        }
    }

    /// Waits for work. With `patience`, the storage has failed: waits only so
    /// long, or until a flush or the end asks for a last try.
    pub(super) fn next_work(&self, patience: Option<Duration>) -> Work {
        let mut state = self.lock();
        if let Some(patience) = patience {
            let until = Instant::now() + patience;
            while state.flushes.is_empty() && !state.is_closed {
                let Some(left) = until.checked_duration_since(Instant::now()) else { break };
                let waited = self.work.wait_timeout(state, left);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            return Work::Retry;
        }
        loop {
            if let Some(number) = state.due_flush() {
                return Work::Flush(number);
            }
            if !state.events.is_empty() {
                return Work::Batch(state.take_batch());
            }
            if state.is_closed {
                return Work::Finish;
            }
            state.writer_waits = true;
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.writer_waits = false;
        }
    }

    /// Forgets the events the writer took, after `note` counted them.
    pub(super) fn settle(&self, note: impl FnOnce(&mut RecorderStats)) {
        let mut state = self.lock();
        state.settled += state.taken_events as u64;
        (state.taken_events, state.taken_bytes) = (0, 0);
        state.failing_since = None;
        note(&mut state.stats);
        if state.hosts_wait > 0 {
            self.progress.notify_all();
        }
    }

    /// Says that the storage did not take the batch, or its rest; the writer
    /// keeps it. Every flush that waits hears of it at once.
    pub(super) fn stalled(&self, error: String, note: impl FnOnce(&mut RecorderStats)) {
        let mut state = self.lock();
        note(&mut state.stats);
        state.stats.last_error = Some(error.clone());
        state.flush_error = Some(error);
        state.failing_since.get_or_insert_with(Instant::now);
        state.flushes.clear();
        state.flushes_done = state.flushes_wanted;
        self.progress.notify_all();
    }

    /// Tells the flushes up to `number` how they ended.
    pub(super) fn flushed(&self, number: u64, error: Option<String>) {
        let mut state = self.lock();
        state.flushes_done = number;
        state.flushes.retain(|flush| flush.number > number);
        if error.is_some() {
            state.stats.last_error.clone_from(&error);
        }
        state.flush_error = error;
        self.progress.notify_all();
    }

    /// Waits until the writer has settled everything that is queued now.
    pub(super) fn flush(&self, timeout: Duration) -> FlushReport {
        let start = Instant::now();
        let mut state = self.lock();
        state.flushes_wanted += 1;
        let (number, accepted_before) = (state.flushes_wanted, state.accepted);
        state.flushes.push_back(WantedFlush { number, accepted_before });
        self.work.notify_one();
        state.hosts_wait += 1;
        let mut timed_out = false;
        while state.flushes_done < number && !state.is_closed && !timed_out {
            let left = timeout.saturating_sub(start.elapsed());
            let waited = self.progress.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            timed_out = start.elapsed() >= timeout && state.flushes_done < number;
        }
        state.hosts_wait -= 1;
        // What the host recorded after it asked is not this flush's matter.
        let left = accepted_before.saturating_sub(state.settled);
        FlushReport { timed_out, timeout, ..state.report(left) }
    }

    /// What a flush would still have to wait for.
    #[cfg(feature = "tokio")]
    pub(super) fn pending_report(&self) -> FlushReport {
        let state = self.lock();
        state.report(state.accepted - state.settled)
    }

    /// No more events will come.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.work.notify_one();
        self.progress.notify_all();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    pub(super) fn stats(&self) -> RecorderStats {
        let state = self.lock();
        let mut stats = state.stats.clone();
        stats.queued_events = (state.events.len() + state.taken_events) as u64;
        stats.queued_bytes = (state.bytes + state.taken_bytes) as u64;
        stats
    }
}

impl State {
    fn take_batch(&mut self) -> Vec<Event> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while batch.len() < BATCH_EVENTS && bytes < BATCH_BYTES {
            let Some(queued) = self.events.pop_front() else { break };
            bytes += queued.bytes;
            batch.push(queued.event);
        }
        self.bytes -= bytes;
        (self.taken_events, self.taken_bytes) = (batch.len(), bytes);
        batch
    }

    /// The newest flush whose events are all settled.
    fn due_flush(&self) -> Option<u64> {
        let is_due = |flush: &&WantedFlush| flush.accepted_before <= self.settled;
        self.flushes.iter().take_while(is_due).last().map(|flush| flush.number)
    }

    /// How a flush ends that has `pending` events before it.
    fn report(&self, pending: u64) -> FlushReport {
        let bytes = if pending > 0 { self.bytes + self.taken_bytes } else { 0 };
        FlushReport {
            pending_events: pending,
            pending_bytes: bytes as u64,
            error: self.flush_error.clone(),
            ..FlushReport::nothing_to_do()
        }
    }
}

impl Queued {
    fn new(event: Event) -> Self {
        let data = event.data.as_ref();
        let bytes =
            data.map_or(0, |data| data.iter().map(|(name, value)| name.len() + size(value)).sum());
        Self { event, bytes: bytes + size_of::<Event>() }
    }
}

/// The memory a value takes, roughly.
fn size(value: &Json<'_>) -> usize {
    let inside = match value {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(size).sum(),
        Json::Object(object) => object.iter().map(|(name, value)| name.len() + size(value)).sum(),
        Json::Null | Json::Bool(_) | Json::Number(_) => 0,
    };
    inside + size_of::<Json<'_>>()
}
