//! The writer's end of the queue.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use traj_core::event::Event;

use super::{EventQueue, QueueMessage};

/// The most events that the writer takes at once.
const BATCH_EVENTS: usize = 512;

/// About how many bytes of events the writer takes at once.
const BATCH_BYTES: usize = 1024 * 1024;

/// Events that the writer took at once.
#[derive(Debug, Default)]
pub(in crate::recorder) struct EventBatch {
    pub(in crate::recorder) events: Vec<Event>,
    pub(in crate::recorder) taken: TakenEvents,
}

/// The number and size of events that the writer took and has not settled.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::recorder) struct TakenEvents {
    pub(in crate::recorder) events: usize,
    pub(in crate::recorder) bytes: usize,
}

impl TakenEvents {
    /// Splits off the events that are done; the last `waiting` ones still wait.
    /// Bytes are split by mean size, because they are an estimate anyway.
    pub(in crate::recorder) fn split_done(&mut self, waiting: usize) -> Self {
        let events = self.events.saturating_sub(waiting);
        let bytes = self.bytes.checked_div(self.events).unwrap_or(0) * events;
        (self.events, self.bytes) = (self.events - events, self.bytes - bytes);
        Self { events, bytes }
    }
}

/// What the writer does next.
#[derive(Debug)]
pub(in crate::recorder) enum WriterWork {
    /// Write these events.
    Batch(EventBatch),
    /// Write the events that were taken ahead of time.
    Ahead,
    /// Retry the lines that the storage did not take.
    Retry,
    /// Make everything durable, then report the flush with this number.
    Flush(u64),
    /// No more events will come.
    Finish,
}

/// The receiving end of the queue. The writer owns it: once it is dropped,
/// sending fails.
#[derive(Debug)]
pub(in crate::recorder) struct Inbox {
    pub(super) queue: Arc<EventQueue>,
    pub(super) messages: Receiver<QueueMessage>,
}

impl Inbox {
    /// Waits for work. If there is a `patience`, the storage has failed: waits
    /// for that time, or until a flush or the end requests another try. If
    /// `is_ahead`, events were taken ahead of time: only a flush comes before
    /// them.
    pub(in crate::recorder) fn next_work(
        &self,
        patience: Option<Duration>,
        is_ahead: bool,
    ) -> WriterWork {
        if let Some(patience) = patience {
            self.queue.wait_for_request(patience);
            return WriterWork::Retry;
        }
        let mut first = None;
        loop {
            // Checked first, so that events from before the end are still
            // taken.
            let is_closed = self.queue.is_closed();
            if first.is_none()
                && let Some(number) = self.queue.due_flush()
            {
                return WriterWork::Flush(number);
            }
            if is_ahead {
                return WriterWork::Ahead;
            }
            let (batch, was_asked) = self.take_batch(first.take());
            if !batch.events.is_empty() {
                return WriterWork::Batch(batch);
            }
            if was_asked {
                // The request came after the state was read. Sleeping now would
                // never end.
                continue;
            }
            if is_closed {
                return WriterWork::Finish;
            }
            match self.messages.recv() {
                Ok(QueueMessage::Event(event)) => first = Some(event),
                Ok(QueueMessage::Look) => self.queue.looks_now(),
                Err(_) => return WriterWork::Finish,
            }
        }
    }

    /// The next events, if there are at least `least`. A request among them is
    /// handled with the next work, before the writer sleeps.
    pub(in crate::recorder) fn take_ahead(&self, least: usize) -> Option<EventBatch> {
        if self.queue.bounds.waiting() < least as u64 {
            return None;
        }
        let (batch, _) = self.take_batch(None);
        (!batch.events.is_empty()).then_some(batch)
    }

    /// The waiting events, and whether there was a request among them.
    fn take_batch(&self, first: Option<Event>) -> (EventBatch, bool) {
        let mut was_asked = false;
        let mut events = Vec::from_iter(first);
        let mut bytes = events.first().map_or(0, Event::memory);
        while events.len() < BATCH_EVENTS && bytes < BATCH_BYTES {
            match self.messages.try_recv() {
                Ok(QueueMessage::Event(event)) => {
                    bytes += event.memory();
                    events.push(event);
                }
                Ok(QueueMessage::Look) => {
                    self.queue.looks_now();
                    was_asked = true;
                }
                Err(_) => break,
            }
        }
        self.queue.bounds.take(events.len());
        let taken = TakenEvents { events: events.len(), bytes };
        (EventBatch { events, taken }, was_asked)
    }
}
