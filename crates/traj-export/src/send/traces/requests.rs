//! Requests that wait in a scratch file until all of them are ready.

use std::io::{self, Write};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message as _;
use traj_core::port::{Scratch, ScratchError};

/// Takes the requests of a conversion, each in one write.
pub struct TraceRequests<'s> {
    scratch: &'s mut dyn Scratch,
    waiting: &'s mut WaitingRequests,
}

/// Where the requests are.
#[derive(Debug, Default)]
pub struct WaitingRequests {
    requests: Vec<WaitingRequest>,
    bytes: u64,
}

/// Where a request is.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingRequest {
    offset: u64,
    length: usize,
    spans: u64,
}

impl<'s> TraceRequests<'s> {
    /// Keeps requests in an empty scratch file.
    #[must_use]
    pub fn new(scratch: &'s mut dyn Scratch, waiting: &'s mut WaitingRequests) -> Self {
        Self { scratch, waiting }
    }
}

impl std::fmt::Debug for TraceRequests<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TraceRequests").field("waiting", &self.waiting).finish()
    }
}

impl Write for TraceRequests<'_> {
    fn write(&mut self, request: &[u8]) -> io::Result<usize> {
        let spans = spans_of(request)?;
        self.scratch.append(request).map_err(io::Error::other)?;
        let length = request.len();
        self.waiting.requests.push(WaitingRequest { offset: self.waiting.bytes, length, spans });
        self.waiting.bytes += length as u64;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How many spans a request has. An incomplete request is an error: it must not be
/// sent.
fn spans_of(request: &[u8]) -> io::Result<u64> {
    let request = ExportTraceServiceRequest::decode(request).map_err(io::Error::other)?;
    let scopes = request.resource_spans.iter().flat_map(|resource| &resource.scope_spans);
    Ok(scopes.map(|scope| scope.spans.len() as u64).sum())
}

impl WaitingRequests {
    /// How many requests there are.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.requests.len() as u64
    }

    /// How many bytes they have, before they are compressed.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many spans they have.
    #[must_use]
    pub fn spans(&self) -> u64 {
        self.requests.iter().map(|request| request.spans).sum()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = WaitingRequest> {
        self.requests.iter().copied()
    }
}

impl WaitingRequest {
    pub(super) const fn spans(self) -> u64 {
        self.spans
    }

    pub(super) fn read(self, scratch: &dyn Scratch) -> Result<Vec<u8>, ScratchError> {
        let mut bytes = vec![0; self.length];
        scratch.read_exact_at(self.offset, &mut bytes)?;
        Ok(bytes)
    }
}
