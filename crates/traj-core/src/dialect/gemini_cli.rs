//! Gemini CLI: messages and statements about the session, distinguished by their
//! shape.
//!
//! A message is written again when its calls have ended, and the list of messages
//! is written again when a session is resumed; the code that gathers the rows
//! keeps one row per message. Results are part of the message with their calls; a
//! message of the user repeats them.

use std::borrow::Cow;

use super::numbered_facts::numbered_facts;
use super::{Dialect, gemini_parts as parts, said, text};
use crate::json::Json;
use crate::run::{
    AgentStart, Arguments, Attachment, Content, ErrorFact, Fact, ModeChange, ModelCall, Outcome,
    Place, Prompt, Rewind, RunEvent, SessionStart, Thread, ToolCallFact, ToolResultFact, Usage,
};
use crate::timestamp::UnixMillis;

/// What introduces context that the harness wrote in the user's name.
const CONTEXT: &str = "<session_context>";

/// Whether a row belongs to Gemini CLI.
pub(super) fn recognises(row: &Json<'_>) -> bool {
    is_header(row)
        || row.get("$set").is_some_and(|set| set.as_object().is_some())
        || text(row, "$rewindTo").is_some()
        || is_message(row)
}

fn is_header(row: &Json<'_>) -> bool {
    ["sessionId", "projectHash", "startTime"].iter().all(|name| text(row, name).is_some())
}

fn is_message(row: &Json<'_>) -> bool {
    text(row, "id").is_some()
        && text(row, "timestamp").is_some()
        && row.get("content").is_some()
        && row.get("message").is_none()
        && row.get("data").is_none()
        && matches!(text(row, "type"), Some("user" | "gemini" | "info" | "warning" | "error"))
}

/// Emits the facts of a row.
pub(super) fn decode<'r>(row: &'r Json<'r>, place: Place, emit: &mut dyn FnMut(RunEvent<'r>)) {
    let at = Dialect::GeminiCli.time_of(row);
    let thread = said(row, "agentId").map_or(Thread::Main, Thread::SubAgent);
    let mut emit_one = numbered_facts(row, place, emit, |event| {
        (event.at, event.thread) = (at, thread);
        event.entry = said(row, "id");
        event.agent_start = agent_start(row, &event.fact);
    });
    if let Some(set) = row.get("$set") {
        emit_one(update(set));
        return;
    }
    if row.get("$rewindTo").is_some() {
        emit_one(Fact::Rewind(Rewind { to: said(row, "$rewindTo"), ..Rewind::default() }));
        return;
    }
    match text(row, "type").unwrap_or_default() {
        "user" => user(row, &mut emit_one),
        "gemini" => answer(row, at, &mut emit_one),
        "error" => emit_one(Fact::Error(ErrorFact {
            text: Cow::Borrowed(message(row).first_text().unwrap_or("an error")),
            kind: None,
            is_recovered: false,
        })),
        kind @ ("info" | "warning") => emit_one(Fact::Attachment(Attachment {
            kind: Some(Cow::Borrowed(kind)),
            name: None,
            content: message(row),
        })),
        "" if is_header(row) => emit_one(header(row)),
        kind => emit_one(Fact::Other { name: Cow::Borrowed(kind), is_known: false }),
    }
}

/// The sub-agent that a call started, which its entry among the calls names.
fn agent_start<'r>(row: &'r Json<'r>, fact: &Fact<'r>) -> Option<AgentStart<'r>> {
    let Fact::ToolResult(result) = fact else { return None };
    let id = result.id?;
    let mut calls = row.get("toolCalls")?.as_array()?.iter();
    let call = calls.find(|call| text(call, "id") == Some(id))?;
    Some(AgentStart { agent: said(call, "agentId")?, call: id })
}

fn header<'r>(row: &'r Json<'r>) -> Fact<'r> {
    let folders = row.get("directories").and_then(Json::as_array).unwrap_or_default();
    Fact::SessionStarted(SessionStart {
        session: said(row, "sessionId"),
        agent: Some(Cow::Borrowed("gemini-cli")),
        workspace: folders.first().and_then(Json::as_str),
        ..SessionStart::default()
    })
}

