//! Qwen Code: an envelope like that of Claude Code around messages of the Gemini
//! API.
//!
//! Tokens are stated twice: by the record of each response, which also covers the
//! calls of sub-agents and of compression, and by the answers.

use std::borrow::Cow;

use super::numbered_facts::numbered_facts;
use super::result::error_text;
use super::{Dialect, gemini_parts as parts, is_set, said, text};
use crate::json::Json;
use crate::run::{
    AgentStart, Attachment, Compaction, Content, EndStatus, ErrorFact, Fact, ModeChange, ModelCall,
    Outcome, Place, Prompt, Rewind, RunEvent, SessionEnd, SessionStart, Thread, ToolResultFact,
    UsageScope,
};

/// Whether a row belongs to Qwen Code.
pub(super) fn recognises(row: &Json<'_>) -> bool {
    if text(row, "uuid").is_none() || text(row, "sessionId").is_none() {
        return false;
    }
    match text(row, "type") {
        Some("user" | "assistant" | "tool_result") => {
            row.get("message").is_some_and(|message| message.get("parts").is_some())
        }
        Some("system") => row.get("subtype").is_some() && row.get("systemPayload").is_some(),
        _ => false,
    }
}

/// Emits the facts of a row.
pub(super) fn decode<'r>(row: &'r Json<'r>, place: Place, emit: &mut dyn FnMut(RunEvent<'r>)) {
    let at = Dialect::QwenCode.time_of(row);
    let thread = thread_of(row);
    let agent_start = agent_start(row, thread);
    let mut emit_one = numbered_facts(row, place, emit, |event| {
        (event.at, event.thread, event.agent_start) = (at, thread, agent_start);
        event.entry = said(row, "uuid");
        event.parent = said(row, "parentUuid");
    });
    let message = row.get("message").unwrap_or(&Json::Null);
    let is_first = row.get("parentUuid").is_some_and(Json::is_null);
    if is_first && thread == Thread::Main {
        emit_one(Fact::SessionStarted(SessionStart {
            session: said(row, "sessionId"),
            agent: Some(Cow::Borrowed("qwen-code")),
            agent_version: said(row, "version"),
            workspace: said(row, "cwd"),
            ..SessionStart::default()
        }));
    }
    match text(row, "type").unwrap_or_default() {
        "user" => user(row, message, &mut emit_one),
        "assistant" => assistant(row, message, &mut emit_one),
        "tool_result" => emit_one(Fact::ToolResult(result(row, message))),
        "system" => system(row, &mut emit_one),
        kind => emit_one(other(None, kind, false)),
    }
}

/// The thread of a row. Records about a sub-agent name it in the main file.
fn thread_of<'r>(row: &'r Json<'r>) -> Thread<'r> {
    let event = row.get("systemPayload").and_then(|payload| payload.get("uiEvent"));
    let id = said(row, "agentId").or_else(|| event.and_then(|event| said(event, "subagent_id")));
    id.map_or(Thread::Main, Thread::SubAgent)
}

/// The call that started a sub-agent: the agent's id is its name and the id of the call.
fn agent_start<'r>(row: &'r Json<'r>, thread: Thread<'r>) -> Option<AgentStart<'r>> {
    let Thread::SubAgent(agent) = thread else { return None };
    let event = || row.get("systemPayload")?.get("uiEvent");
    let name = said(row, "agentName").or_else(|| said(event()?, "subagent_name"))?;
    let call = agent.strip_prefix(name)?.strip_prefix('-')?;
    Some(AgentStart { agent, call })
}

fn other<'r>(lead: Option<&str>, kind: &'r str, is_known: bool) -> Fact<'r> {
    let name = match lead {
        Some(lead) => Cow::Owned(format!("{lead}/{kind}")),
        None => Cow::Borrowed(kind),
    };
    Fact::Other { name, is_known }
}

const fn ended<'r>(status: EndStatus<'r>, error: Option<Cow<'r, str>>) -> Fact<'r> {
    Fact::TurnEnded(SessionEnd { status, error, reason: None, is_final: true })
}

/// A prompt, or a message that the harness wrote in the user's name.
fn user<'r>(row: &'r Json<'r>, message: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let content = Content::of(message.get("parts"));
    let provenance = said(row, "provenance").filter(|by| *by != "real_user");
    if let Some(by) = provenance.or_else(|| said(row, "subtype")) {
        let kind = Some(Cow::Owned(format!("context/{by}")));
        emit(Fact::Attachment(Attachment { kind, name: None, content }));
        return;
    }
    // Its parent prompts a sub-agent, not a person.
    if thread_of(row) == Thread::Main {
        emit(Fact::TurnStarted);
    }
    let images = parts::images(parts::parts_of(message));
    emit(Fact::Prompt(Prompt { content, images, skipped: None }));
}

/// An answer. One without calls ends the turn.
fn assistant<'r>(row: &'r Json<'r>, message: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let mut is_final = true;
    parts::answer(parts::parts_of(message), &mut |fact| {
        is_final &= !matches!(fact, Fact::ToolCall(_));
        emit(fact);
    });
    emit(Fact::ModelCall(ModelCall {
        model: said(row, "model"),
        usage: row.get("usageMetadata").and_then(parts::usage),
        scope: UsageScope::Turn,
        ..ModelCall::default()
    }));
    // The answers of a sub-agent come in pieces.
    if is_final && !is_set(row, "isSidechain") {
        emit(ended(EndStatus::Success, None));
    }
}

