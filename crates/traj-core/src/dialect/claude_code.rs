//! Claude Code's sessions, versions 1.0 to 2.1.
//!
//! A row of the conversation has a `uuid` and names its parent; all other rows
//! describe the session. One message of the model becomes several rows, one per
//! content block, which share the id of the message and repeat its usage. A
//! sub-agent's rows are marked as a side chain: old versions write them between
//! the others, newer ones into a separate file.
//!
//! - `message`: what the user and the model said, and what tools answered.
//! - `result`: the outcome of a tool.
//! - `beside`: rows that the harness added.
//! - `context`: what the model saw at one call.
//! - `marked`: rows that do not count, as the code that gathers them found out.
//! - `known`: which types of rows, attachments and notices exist.

mod beside;
pub(super) mod context;
mod known;
mod marked;
mod message;
mod result;

pub(crate) use message::STORED_OUTPUT;
pub(crate) use result::stored_in;

use std::borrow::Cow;

use super::{Dialect, STARTED_BY, is_set, said, text};
use crate::json::Json;
use crate::run::{AgentStart, Fact, Origin, Place, RunEvent, SessionStart, Thread};

/// The provider of models that Claude Code calls by their own names.
const PROVIDER: &str = "anthropic";

/// The thread of a sub-agent that the row does not name: old versions give no
/// ids.
const UNNAMED: &str = "sidechain";

/// Whether a row belongs to a session.
pub(super) fn recognises(row: &Json<'_>) -> bool {
    let Some(kind) = text(row, "type") else { return false };
    if row.get("traceSchema").is_some() || row.get("payload").is_some() {
        return false;
    }
    let has_envelope = text(row, "uuid").is_some()
        && row.get("parentUuid").is_some()
        && row.get("isSidechain").is_some();
    match kind {
        "user" | "assistant" => {
            let message = row.get("message");
            has_envelope && message.is_some_and(|message| text(message, "role").is_some())
        }
        "system" | "attachment" | "progress" => has_envelope,
        "summary" => text(row, "leafUuid").is_some() && row.get("summary").is_some(),
        "file-history-snapshot" => row.get("snapshot").is_some(),
        kind => text(row, "sessionId").is_some() && known::is_session_row(kind),
    }
}

/// Emits the facts of a row.
pub(super) fn decode<'r>(row: &'r Json<'r>, place: Place, emit: &mut dyn FnMut(RunEvent<'r>)) {
    let at = Dialect::ClaudeCode.time_of(row);
    let thread = thread_of(row);
    let mut step = 0;
    let mut emit_one = |fact: Fact<'r>| {
        let mut event = RunEvent::new(Origin::Transcript, place.step(step), row, fact);
        step += 1;
        event.at = at;
        event.entry = text(row, "uuid");
        event.parent = text(row, "parentUuid");
        event.turn = said(row, "promptId");
        event.thread = thread;
        event.agent_start = agent_start(row, &event);
        emit(event);
    };
    let kind = text(row, "type").unwrap_or_default();
    if let Some(mark) = marked::mark_of(row) {
        return marked::facts(mark, kind, row, &mut emit_one);
    }
    if begins_session(kind, row) {
        emit_one(Fact::SessionStarted(session(row)));
    }
    match kind {
        "user" => message::user_facts(row, &mut emit_one),
        "assistant" => message::assistant_facts(row, &mut emit_one),
        "system" => beside::system_facts(row, &mut emit_one),
        "attachment" => beside::attachment_facts(row, &mut emit_one),
        kind => beside::session_facts(kind, row, &mut emit_one),
    }
}

/// The conversation that a row belongs to.
fn thread_of<'r>(row: &'r Json<'r>) -> Thread<'r> {
    match said(row, "agentId") {
        Some(agent) => Thread::SubAgent(agent),
        None if is_set(row, "isSidechain") => Thread::SubAgent(UNNAMED),
        None => Thread::Main,
    }
}

/// The sub-agent that a call started. The result of the call names it, or the rows of
/// the sub-agent name the call.
fn agent_start<'r>(row: &'r Json<'r>, event: &RunEvent<'r>) -> Option<AgentStart<'r>> {
    if let Fact::ToolResult(result) = &event.fact {
        let agent = said(row.get("toolUseResult")?, "agentId")?;
        return Some(AgentStart { agent, call: result.id? });
    }
    let Thread::SubAgent(agent) = event.thread else { return None };
    let call = said(row, STARTED_BY).or_else(|| said(row, "toolUseId"))?;
    Some(AgentStart { agent, call })
}

/// Whether a row begins a session: files have no header.
fn begins_session(kind: &str, row: &Json<'_>) -> bool {
    match kind {
        "user" | "system" | "attachment" | "assistant" => {
            row.get("parentUuid").is_none_or(Json::is_null) && thread_of(row) == Thread::Main
        }
        // A run that was stopped at once leaves nothing but its queue.
        "queue-operation" => text(row, "operation") == Some("enqueue"),
        _ => false,
    }
}

fn session<'r>(row: &'r Json<'r>) -> SessionStart<'r> {
    SessionStart {
        session: said(row, "sessionId"),
        agent: Some(Cow::Borrowed("claude-code")),
        agent_version: said(row, "version"),
        workspace: said(row, "cwd"),
        ..SessionStart::default()
    }
}

/// A row that states no fact, named by its type and the type of its content.
fn other<'r>(row_type: Option<&'static str>, kind: &'r str, is_known: bool) -> Fact<'r> {
    let name = match row_type {
        Some(row_type) => Cow::Owned(format!("{row_type}/{kind}")),
        None => Cow::Borrowed(kind),
    };
    Fact::Other { name, is_known }
}

/// The part of a row that holds its details.
pub(super) fn body_of<'r>(row: &'r Json<'r>) -> Option<&'r Json<'r>> {
    let members = [
        "attachment",
        "operation",
        "summary",
        "aiTitle",
        "customTitle",
        "lastPrompt",
        "tools",
        "querySource",
        "mode",
        "content",
    ];
    members.iter().find_map(|name| row.get(name))
}

#[cfg(test)]
mod tests;
