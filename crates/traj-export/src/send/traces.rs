//! Sends traces to a receiver.
//!
//! All requests are ready, redacted and checked before the first one leaves. A
//! request is sent again if the receiver is busy or cannot be reached; `retry` decides
//! when. Span ids are digests, so a request that arrives twice is recognised.
//!
//! - `requests`: the requests that wait to be sent.

mod requests;

use std::time::Duration;

use traj_core::port::{Scratch, TraceAnswer, TraceReceiver, TraceReceiverError};

use super::retry::{Attempts, GaveUp, Pace, RetryLimits};
pub use requests::{TraceRequests, WaitingRequests};

/// How often a request is sent, and how long the pauses are.
const LIMITS: RetryLimits = RetryLimits { attempts: 6, longest_pause: Duration::from_secs(120) };

/// Why sending stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The receiver refused a request.
    #[error("the receiver refused a request with status {code}")]
    Refused {
        /// Its status code.
        code: u16,
    },
    /// The receiver redirects to another address.
    #[error("the receiver points to another address (status {code}), and nothing is sent there")]
    Elsewhere {
        /// Its status code.
        code: u16,
    },
    /// The receiver stayed busy.
    #[error("the receiver was busy {attempts} times in a row (status {code})")]
    Busy {
        /// Its last status code.
        code: u16,
        /// How often a request was sent.
        attempts: u32,
    },
    /// The receiver asks for a longer pause than is acceptable.
    #[error("the receiver asks for a pause of {seconds} seconds (status {code})")]
    TooLong {
        /// Its status code.
        code: u16,
        /// The pause.
        seconds: u64,
    },
    /// The receiver did not answer.
    #[error(transparent)]
    Receiver(#[from] TraceReceiverError),
    /// Somebody asked to stop.
    #[error("asked to stop")]
    Stopped,
    /// A request cannot be read back.
    #[error("a request cannot be read back")]
    Scratch(#[from] traj_core::port::ScratchError),
}

/// What was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SendReport {
    /// How many requests the receiver took.
    pub requests: u64,
    /// How many spans they have.
    pub spans: u64,
    /// How many of them the receiver rejected.
    pub rejected: u64,
    /// How often a request was sent again.
    pub repeated: u64,
    /// How many bytes were sent, each request once.
    pub bytes: u64,
}

/// Sends requests, one after the other. `report` says what was sent, also if it
/// fails.
///
/// # Errors
/// See [`SendError`]; later requests were not sent.
pub fn send_traces(
    requests: &WaitingRequests,
    scratch: &dyn Scratch,
    receiver: &dyn TraceReceiver,
    pace: &mut dyn Pace,
    report: &mut SendReport,
) -> Result<(), SendError> {
    for request in requests.iter() {
        let bytes = request.read(scratch)?;
        let (rejected, sent) = send_one(&bytes, receiver, pace, report)?;
        report.requests += 1;
        report.spans += request.spans();
        report.rejected += rejected.min(request.spans());
        report.bytes += sent;
    }
    Ok(())
}

/// Sends a request until the receiver takes it. Returns how many spans it
/// rejected, and how many bytes were sent.
fn send_one(
    bytes: &[u8],
    receiver: &dyn TraceReceiver,
    pace: &mut dyn Pace,
    report: &mut SendReport,
) -> Result<(u64, u64), SendError> {
    let mut attempts = Attempts::new(LIMITS);
    loop {
        let (failure, asked) = match receiver.send(bytes) {
            Ok((TraceAnswer::Taken { rejected }, sent)) => return Ok((rejected, sent)),
            Ok((TraceAnswer::Busy { code, retry_after }, _)) => (Failed::Busy(code), retry_after),
            Ok((TraceAnswer::Elsewhere { code }, _)) => return Err(SendError::Elsewhere { code }),
            Ok((TraceAnswer::Refused { code }, _)) => return Err(SendError::Refused { code }),
            // Another answer is not known: the receiver may not have the request.
            Ok(_) => return Err(SendError::Refused { code: 0 }),
            Err(error @ TraceReceiverError::Unreachable { .. }) => (Failed::NoAnswer(error), None),
            Err(error) => return Err(error.into()),
        };
        attempts.wait_after_failure(asked, pace).map_err(|gave_up| failure.after(gave_up))?;
        report.repeated += 1;
    }
}

/// A failure after which a request is sent again.
enum Failed {
    /// The receiver is busy, with this status code.
    Busy(u16),
    NoAnswer(TraceReceiverError),
}

impl Failed {
    /// The error if the request is not sent again.
    fn after(self, gave_up: GaveUp) -> SendError {
        match (gave_up, self) {
            (GaveUp::Stopped, _) => SendError::Stopped,
            (GaveUp::TooLong { asked }, Self::Busy(code)) => {
                SendError::TooLong { code, seconds: asked.as_secs() }
            }
            (GaveUp::Failed { attempts }, Self::Busy(code)) => SendError::Busy { code, attempts },
            (_, Self::NoAnswer(error)) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests;
