//! The system's clock.

use std::time::{SystemTime, UNIX_EPOCH};

use traj_core::port::Clock;
use traj_core::timestamp::UnixMillis;

/// The time of the operating system.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SystemClock;

impl SystemClock {
    /// The system's clock.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the adapter of the Clock port")]
    fn now(&self) -> UnixMillis {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since_1970.map_or(0, |elapsed| elapsed.as_millis());
        i64::try_from(millis).ok().and_then(UnixMillis::new).unwrap_or_default()
    }
}
