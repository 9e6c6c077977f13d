//! Codex rollouts, of both generations.
//!
//! A row is `{timestamp, type, payload}`. `response_item` rows hold what the
//! model saw. The `event_msg` rows beside them hold what people saw, and repeat
//! most of it. Each fact is taken from one of the two: prompts from what people
//! saw, because the model's copy also contains injected context; texts, reasoning
//! and calls from what the model saw, because the old generation shows people no
//! tools; exit codes from both.

mod inherited;
mod item;
mod known;
mod response;
mod tokens;

pub(crate) use inherited::mark_inherited;

use std::borrow::Cow;

use super::result::error_in;
use super::shape::row::is_numbered;
use super::{Dialect, said, text};
use crate::json::Json;
use crate::run::{
    Compaction, Content, EndStatus, ErrorFact, Fact, ModeChange, Origin, Place, Prompt, Rewind,
    RunEvent, SessionEnd, SessionStart, Thread,
};

/// The known row types.
const ROW_TYPES: [&str; 11] = [
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "world_state",
    "token_usage_record",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "security_risk_score",
    "thread_settings_applied",
];

/// The member that names the thread of a sub-agent, in rows that were read from its
/// file.
const AGENT: &str = "agentId";

/// Whether a row belongs to a rollout.
pub(super) fn recognises(row: &Json<'_>) -> bool {
    row.get("payload").is_some_and(|payload| payload.as_object().is_some())
        && row.get("message").is_none()
        && row.get("traceSchema").is_none()
        && row.get("timestamp").is_some()
        && text(row, "type").is_some()
}

/// Whether a truncated row is the header of a rollout: instructions can make it
/// longer than the part of a file that is examined.
pub(super) fn recognises_beginning(line: &[u8]) -> bool {
    let start = line.get(..line.len().min(512)).unwrap_or_default();
    let has = |word: &[u8]| memchr::memmem::find(start, word).is_some();
    start.starts_with(b"{") && has(b"\"session_meta\"") && has(b"\"payload\"")
}

/// Emits the facts of a row.
pub(super) fn decode<'r>(row: &'r Json<'r>, place: Place, emit: &mut dyn FnMut(RunEvent<'r>)) {
    let payload = row.get("payload").unwrap_or(&Json::Null);
    let at = Dialect::CodexRollout.time_of(row);
    let turn = turn_of(payload);
    let agent = said(row, AGENT);
    let thread = agent.map_or_else(|| thread_of(payload), Thread::SubAgent);
    let mut step = 0;
    let kind = text(row, "type").unwrap_or_default();
    let is_inherited = inherited::is_marked(row);
    let mut emit_one = |fact: Fact<'r>| {
        let fact = if is_inherited { inherited::as_context(fact, kind) } else { fact };
        let mut event = RunEvent::new(Origin::Transcript, place.step(step), row, fact);
        step += 1;
        event.at = at;
        event.entry = said(payload, "id");
        event.turn = turn;
        event.thread = thread;
        event.agent_start = if is_inherited { None } else { item::agent_start(payload) };
        emit(event);
    };
    match kind {
        // What describes the thread of a sub-agent does not describe the session.
        "session_meta" | "turn_context" if agent.is_some() => {
            emit_one(other(Some("sub-agent"), kind, true));
        }
        "session_meta" => emit_one(session_meta(payload)),
        "turn_context" => turn_context(payload, &mut emit_one),
        "response_item" => response::facts(payload, &mut emit_one),
        "event_msg" => event_message(payload, is_numbered(row), &mut emit_one),
        "compacted" => emit_one(Fact::Compaction(Compaction {
            summary: Content::of(payload.get("message")),
            tokens_before: None,
        })),
        "token_usage_record" => emit_one(tokens::record(payload)),
        kind => emit_one(other(None, kind, ROW_TYPES.contains(&kind))),
    }
}

/// A row that states no fact, named by its type and the type of its payload.
fn other<'r>(row_type: Option<&'static str>, kind: &'r str, is_known: bool) -> Fact<'r> {
    let name = match row_type {
        Some(row_type) => Cow::Owned(format!("{row_type}/{kind}")),
        None => Cow::Borrowed(kind),
    };
    Fact::Other { name, is_known }
}

fn turn_of<'r>(payload: &'r Json<'r>) -> Option<&'r str> {
    let passed = payload.get("internal_chat_message_metadata_passthrough");
    said(payload, "turn_id").or_else(|| passed.and_then(|passed| said(passed, "turn_id")))
}

