//! Receives the events of a run.

use std::fmt::Debug;

use crate::event::Event;

/// Records the events of one run. Recording never fails for the host: the sink
/// handles errors.
pub trait EventSink: Debug + Send + Sync {
    /// Records an event.
    fn record(&self, event: Event);
}

/// A sink that discards events.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEvents(());

impl NoEvents {
    /// A sink that discards events.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

impl EventSink for NoEvents {
    fn record(&self, _event: Event) {}
}
