//! Ids, parents and times of spans.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::trace::v1::Status;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use sha2::{Digest as _, Sha256};
use traj_core::timestamp::UnixMillis;

use crate::inspect::agent_calls::AgentCalls;

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

/// The spans of the calls that started sub-agents.
#[derive(Debug, Default)]
pub(super) struct Starters {
    calls: AgentCalls,
    spans: BTreeMap<String, Starter>,
}

/// A call that started a sub-agent.
#[derive(Debug)]
struct Starter {
    /// The sub-agent that made the call; `None` for the main agent.
    agent: Option<String>,
    span: Vec<u8>,
}

impl Starters {
    /// Waits for the calls that started sub-agents.
    pub(super) const fn new(calls: AgentCalls) -> Self {
        Self { calls, spans: BTreeMap::new() }
    }

    /// Notes a call in the event `seq`, if it started a sub-agent.
    pub(super) fn add(&mut self, call: &str, agent: Option<&str>, seq: u64, span: &[u8]) {
        for (started, is_last) in self.calls.started(call, agent, seq) {
            if is_last || !self.spans.contains_key(started) {
                let starter = Starter { agent: agent.map(str::to_owned), span: span.to_owned() };
                self.spans.insert(started.to_owned(), starter);
            }
        }
    }

    /// The span of the call that started a sub-agent. `None` if no call is known, or
    /// if agents would have started each other.
    pub(super) fn span(&self, sub_agent: &str) -> Option<Vec<u8>> {
        let first = self.spans.get(sub_agent)?;
        let mut starter = first;
        for _ in 0..self.spans.len() {
            let Some(agent) = &starter.agent else { return Some(first.span.clone()) };
            match self.spans.get(agent) {
                Some(next) => starter = next,
                None => return Some(first.span.clone()),
            }
        }
        None
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

#[cfg(test)]
mod tests {
    use traj_core::run::Run;

    use super::*;

    #[test]
    fn a_sub_agent_is_below_the_call_that_started_it() {
        let (run, names) = (Run::default(), ["a", "b", "c", "x", "y", "z"]);
        let mut starters = Starters::new(AgentCalls::of(&run, names.into_iter()));
        starters.add("a", None, 1, b"1");
        starters.add("a", None, 2, b"2");
        starters.add("b", Some("a"), 3, b"3");
        starters.add("x", Some("y"), 4, b"4");
        starters.add("y", Some("x"), 5, b"5");
        starters.add("z", Some("z"), 6, b"6");
        starters.add("other", None, 7, b"7");
        let span = |name: &str| starters.span(name);
        assert_eq!(span("a"), Some(b"1".to_vec()));
        assert_eq!(span("b"), Some(b"3".to_vec()));
        for unknown in ["c", "x", "y", "z", "other"] {
            assert_eq!(span(unknown), None, "{unknown}");
        }
    }
}
