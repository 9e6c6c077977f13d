//! OTLP-JSON: spans that follow the conventions for generative AI, one request per
//! line, as the file exporter of the OpenTelemetry collector writes them.
//!
//! `gather` sorts the spans of one conversation by time and turns them into rows:
//! the session, what an agent was given, each model call, and each tool call with
//! its result. Attributes are members of one object. Names that begin with `traj.`
//! are those that `traj convert` adds.
//!
//! - `facts`: what the rows state.

mod facts;

use super::numbered_facts::numbered_facts;
use super::{Dialect, STARTED_BY, gathered_row, said, text};
use crate::json::{Json, Object};
use crate::run::{AgentStart, Place, RunEvent, Thread};

/// The member of a request that holds its spans.
const SPANS: &str = "resourceSpans";

/// A row that `gather` makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpanRow {
    /// Whose spans they are.
    Session,
    /// What an agent was given before a model call.
    Input,
    /// A model call and what it said.
    Chat,
    /// A tool call.
    Call,
    /// The end of a tool call.
    Result,
    /// An error outside a tool.
    Error,
    /// How the run ended.
    End,
    /// What was not read.
    Lost,
    /// Another span, such as that of a sub-agent.
    Other,
}

impl SpanRow {
    const ALL: [Self; 9] = [
        Self::Session,
        Self::Input,
        Self::Chat,
        Self::Call,
        Self::Result,
        Self::Error,
        Self::End,
        Self::Lost,
        Self::Other,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Session => "otlp/session",
            Self::Input => "otlp/input",
            Self::Chat => "otlp/chat",
            Self::Call => "otlp/call",
            Self::Result => "otlp/result",
            Self::Error => "otlp/error",
            Self::End => "otlp/end",
            Self::Lost => "otlp/lost",
            Self::Other => "otlp/span",
        }
    }

    fn of(row: &Json<'_>) -> Option<Self> {
        let name = text(row, "type")?;
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The row, with its own number.
    pub(crate) fn row<'r>(self, number: u64) -> Object<'r> {
        gathered_row(self.name(), number)
    }
}

/// Whether a file that begins like this has such requests. A document may begin on
/// several lines.
pub(crate) fn recognises_beginning(head: &[u8]) -> bool {
    let start = head.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let named = start.and_then(|start| start.strip_prefix(b"\"resourceSpans\""));
    named.is_some_and(|rest| {
        let rest = rest.trim_ascii_start();
        rest.is_empty() || rest.starts_with(b":")
    })
}

/// Whether a row is one of ours, or a request.
pub(super) fn recognises(row: &Json<'_>) -> bool {
    SpanRow::of(row).is_some() || row.get(SPANS).is_some_and(|spans| spans.as_array().is_some())
}

/// Emits the facts of a row.
pub(super) fn decode<'r>(row: &'r Json<'r>, place: Place, emit: &mut dyn FnMut(RunEvent<'r>)) {
    let at = Dialect::OtlpJson.time_of(row);
    let thread = said(row, "thread").map_or(Thread::Main, Thread::SubAgent);
    let agent_start = match (thread, said(row, STARTED_BY)) {
        (Thread::SubAgent(agent), Some(call)) => Some(AgentStart { agent, call }),
        _ => None,
    };
    let mut emit_one = numbered_facts(row, place, emit, |event| {
        (event.at, event.thread, event.agent_start) = (at, thread, agent_start);
        event.entry = said(row, "id");
    });
    let mut is_stated = false;
    facts::decode(SpanRow::of(row), row, &mut |fact| {
        is_stated = true;
        emit_one(fact);
    });
    if !is_stated {
        emit_one(facts::other(row));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_recognised_by_their_first_member() {
        for (head, expected) in [
            (r#"{"resourceSpans":[{"#, true),
            ("{\n  \"resourceSpans\": [", true),
            (r#"{"resourceLogs":[]}"#, false),
            (r#"{"a":"resourceSpans"}"#, false),
        ] {
            assert_eq!(recognises_beginning(head.as_bytes()), expected, "{head}");
        }
    }
}