fn result<'r>(row: &'r Json<'r>, message: &'r Json<'r>) -> ToolResultFact<'r> {
    let response = parts::response_in(parts::parts_of(message)).unwrap_or(&Json::Null);
    let stated = row.get("toolCallResult").unwrap_or(&Json::Null);
    let content = parts::returned(response);
    ToolResultFact {
        id: said(stated, "callId").or_else(|| said(response, "id")),
        name: said(response, "name"),
        outcome: outcome(stated, response, content),
        content,
        duration: stated.get("durationMs").and_then(Json::as_u64),
        is_truncated: false,
    }
}

fn outcome<'r>(stated: &'r Json<'r>, response: &'r Json<'r>, content: Content<'r>) -> Outcome<'r> {
    let shown = stated.get("resultDisplay").unwrap_or(&Json::Null);
    let code = shown.get("exitCode").and_then(Json::as_i64).filter(|code| *code != 0);
    if let Some(code) = code {
        return Outcome::Failed(crate::run::Failure::exit(code));
    }
    match (text(stated, "status"), text(shown, "outcome")) {
        (_, Some("timed_out")) => Outcome::TimedOut,
        (Some("cancelled" | "canceled"), _) | (_, Some("cancelled" | "aborted")) => {
            Outcome::Interrupted
        }
        (Some("error"), _) => parts::failed(shown.as_str()),
        (Some(_), _) => Outcome::Ok,
        // Sub-agents record the text only.
        (None, _) => match response.get("response").and_then(|inner| inner.get("error")) {
            Some(error) => parts::exit_in(content).unwrap_or_else(|| parts::failed(error.as_str())),
            None => parts::exit_in(content).unwrap_or(Outcome::Ok),
        },
    }
}

/// Records of the harness.
fn system<'r>(row: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let kind = text(row, "subtype").unwrap_or_default();
    let payload = row.get("systemPayload").unwrap_or(&Json::Null);
    match kind {
        "ui_telemetry" => telemetry(payload.get("uiEvent").unwrap_or(&Json::Null), emit),
        "chat_compression" => emit(compaction(payload)),
        "rewind" => emit(Fact::Rewind(Rewind::default())),
        "session_model" => match said(payload, "model") {
            Some(model) => emit(Fact::ModelChanged(crate::run::ModelChange {
                model: Some(model),
                ..Default::default()
            })),
            None => emit(other(Some("system"), kind, true)),
        },
        "custom_title" => match said(payload, "customTitle").or_else(|| said(payload, "title")) {
            Some(title) => emit(Fact::ModeChanged(ModeChange {
                name: Cow::Borrowed("title"),
                value: Cow::Borrowed(title),
            })),
            None => emit(other(Some("system"), kind, true)),
        },
        kind => emit(other(Some("system"), kind, is_known(kind))),
    }
}

/// Records that no reader needs.
fn is_known(kind: &str) -> bool {
    matches!(
        kind,
        "attribution_snapshot"
            | "at_command"
            | "background_task_completed"
            | "branch_checkpoint"
            | "file_history_snapshot"
            | "goal_runtime"
            | "goal_state"
            | "goal_turn_end"
            | "mid_turn_user_message"
            | "notification"
            | "omni_recall"
            | "parent_session"
            | "realtime_message"
            | "session_artifact_event"
            | "session_artifact_snapshot"
            | "session_recording_degraded"
            | "session_source"
            | "session_sources_snapshot"
            | "slash_command"
            | "turn_result"
            | "user_text_elements"
    )
}

/// What the program measured: each response, call and error of the model's API.
fn telemetry<'r>(event: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let name = text(event, "event.name").unwrap_or_default();
    let number = |name: &str| event.get(name).and_then(Json::as_u64);
    let call = || ModelCall {
        id: said(event, "response_id"),
        model: said(event, "model"),
        latency: number("duration_ms"),
        ..ModelCall::default()
    };
    match name {
        "qwen-code.api_response" => {
            let usage = number("input_token_count").and_then(|input| {
                parts::tokens(
                    input,
                    number("cached_content_token_count"),
                    number("output_token_count"),
                    number("thoughts_token_count"),
                    number("total_token_count"),
                )
            });
            emit(Fact::ModelCall(ModelCall { usage, ..call() }));
        }
        "qwen-code.api_error" => {
            let error = said(event, "error_message").or_else(|| said(event, "error"));
            let text = Cow::Borrowed(error.unwrap_or("the model's API failed"));
            emit(ended(EndStatus::Error, Some(text)));
        }
        name if name.starts_with("qwen-code.") => emit(other(Some("ui_telemetry"), name, true)),
        name => emit(other(Some("ui_telemetry"), name, false)),
    }
}

/// A summary: the first message of the history that replaced the conversation.
fn compaction<'r>(payload: &'r Json<'r>) -> Fact<'r> {
    let history = payload.get("compressedHistory").and_then(Json::as_array).unwrap_or_default();
    if history.is_empty()
        && let Some(text) = error_text(payload)
    {
        return Fact::Error(ErrorFact { text, kind: Some("compression"), is_recovered: false });
    }
    let info = payload.get("info").unwrap_or(&Json::Null);
    Fact::Compaction(Compaction {
        summary: Content::of(history.first().and_then(|message| message.get("parts"))),
        tokens_before: info.get("originalTokenCount").and_then(Json::as_u64),
    })
}