/// A change of what the header states.
fn update<'r>(set: &'r Json<'r>) -> Fact<'r> {
    match said(set, "summary") {
        Some(title) => Fact::ModeChanged(ModeChange {
            name: Cow::Borrowed("title"),
            value: Cow::Borrowed(title),
        }),
        None => Fact::Other { name: Cow::Borrowed("$set"), is_known: true },
    }
}

/// What was typed, if that differs from what was sent.
fn message<'r>(row: &'r Json<'r>) -> Content<'r> {
    let typed = row.get("displayContent").filter(|typed| !typed.is_null());
    Content::of(typed.or_else(|| row.get("content")))
}

fn user<'r>(row: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let sent = row.get("content").and_then(Json::as_array).unwrap_or_default();
    let content = message(row);
    if !sent.is_empty() && sent.iter().all(|part| part.get("functionResponse").is_some()) {
        emit(Fact::Other { name: Cow::Borrowed("user/functionResponse"), is_known: true });
    } else if content.first_text().is_some_and(|text| text.starts_with(CONTEXT)) {
        let kind = Some(Cow::Borrowed("context/session"));
        emit(Fact::Attachment(Attachment { kind, name: None, content }));
    } else {
        emit(Fact::Prompt(Prompt { content, images: parts::images(sent), skipped: None }));
    }
}

fn answer<'r>(row: &'r Json<'r>, at: Option<UnixMillis>, emit: &mut dyn FnMut(Fact<'r>)) {
    for thought in row.get("thoughts").and_then(Json::as_array).unwrap_or_default() {
        emit(Fact::Reasoning(Content::of(thought.get("description"))));
    }
    let calls = row.get("toolCalls").and_then(Json::as_array).unwrap_or_default();
    match row.get("content") {
        // In a resumed session, the message is as the model sees it.
        Some(Json::Array(content)) => parts::answer(content, &mut |fact| {
            if calls.is_empty() || !matches!(fact, Fact::ToolCall(_)) {
                emit(fact);
            }
        }),
        content => {
            if !Content::of(content).is_blank() {
                emit(Fact::AssistantText(Content::of(content)));
            }
        }
    }
    emit(Fact::ModelCall(ModelCall {
        id: said(row, "id"),
        model: said(row, "model"),
        usage: row.get("tokens").and_then(usage),
        ..ModelCall::default()
    }));
    for call in calls {
        emit(Fact::ToolCall(ToolCallFact {
            id: said(call, "id"),
            name: said(call, "name").unwrap_or("tool"),
            arguments: Arguments::of(call.get("args")),
        }));
        if let Some(result) = result(call, at) {
            emit(Fact::ToolResult(result));
        }
    }
}

/// The result of a call; `None` if the call has not ended.
fn result<'r>(call: &'r Json<'r>, at: Option<UnixMillis>) -> Option<ToolResultFact<'r>> {
    let returned = call.get("result").and_then(Json::as_array).unwrap_or_default();
    let content = parts::response_in(returned).map_or(Content::None, parts::returned);
    let outcome = match text(call, "status")? {
        "success" => parts::exit_in(content).unwrap_or(Outcome::Ok),
        "error" => match parts::exit_in(content) {
            Some(outcome @ Outcome::Failed(_)) => outcome,
            _ => parts::failed(said(call, "resultDisplay").or_else(|| said(call, "error"))),
        },
        "cancelled" => Outcome::Interrupted,
        _ => return None,
    };
    let ended = text(call, "timestamp").and_then(UnixMillis::parse_lenient);
    let span = ended.zip(at).map(|(ended, at)| ended.as_millis().saturating_sub(at.as_millis()));
    Some(ToolResultFact {
        id: said(call, "id"),
        name: None,
        outcome,
        content,
        duration: span.and_then(|span| u64::try_from(span).ok()),
        is_truncated: false,
    })
}

/// Tokens of an answer. The input includes cached ones; thoughts are beside the
/// output.
fn usage(tokens: &Json<'_>) -> Option<Usage> {
    let number = |name: &str| tokens.get(name).and_then(Json::as_u64);
    let (output, reasoning) = (number("output"), number("thoughts").unwrap_or_default());
    Some(Usage {
        input: number("input")?.saturating_add(number("tool").unwrap_or_default()),
        cached: number("cached").unwrap_or_default(),
        cache_write: 0,
        output: output.unwrap_or_default().saturating_add(reasoning),
        reasoning,
    })
}
