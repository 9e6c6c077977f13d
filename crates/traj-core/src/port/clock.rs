//! The current time.

use std::fmt::Debug;

use crate::timestamp::UnixMillis;

/// Tells the time.
pub trait Clock: Debug + Send + Sync {
    /// The instant now.
    fn now(&self) -> UnixMillis;
}
