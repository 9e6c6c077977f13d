//! The bounded queue between hosts and the writer.
//!
//! Events go through a channel of the standard library, behind counts that
//! bound it: recording takes no lock, so a host never waits for another, for
//! the writer or for the disk. The lock is for who asks, waits and reports.

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

/// Events that can wait at most, whatever the settings say: their places are
/// there from the start, so that recording never has to ask for memory.
const MOST_EVENTS: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct Queue {
    bounds: QueueBounds,
    messages: SyncSender<QueueMessage>,
    /// A [`QueueMessage::Look`] is on its way: another would tell nothing new.
    look_sent: AtomicBool,
    state: Mutex<QueueState>,
    /// A writer whose storage failed waits here for a flush or the end.
    request: Condvar,
    /// Hosts wait here for room or for a flush.
    progress: Condvar,
}

/// What hosts send to the writer.
#[derive(Debug)]
enum QueueMessage {
    Event(Event),
    /// A flush or the end is wanted: look at the state.
    Look,
}

#[derive(Debug, Default)]
struct QueueState {
    hosts_wait: usize,
    /// Accepted events that were written or given up.
    settled: u64,
    /// Flushes that wait, oldest first.
    flushes: VecDeque<WantedFlush>,
    flushes_wanted: u64,
    flushes_done: u64,
    /// How the last flush ended.
    flush_error: Option<String>,
    is_closed: bool,
    /// The writer has left, and touches nothing any more.
    is_left: bool,
    /// There never was a writer.
    is_unstarted: bool,
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

impl Queue {
    pub(super) fn new(max_events: usize, max_bytes: usize) -> (Arc<Self>, Inbox) {
        let max_events = max_events.min(MOST_EVENTS);
        // A place for every event that may wait, and for one look.
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
        // The state is consistent between any two statements that can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event if there is room, else counts it as dropped.
    pub(super) fn offer(&self, event: Event) {
        let bytes = event.memory();
        if self.bounds.reserve(bytes) {
            self.send(event);
        } else {
            self.bounds.refuse(bytes);
        }
    }

    /// Adds an event as soon as there is room. A storage that has failed for
    /// longer than `patience` will make none: the event is then dropped.
    pub(super) fn put(&self, event: Event, patience: Duration) {
        let bytes = event.memory();
        if self.bounds.reserve(bytes) || self.wait_for_room(bytes, patience) {
            self.send(event);
        } else {
            self.bounds.refuse(bytes);
        }
    }

    /// The writer counts under the lock after it made room: whoever looked
    /// before that and waits is woken.
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

    /// Hands a reserved event over; wakes the writer if it sleeps.
    fn send(&self, event: Event) {
        let bytes = event.memory();
        if self.messages.try_send(QueueMessage::Event(event)).is_err() {
            // The writer is gone, and takes nothing any more.
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

    /// Makes the writer look at the state, wherever it waits.
    fn ask_to_look(&self) {
        if !self.look_sent.swap(true, Ordering::AcqRel) {
            // A writer that is gone has nothing to look at.
            self.messages.try_send(QueueMessage::Look).ok();
        }
        self.request.notify_one();
    }

    /// The writer is about to look at the state.
    fn looks_now(&self) {
        self.look_sent.swap(false, Ordering::AcqRel);
    }

    /// Waits until a flush or the end is wanted, at most `patience`.
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

    /// Forgets events the writer took, after `note` counted them.
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

    /// Takes note of something that settles nothing.
    pub(super) fn note(&self, note: impl FnOnce(&mut RecorderStats)) {
        note(&mut self.lock().stats);
    }

    /// Says that the storage did not take the batch, or what is left of it
    /// without the part that is `done`; the writer keeps it. Every flush that
    /// waits hears of it at once.
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

    /// How the writer's last flush ended, after which it leaves.
    pub(super) fn ended(&self, error: Option<String>) {
        let wanted = self.lock().flushes_wanted;
        self.flushed(wanted, error);
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
        // What the host recorded after it asked is not this flush's matter.
        let left = accepted_before.saturating_sub(state.settled);
        FlushReport { timed_out, timeout, ..self.report(&state, left) }
    }

    /// What a flush would still have to wait for.
    pub(super) fn pending_report(&self) -> FlushReport {
        let state = self.lock();
        self.report(&state, self.bounds.accepted().saturating_sub(state.settled))
    }

    /// No more events will come.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.ask_to_look();
        self.progress.notify_all();
    }

    /// The writer leaves, however it came to that.
    pub(super) fn leave(&self) {
        self.lock().is_left = true;
        self.close();
    }

    /// There is no writer, and there will be none.
    pub(super) fn not_started(&self, error: &io::Error) {
        let error = format!("the recorder's thread could not be started: {error}");
        let mut state = self.lock();
        state.is_unstarted = true;
        state.stats.last_error = Some(error.clone());
        state.flush_error = Some(error);
        drop(state);
        self.leave();
    }

    /// Waits until the writer has left, at most `timeout`.
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

    /// How a flush ends that has `pending` events before it.
    fn report(&self, state: &QueueState, pending: u64) -> FlushReport {
        FlushReport {
            pending_events: pending,
            pending_bytes: if pending > 0 { self.bounds.bytes() } else { 0 },
            error: state.flush_error.clone(),
            ..FlushReport::nothing_to_do()
        }
    }
}
