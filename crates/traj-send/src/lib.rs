//! Sends OpenTelemetry traces over HTTP and TLS.
//!
//! - [`Endpoint`]: where requests go, without credentials;
//! - [`TraceHeaders`]: the headers that the user configured, never shown;
//! - [`HttpTraceReceiver`]: implements the port
//!   [`TraceReceiver`](traj_core::port::TraceReceiver);
//! - `answer`: interprets a response.

mod answer;
mod endpoint;
mod headers;
mod receiver;

pub use endpoint::{Endpoint, EndpointError};
pub use headers::TraceHeaders;
pub use receiver::HttpTraceReceiver;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