/// The thread that a row belongs to. A message from another agent names its
/// author by a path: the first agent is `/root`, and its sub-agents are below it.
fn thread_of<'r>(payload: &'r Json<'r>) -> Thread<'r> {
    let is_message = text(payload, "type") == Some("agent_message");
    let author = said(payload, "author").filter(|_| is_message);
    let below = author.and_then(|author| author.strip_prefix("/root")?.strip_prefix('/'));
    below.map_or(Thread::Main, Thread::SubAgent)
}

fn session_meta<'r>(payload: &'r Json<'r>) -> Fact<'r> {
    Fact::SessionStarted(SessionStart {
        session: said(payload, "id"),
        agent: Some(Cow::Borrowed("codex")),
        agent_version: said(payload, "cli_version"),
        workspace: said(payload, "cwd"),
        provider: said(payload, "model_provider"),
        parent: said(payload, "forked_from_id").or_else(|| said(payload, "parent_thread_id")),
        is_part: is_sub_agent(payload),
        ..SessionStart::default()
    })
}

/// Whether a thread is that of a sub-agent, which is read with the thread that
/// started it.
fn is_sub_agent(payload: &Json<'_>) -> bool {
    let source = payload.get("source").and_then(|source| source.get("subagent"));
    source.is_some_and(|source| source.get("thread_spawn").is_some())
}

/// The settings of a turn: the model first, then its permissions.
fn turn_context<'r>(payload: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    emit(Fact::SessionStarted(SessionStart {
        workspace: said(payload, "cwd"),
        model: said(payload, "model"),
        ..SessionStart::default()
    }));
    for name in ["approval_policy", "effort"] {
        if let Some(value) = said(payload, name) {
            let (name, value) = (Cow::Borrowed(name), Cow::Borrowed(value));
            emit(Fact::ModeChanged(ModeChange { name, value }));
        }
    }
}

/// What people saw, and the harness's own notes.
fn event_message<'r>(payload: &'r Json<'r>, is_numbered: bool, emit: &mut dyn FnMut(Fact<'r>)) {
    let kind = text(payload, "type").unwrap_or_default();
    match kind {
        "user_message" => {
            let images = payload.get("images").and_then(Json::as_array).map_or(0, <[_]>::len);
            let content = Content::of(payload.get("message"));
            emit(Fact::Prompt(Prompt { content, images: images as u64, skipped: None }));
        }
        "task_started" | "turn_started" => emit(Fact::TurnStarted),
        "task_complete" | "turn_complete" => emit(turn_complete(payload, is_numbered)),
        "turn_aborted" => {
            let status = EndStatus::Interrupted;
            let reason = said(payload, "reason").filter(|reason| *reason != status.as_str());
            let reason = reason.map(Cow::Borrowed);
            emit(Fact::TurnEnded(SessionEnd { status, error: None, reason, is_final: true }));
        }
        "token_count" => emit(tokens::counter(payload)),
        "item_completed" => item::facts(payload, emit),
        "thread_rolled_back" => emit(Fact::Rewind(Rewind {
            turns: payload.get("num_turns").and_then(Json::as_u64),
            ..Rewind::default()
        })),
        "error" | "stream_error" | "warning" => match said(payload, "message") {
            Some(message) => emit(Fact::Error(ErrorFact {
                text: Cow::Borrowed(message),
                kind: Some(kind),
                is_recovered: kind != "error",
            })),
            None => emit(other(Some("event_msg"), kind, true)),
        },
        "exec_command_end" => emit(Fact::ToolResult(item::command_result(payload, "call_id"))),
        "mcp_tool_call_end" => emit(Fact::ToolResult(item::mcp_result(payload, "call_id"))),
        "exec_approval_request" | "apply_patch_approval_request" => {
            emit(Fact::ApprovalAsked(item::approval(payload)));
        }
        kind => emit(other(Some("event_msg"), kind, known::is_shown(kind))),
    }
}

/// The end of a turn. The old generation records no error for a failed turn: only
/// the answer is missing, as it is after a command of the user or a compaction. So
/// that statement is not final: it counts if the turn has a prompt and no answer.
fn turn_complete<'r>(payload: &'r Json<'r>, is_numbered: bool) -> Fact<'r> {
    let error = payload.get("error").and_then(error_in);
    let is_silent = payload.get("last_agent_message").is_some_and(Json::is_null) && !is_numbered;
    let (status, error, is_final) = match error {
        Some(error) => (EndStatus::Error, Some(error), true),
        None if is_silent => (EndStatus::Error, Some(Cow::Borrowed(SILENT)), false),
        None => (EndStatus::Success, None, true),
    };
    Fact::TurnEnded(SessionEnd { status, error, reason: None, is_final })
}

/// The error of a turn that failed without one.
const SILENT: &str = "the turn ended without an answer";
