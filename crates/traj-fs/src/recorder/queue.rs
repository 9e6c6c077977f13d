//! The bounded queue between hosts and the writer.
//!
//! Events go through a channel of the standard library; counters bound its
//! size. Recording takes no lock, so a host never waits for another thread, the
//! writer or the disk. Only flushes, `record_waiting` and reports take the
//! lock.

mod bounds;
mod inbox;

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use traj_core::event::Event;

use self::bounds::QueueBounds;
pub(super) use self::inbox::{EventBatch, Inbox, TakenEvents, WriterWork};
use super::stats::{FlushReport, RecorderStats};

/// The most events that can wait, whatever the settings say. Their slots are
/// allocated at the start, not while recording.
const MOST_EVENTS: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct EventQueue {
    bounds: QueueBounds,
    messages: SyncSender<QueueMessage>,
    /// Whether a [`QueueMessage::Look`] is already in the channel, so that
    /// there is never a second one.
    look_sent: AtomicBool,
    state: Mutex<QueueState>,
    /// A writer whose storage failed waits here for a flush or the end.
    request: Condvar,
    /// Hosts wait here for space or for a flush.
    progress: Condvar,
}

/// A message from a host to the writer.
#[derive(Debug)]
enum QueueMessage {
    Event(Event),
    /// A flush or the end was requested: check the state.
    Look,
}

#[derive(Debug, Default)]
struct QueueState {
    hosts_wait: usize,
    /// The number of accepted events that were written or given up.
    settled: u64,
    /// The flushes in progress, oldest first.
    flushes: VecDeque<WantedFlush>,
    flushes_wanted: u64,
    flushes_done: u64,
    /// How the last flush ended.
    flush_error: Option<String>,
    is_closed: bool,
    /// The writer has ended and uses nothing any more.
    is_left: bool,
    /// The writer was never started.
    is_unstarted: bool,
    /// When the storage began to fail.
    failing_since: Option<Instant>,
    stats: RecorderStats,
}

/// A flush in progress. It waits for the events that were accepted before it,
/// not for later ones.
#[derive(Clone, Copy, Debug)]
struct WantedFlush {
    number: u64,
    accepted_before: u64,
}

