//! Events of a bundle. Sidecar events are unchanged; a transcript event contains
//! its entry, or the fact that it states.

mod encode;
mod fact;
mod manifest;
#[cfg(test)]
mod tests;

pub use encode::encode_event;
pub use manifest::decode_manifest;

use std::borrow::Cow;

use super::{Dialect, openclaw, sidecar, text};
use crate::event::TRACE_SCHEMA;
use crate::json::Json;
use crate::run::{AgentStart, Arguments, Fact, Origin, Place, RunEvent, Thread, ToolCallFact};

/// Whether a row is a transcript event of a bundle. The other events look like
/// those of a sidecar.
pub(super) fn recognises(row: &Json<'_>) -> bool {
    text(row, "traceSchema") == Some(TRACE_SCHEMA) && text(row, "source") == Some("transcript")
}

/// The sub-agent that a call started.
fn agent_start<'r>(started: &'r Json<'r>) -> Option<AgentStart<'r>> {
    let agent = super::said(started, "subAgent")?;
    Some(AgentStart { agent, call: super::said(started, "toolCallId")? })
}

/// Emits the facts of an event.
pub(super) fn decode<'r>(row: &'r Json<'r>, place: Place, emit: &mut dyn FnMut(RunEvent<'r>)) {
    let data = row.get("data").unwrap_or(&Json::Null);
    let message = data.get("message").filter(|message| message.as_object().is_some());
    let has_role = message.is_some_and(|message| text(message, "role").is_some());
    if text(row, "source") != Some("transcript") && !has_role {
        sidecar::decode(row, place, emit);
        return;
    }
    let mut emit_one = |fact: Fact<'r>| {
        let mut event = RunEvent::new(Origin::Transcript, place, row, fact);
        event.at = Dialect::Bundle.time_of(row);
        event.entry = text(row, "entryId");
        event.parent = text(row, "parentEntryId");
        event.turn = super::said(data, "turnId");
        event.thread = super::said(data, "subAgent").map_or(Thread::Main, Thread::SubAgent);
        event.agent_start = data.get(encode::STARTED).and_then(agent_start);
        emit(event);
    };
    let name = text(row, "type").unwrap_or_default();
    if let Some(fact) = fact::named_fact(data) {
        emit_one(fact);
        return;
    }
    if let Some(message) = message {
        openclaw::message_facts(message, &mut emit_one);
        return;
    }
    match name.strip_prefix("session.") {
        Some("info") => openclaw::entry_facts("session_info", data, &mut emit_one),
        Some(kind) => openclaw::entry_facts(kind, data, &mut emit_one),
        None if name == "tool.call" => emit_one(Fact::ToolCall(ToolCallFact {
            id: text(data, "toolCallId"),
            name: super::said(data, "name").unwrap_or("tool"),
            arguments: Arguments::of(data.get("arguments")),
        })),
        None => emit_one(Fact::Other { name: Cow::Borrowed(name), is_known: false }),
    }
}
