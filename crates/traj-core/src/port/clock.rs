//! The current time.

use std::fmt::Debug;

use crate::timestamp::UnixMillis;

/// Provides the current time.
pub trait Clock: Debug + Send + Sync {
    /// The current time.
    fn now(&self) -> UnixMillis;
}