impl EventQueue {
    pub(super) fn new(max_events: usize, max_bytes: usize) -> (Arc<Self>, Inbox) {
        let max_events = max_events.min(MOST_EVENTS);
        // A slot for every event that may wait, and for one `Look`.
        let (sender, messages) = sync_channel(max_events + 1);
        let queue = Arc::new(Self {
            bounds: QueueBounds::new(max_events, max_bytes),
            messages: sender,
            look_sent: AtomicBool::new(false),
            state: Mutex::default(),
            request: Condvar::new(),
            progress: Condvar::new(),
        });
        (Arc::clone(&queue), Inbox { queue, messages })
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // The state is consistent whenever a panic can occur.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event if there is space; otherwise counts it as dropped.
    pub(super) fn offer(&self, event: Event) {
        let bytes = event.memory();
        if self.bounds.reserve(bytes) {
            self.send(event);
        } else {
            self.bounds.refuse(bytes);
        }
    }

    /// Adds an event as soon as there is space. If the storage has failed for
    /// longer than `patience`, the event is dropped.
    pub(super) fn put(&self, event: Event, patience: Duration) {
        let bytes = event.memory();
        if self.bounds.reserve(bytes) || self.wait_for_room(bytes, patience) {
            self.send(event);
        } else {
            self.bounds.refuse(bytes);
        }
    }

    /// Waits for space. The writer takes the lock after it has freed space, so
    /// it wakes every thread that found none.
    fn wait_for_room(&self, bytes: usize, patience: Duration) -> bool {
        let mut state = self.lock();
        while !state.is_closed {
            if self.bounds.reserve(bytes) {
                return true;
            }
            let failing = state.failing_since.map_or(Duration::ZERO, |since| since.elapsed());
            if failing >= patience {
                return false;
            }
            state.hosts_wait += 1;
            let waited = self.progress.wait_timeout(state, patience - failing);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.hosts_wait -= 1;
        }
        false
    }

    /// Sends an event that has a reservation; wakes the writer if it sleeps.
    fn send(&self, event: Event) {
        let bytes = event.memory();
        if self.messages.try_send(QueueMessage::Event(event)).is_err() {
            // The writer has ended and takes no more events.
            self.bounds.take(1);
            self.bounds.release(bytes);
            let mut state = self.lock();
            state.settled += 1;
            state.stats.dropped.bytes += bytes as u64;
            if state.is_unstarted {
                state.stats.dropped.not_started += 1;
            } else {
                state.stats.dropped.defect += 1;
            }
        }
    }

    /// Makes the writer check the state, wherever it waits.
    fn ask_to_look(&self) {
        if !self.look_sent.swap(true, Ordering::AcqRel) {
            // A writer that has ended checks nothing.
            self.messages.try_send(QueueMessage::Look).ok();
        }
        self.request.notify_one();
    }

    /// Records that the writer is about to check the state.
    fn looks_now(&self) {
        self.look_sent.swap(false, Ordering::AcqRel);
    }

    /// Waits until a flush or the end is requested, for at most `patience`.
    fn wait_for_request(&self, patience: Duration) {
        let until = Instant::now() + patience;
        let mut state = self.lock();
        while state.flushes.is_empty() && !state.is_closed {
            let Some(left) = until.checked_duration_since(Instant::now()) else { break };
            let waited = self.request.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The newest flush whose events are all settled.
    fn due_flush(&self) -> Option<u64> {
        let state = self.lock();
        let is_due = |flush: &&WantedFlush| flush.accepted_before <= state.settled;
        state.flushes.iter().take_while(is_due).last().map(|flush| flush.number)
    }

    /// Settles events that the writer took, after `note` has counted them.
    pub(super) fn settle(&self, taken: TakenEvents, note: impl FnOnce(&mut RecorderStats)) {
        let mut state = self.lock();
        self.bounds.release(taken.bytes);
        state.settled += taken.events as u64;
        state.failing_since = None;
        note(&mut state.stats);
        if state.hosts_wait > 0 {
            self.progress.notify_all();
        }
    }

    /// Updates the counts without settling an event.
    pub(super) fn note(&self, note: impl FnOnce(&mut RecorderStats)) {
        note(&mut self.lock().stats);
    }

    /// Reports that the storage took only the part of the batch that is `done`.
    /// The writer keeps the rest. Every waiting flush returns at once.
    pub(super) fn stalled(
        &self,
        error: String,
        done: TakenEvents,
        note: impl FnOnce(&mut RecorderStats),
    ) {
        let mut state = self.lock();
        self.bounds.release(done.bytes);
        state.settled += done.events as u64;
        note(&mut state.stats);
        state.stats.last_error = Some(error.clone());
        state.flush_error = Some(error);
        state.failing_since.get_or_insert_with(Instant::now);
        state.flushes.clear();
        state.flushes_done = state.flushes_wanted;
        self.progress.notify_all();
    }

    /// Records how the writer's last flush ended.
    pub(super) fn ended(&self, error: Option<String>) {
        let wanted = self.lock().flushes_wanted;
        self.flushed(wanted, error);
    }

    /// Ends the flushes up to `number`.
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

    /// Waits until the writer has settled every event that is queued now.
    pub(super) fn flush(&self, timeout: Duration) -> FlushReport {
        let start = Instant::now();
        let mut state = self.lock();
        state.flushes_wanted += 1;
        let (number, accepted_before) = (state.flushes_wanted, self.bounds.accepted());
        state.flushes.push_back(WantedFlush { number, accepted_before });
        self.ask_to_look();
        state.hosts_wait += 1;
        let mut timed_out = false;
        while state.flushes_done < number && !state.is_closed && !timed_out {
            let left = timeout.saturating_sub(start.elapsed());
            let waited = self.progress.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            timed_out = start.elapsed() >= timeout && state.flushes_done < number;
        }
        state.hosts_wait -= 1;
        // Events recorded after the request do not concern this flush.
        let left = accepted_before.saturating_sub(state.settled);
        FlushReport { timed_out, timeout, ..self.report(&state, left) }
    }

    /// Reports what a flush would still wait for.
    pub(super) fn pending_report(&self) -> FlushReport {
        let state = self.lock();
        self.report(&state, self.bounds.accepted().saturating_sub(state.settled))
    }

    /// Closes the queue: no more events will come.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.ask_to_look();
        self.progress.notify_all();
    }

    /// Records that the writer has ended.
    pub(super) fn leave(&self) {
        self.lock().is_left = true;
        self.close();
    }

    /// Records that the writer could not be started.
    pub(super) fn not_started(&self, error: &io::Error) {
        let error = format!("the recorder's thread could not be started: {error}");
        let mut state = self.lock();
        state.is_unstarted = true;
        state.stats.last_error = Some(error.clone());
        state.flush_error = Some(error);
        drop(state);
        self.leave();
    }

    /// Waits until the writer has ended, for at most `timeout`.
    pub(super) fn wait_until_left(&self, timeout: Duration) -> bool {
        let is_here = |state: &mut QueueState| !state.is_left;
        let waited = self.progress.wait_timeout_while(self.lock(), timeout, is_here);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_left
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    pub(super) fn stats(&self) -> RecorderStats {
        let state = self.lock();
        let mut stats = state.stats.clone();
        stats.recorded_events = self.bounds.accepted() + self.bounds.refused();
        stats.dropped.queue_full += self.bounds.refused();
        stats.dropped.bytes += self.bounds.refused_bytes();
        stats.queued_events = self.bounds.accepted().saturating_sub(state.settled);
        stats.queued_bytes = self.bounds.bytes();
        stats
    }

    /// The report of a flush with `pending` events before it.
    fn report(&self, state: &QueueState, pending: u64) -> FlushReport {
        FlushReport {
            pending_events: pending,
            pending_bytes: if pending > 0 { self.bounds.bytes() } else { 0 },
            error: state.flush_error.clone(),
            ..FlushReport::nothing_to_do()
        }
    }
}
