//! Records the events of a run in memory.

use std::sync::{Arc, Mutex, PoisonError};

use crate::event::Event;
use crate::port::EventSink;

/// Keeps every event. Clones share the events.
#[derive(Clone, Debug, Default)]
pub struct MemoryEventSink {
    events: Arc<Mutex<Vec<Event>>>,
}

impl MemoryEventSink {
    /// An empty sink.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The recorded events, in order.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The kinds of the recorded events, in order.
    #[must_use]
    pub fn kinds(&self) -> Vec<String> {
        self.events().iter().map(|event| event.kind.as_str().to_owned()).collect()
    }
}

impl EventSink for MemoryEventSink {
    fn record(&self, event: Event) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }
}
