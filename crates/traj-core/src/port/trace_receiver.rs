//! A receiver of traces, such as a collector.

use std::error::Error;
use std::fmt::Debug;
use std::time::Duration;

/// The answer of a receiver to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceAnswer {
    /// It took the request, except for this many spans.
    Taken {
        /// How many spans it rejected.
        rejected: u64,
    },
    /// It cannot take the request now.
    Busy {
        /// Its status code.
        code: u16,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// It refuses the request.
    Refused {
        /// Its status code.
        code: u16,
    },
    /// It redirects to another address. Nothing is sent there.
    Elsewhere {
        /// Its status code.
        code: u16,
    },
}

/// Why a request got no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceReceiverError {
    /// The receiver cannot be reached, or the connection ended early. It may have
    /// the request.
    #[error("{host} cannot be reached, or did not answer in time")]
    Unreachable {
        /// The host.
        host: String,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The receiver does not prove who it is.
    #[error("the certificate of {host} is not trusted")]
    Untrusted {
        /// The host.
        host: String,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// Takes requests with traces, each a complete one in protobuf.
///
/// Implementations send a request once and wait for the answer, for a limited time.
/// They do not decide whether to send it again.
pub trait TraceReceiver: Debug {
    /// The host that requests go to, without credentials.
    fn host(&self) -> &str;

    /// Sends a request. Returns the answer and how many bytes were sent.
    ///
    /// # Errors
    /// See [`TraceReceiverError`].
    fn send(&self, request: &[u8]) -> Result<(TraceAnswer, u64), TraceReceiverError>;
}
