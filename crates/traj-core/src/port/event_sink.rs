//! Where a run's events go.

use std::fmt::Debug;

use crate::event::Event;

/// Records events of one run. Recording never fails its host: errors stay inside the sink.
pub trait EventSink: Debug + Send + Sync {
    /// Takes one event.
    fn record(&self, event: Event);
}

/// A sink that keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEvents(());

impl NoEvents {
    /// The sink that keeps nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

impl EventSink for NoEvents {
    fn record(&self, _event: Event) {}
}
