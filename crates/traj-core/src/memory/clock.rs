//! A clock that stands still until a test sets it.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::port::Clock;
use crate::timestamp::UnixMillis;

/// A clock for tests.
#[derive(Debug, Default)]
pub struct FixedClock(AtomicI64);

impl FixedClock {
    /// A clock set to `at`.
    #[must_use]
    pub const fn new(at: UnixMillis) -> Self {
        Self(AtomicI64::new(at.as_millis()))
    }

    /// Moves the clock, in either direction.
    pub fn set(&self, at: UnixMillis) {
        self.0.store(at.as_millis(), Ordering::Relaxed);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> UnixMillis {
        UnixMillis::new(self.0.load(Ordering::Relaxed)).unwrap_or_default()
    }
}
