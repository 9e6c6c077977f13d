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

/// Events that may wait.
const MAX_EVENTS: usize = 65_536;

/// Bytes of events that may wait, roughly.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Events the writer takes at once.
const BATCH_EVENTS: usize = 512;

/// Bytes of events the writer takes at once, roughly.
const BATCH_BYTES: usize = 1024 * 1024;

#[derive(Debug)]
pub(super) struct Queue {
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
    flushes_wanted: u64,
    flushes_done: u64,
    is_closed: bool,
    stats: RecorderStats,
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
    pub(super) fn new() -> Self {
        Self { state: Mutex::default(), work: Condvar::new(), progress: Condvar::new() }
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
        if state.has_room(queued.bytes) {
            self.push(state, queued);
        } else {
            state.stats.dropped.queue_full += 1;
        }
    }

    /// Adds an event as soon as there is room.
    pub(super) fn put(&self, event: Event) {
        let queued = Queued::new(event);
        let mut state = self.lock();
        state.stats.recorded_events += 1;
        while !state.has_room(queued.bytes) && !state.is_closed {
            state.hosts_wait += 1;
            state = self.progress.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.hosts_wait -= 1;
        }
        self.push(state, queued);
    }

    fn push(&self, mut state: MutexGuard<'_, State>, queued: Queued) {
        state.bytes += queued.bytes;
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
            while state.flushes_wanted == state.flushes_done && !state.is_closed {
                let Some(left) = until.checked_duration_since(Instant::now()) else { break };
                let waited = self.work.wait_timeout(state, left);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            return Work::Retry;
        }
        loop {
            if !state.events.is_empty() {
                return Work::Batch(state.take_batch());
            }
            if state.flushes_wanted > state.flushes_done {
                return Work::Flush(state.flushes_wanted);
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
        (state.taken_events, state.taken_bytes) = (0, 0);
        note(&mut state.stats);
        if state.hosts_wait > 0 {
            self.progress.notify_all();
        }
    }

    /// Says that the storage did not take the batch; the writer keeps it.
    /// Every flush that waits hears of it at once.
    pub(super) fn stalled(&self, error: String) {
        let mut state = self.lock();
        state.stats.last_error = Some(error);
        state.flushes_done = state.flushes_wanted;
        self.progress.notify_all();
    }

    /// Tells the flushes up to `number` how they ended.
    pub(super) fn flushed(&self, number: u64, error: Option<String>) {
        let mut state = self.lock();
        state.flushes_done = number;
        state.stats.last_error = error;
        self.progress.notify_all();
    }

    /// Waits until the writer has settled everything that is queued now.
    pub(super) fn flush(&self, timeout: Duration) -> FlushReport {
        let until = Instant::now() + timeout;
        let mut state = self.lock();
        state.flushes_wanted += 1;
        let number = state.flushes_wanted;
        self.work.notify_one();
        state.hosts_wait += 1;
        let mut timed_out = false;
        while state.flushes_done < number && !timed_out {
            let left = until.saturating_duration_since(Instant::now());
            let waited = self.progress.wait_timeout(state, left);
            let (next, _) = waited.unwrap_or_else(PoisonError::into_inner);
            state = next;
            timed_out = Instant::now() >= until && state.flushes_done < number;
        }
        state.hosts_wait -= 1;
        FlushReport { timed_out, timeout, ..state.report() }
    }

    /// What a flush would still have to wait for.
    #[cfg(feature = "tokio")]
    pub(super) fn pending_report(&self) -> FlushReport {
        self.lock().report()
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
    fn has_room(&self, bytes: usize) -> bool {
        let waiting = self.bytes + self.taken_bytes;
        // One event of any size is taken when nothing else waits.
        let fits = waiting + bytes <= MAX_BYTES || waiting == 0;
        self.events.len() < MAX_EVENTS && fits
    }

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

    fn report(&self) -> FlushReport {
        FlushReport {
            pending_events: (self.events.len() + self.taken_events) as u64,
            pending_bytes: (self.bytes + self.taken_bytes) as u64,
            error: self.stats.last_error.clone(),
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
