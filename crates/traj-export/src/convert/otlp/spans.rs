//! Ids and times of spans.

use opentelemetry_proto::tonic::trace::v1::Status;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use sha2::{Digest as _, Sha256};
use traj_core::timestamp::UnixMillis;

/// The ids of a run's spans: digests of what they stand for.
#[derive(Debug, Default)]
pub(super) struct SpanIds {
    pub(super) session: String,
}

impl SpanIds {
    pub(super) fn new(session: &str) -> Self {
        Self { session: session.to_owned() }
    }

    /// The id of the trace. Tables of events have the same.
    pub(super) fn trace(&self) -> Vec<u8> {
        digest(&["trace", &self.session], 16)
    }

    /// The id of the span of an agent.
    pub(super) fn agent(&self, sub_agent: Option<&str>) -> Vec<u8> {
        match sub_agent {
            Some(id) => self.of("agent", id),
            None => self.of("run", ""),
        }
    }

    /// The id of another span.
    pub(super) fn of(&self, kind: &str, what: &str) -> Vec<u8> {
        digest(&["span", &self.session, kind, what], 8)
    }
}

/// The first bytes of a digest. Their lengths keep the parts apart.
fn digest(parts: &[&str], bytes: usize) -> Vec<u8> {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().iter().take(bytes).copied().collect()
}

/// Nanoseconds since 1970.
pub(super) fn nanos(at: UnixMillis) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or_default().saturating_mul(1_000_000)
}

/// The status of something that failed.
pub(super) fn failed(message: Option<&str>) -> Status {
    Status { message: message.unwrap_or_default().to_owned(), code: StatusCode::Error.into() }
}
