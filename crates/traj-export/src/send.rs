//! Sends what leaves this host.
//!
//! - `retry`: when a failed attempt is repeated;
//! - `traces`: sends traces to a receiver, with the feature `otlp`.

mod retry;
#[cfg(feature = "otlp")]
mod traces;

pub use retry::{Attempts, GaveUp, Pace, RetryLimits, pause_after};
#[cfg(feature = "otlp")]
pub use traces::{SendError, SendReport, TraceRequests, WaitingRequests, send_traces};
