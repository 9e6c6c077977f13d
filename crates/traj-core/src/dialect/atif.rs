//! ATIF: trajectories in the Agent Trajectory Interchange Format. `gather` turns
//! the document into rows: the trajectory without its steps, and for each step what
//! was said, the model call, each tool call and each result.
//!
//! Facts that the format has no member for are read from `extra`, under the names
//! that `traj convert` writes. All of them are optional.
//!
//! - `step`: what a step says;
//! - `calls`: model calls, tool calls and results.

mod calls;
mod step;

use std::borrow::Cow;

use super::numbered_facts::numbered_facts;
use super::{Dialect, gathered_row, said, text};
use crate::json::{Json, Object};
use crate::run::{
    CompiledContext, Content, EndStatus, Fact, Place, RunEvent, SessionEnd, SessionStart, Thread,
};

/// What the version of a document begins with.
const VERSION: &str = "ATIF-v";

/// A row that `gather` makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtifRow {
    /// A trajectory without its steps.
    Trajectory,
    /// What a step says.
    Step,
    /// The model call of a step.
    Model,
    /// A tool call.
    Call,
    /// The result of a call.
    Result,
    /// How the run ended.
    End,
}

impl AtifRow {
    const ALL: [Self; 6] =
        [Self::Trajectory, Self::Step, Self::Model, Self::Call, Self::Result, Self::End];

    const fn name(self) -> &'static str {
        match self {
            Self::Trajectory => "atif/trajectory",
            Self::Step => "atif/step",
            Self::Model => "atif/model",
            Self::Call => "atif/call",
            Self::Result => "atif/result",
            Self::End => "atif/end",
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

/// Whether a file that begins like this is such a document. The version may come
/// after other members, and on any line.
pub(crate) fn recognises_beginning(head: &[u8]) -> bool {
    let start = head.get(..head.len().min(4_096)).unwrap_or_default();
    let start = start.trim_ascii_start();
    if !start.starts_with(b"{") {
        return false;
    }
    let after = |word: &[u8]| {
        let place = memchr::memmem::find(start, word)? + word.len();
        start.get(place..).map(<[u8]>::trim_ascii_start)
    };
    let value = after(b"\"schema_version\"").and_then(|rest| rest.strip_prefix(b":"));
    value.is_some_and(|value| {
        let value = value.trim_ascii_start().strip_prefix(b"\"");
        value.is_some_and(|value| value.starts_with(VERSION.as_bytes()))
    })
}

/// Whether a row is one of ours.
pub(super) fn recognises(row: &Json<'_>) -> bool {
    AtifRow::of(row).is_some() || text(row, "schema_version").is_some_and(is_version)
}

fn is_version(version: &str) -> bool {
    version.starts_with(VERSION)
}

/// Emits the facts of a row.
pub(super) fn decode<'r>(row: &'r Json<'r>, place: Place, emit: &mut dyn FnMut(RunEvent<'r>)) {
    let at = Dialect::Atif.time_of(row);
    let thread = said(row, "thread").map_or(Thread::Main, Thread::SubAgent);
    let mut emit_one = numbered_facts(row, place, emit, |event| {
        (event.at, event.thread) = (at, thread);
        event.entry = said(row, "id");
        event.agent_start = calls::agent_start(row);
    });
    let member = |name: &str| row.get(name).unwrap_or(&Json::Null);
    match AtifRow::of(row) {
        Some(AtifRow::Trajectory) if thread == Thread::Main => {
            trajectory(member("trajectory"), &mut emit_one);
        }
        Some(AtifRow::Trajectory) => emit_one(other("trajectory", true)),
        Some(AtifRow::Step) => step::decode(row, member("step"), &mut emit_one),
        Some(AtifRow::Model) => emit_one(Fact::ModelCall(calls::model_call(row))),
        Some(AtifRow::Call) => emit_one(Fact::ToolCall(calls::tool_call(member("call")))),
        Some(AtifRow::Result) => emit_one(calls::result(row, member("result"))),
        Some(AtifRow::End) => emit_one(match text(row, "status").unwrap_or_default() {
            // Another turn began, and no step states its end.
            "open" => Fact::TurnStarted,
            status => Fact::TurnEnded(SessionEnd {
                status: EndStatus::parse(status),
                error: None,
                reason: None,
                is_final: true,
            }),
        }),
        None => emit_one(other(text(row, "type").unwrap_or_default(), false)),
    }
}

fn other(name: &str, is_known: bool) -> Fact<'_> {
    Fact::Other { name: Cow::Borrowed(name), is_known }
}

fn trajectory<'r>(trajectory: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let agent = trajectory.get("agent").unwrap_or(&Json::Null);
    let known = |name: &str| said(agent, name).filter(|text| *text != "unknown");
    let extra = trajectory.get("extra").unwrap_or(&Json::Null);
    emit(Fact::SessionStarted(SessionStart {
        session: said(trajectory, "session_id").or_else(|| said(trajectory, "trajectory_id")),
        agent: known("name").map(Cow::Borrowed),
        agent_version: known("version"),
        workspace: said(extra, "workspace"),
        model: said(agent, "model_name"),
        ..SessionStart::default()
    }));
    if let Some(tools) = agent.get("tool_definitions").filter(|tools| tools.as_array().is_some()) {
        let (system, tools) = (Content::None, Some(tools));
        emit(Fact::ContextCompiled(CompiledContext { system, tools }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_recognised_by_its_version() {
        for (head, expected) in [
            ("{\"schema_version\":\"ATIF-v1.8\",", true),
            ("{\n  \"agent\": {},\n  \"schema_version\" : \"ATIF-v1.4\"", true),
            ("{\"schema_version\":\"1.8\"}", false),
            ("[{\"schema_version\":\"ATIF-v1.8\"}]", false),
            ("{\"schema_version\"", false),
        ] {
            assert_eq!(recognises_beginning(head.as_bytes()), expected, "{head}");
        }
    }
}
