//! Requests of limited size.
//!
//! Requests in protobuf that follow each other in a file are one request:
//! repeated fields add up. In JSON Lines, each line is a request.

use std::io::{self, Write as _};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message as _;
use traj_core::run::Run;

use super::attributes::Attributes;
use crate::convert::Output;

/// A request has at most this many spans, or about this many bytes.
const MOST_SPANS: usize = 256;
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// How requests are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::convert) enum Encoding {
    Protobuf,
    JsonLines,
}

/// Collects spans and writes requests.
pub(super) struct Requests<'w> {
    out: Output<'w>,
    encoding: Encoding,
    resource: Resource,
    spans: Vec<Span>,
    bytes: usize,
    written: u64,
}

impl<'w> Requests<'w> {
    pub(super) fn new(out: Output<'w>, encoding: Encoding) -> Self {
        let resource = Resource::default();
        Self { out, encoding, resource, spans: Vec::new(), bytes: 0, written: 0 }
    }

    /// Begins the spans of a run.
    pub(super) fn begin(&mut self, run: &Run) {
        let mut attributes = Attributes::default();
        attributes.text("service.name", Some(run.agent.as_deref().unwrap_or("agent")));
        attributes.text("service.version", run.agent_version.as_deref());
        self.resource = Resource { attributes: attributes.into_values(), ..Resource::default() };
    }

    pub(super) fn push(&mut self, span: Span) -> io::Result<()> {
        self.bytes += span.encoded_len();
        self.spans.push(span);
        if self.spans.len() >= MOST_SPANS || self.bytes >= MOST_BYTES {
            return self.flush();
        }
        Ok(())
    }

    /// Writes what was collected.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let spans = std::mem::take(&mut self.spans);
        self.bytes = 0;
        if spans.is_empty() {
            return Ok(());
        }
        self.written += spans.len() as u64;
        let scope = InstrumentationScope {
            name: "traj".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..InstrumentationScope::default()
        };
        let scope_spans = ScopeSpans { scope: Some(scope), spans, ..ScopeSpans::default() };
        let resource_spans = ResourceSpans {
            resource: Some(self.resource.clone()),
            scope_spans: vec![scope_spans],
            ..ResourceSpans::default()
        };
        let request = ExportTraceServiceRequest { resource_spans: vec![resource_spans] };
        match self.encoding {
            Encoding::Protobuf => self.out.write_all(&request.encode_to_vec()),
            Encoding::JsonLines => {
                serde_json::to_writer(&mut self.out, &request)?;
                self.out.write_all(b"\n")
            }
        }
    }

    /// Flushes the output. Returns how many spans were written.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.flush()?;
        self.out.flush()?;
        Ok(self.written)
    }
}
