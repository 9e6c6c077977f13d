//! Continue: one document. The header and each item of the history become rows.

use std::borrow::Cow;

use super::numbered_facts::numbered_facts;
use super::{said, text};
use crate::json::{Json, Object};
use crate::run::{
    Arguments, Attachment, Compaction, Content, EndStatus, Fact, Failure, ModelCall, Outcome,
    Place, Prompt, RunEvent, SessionEnd, SessionStart, StatedCost, ToolCallFact, ToolResultFact,
    Usage,
};

/// The types of our rows.
const HEADER: &str = "continue/session";
const ITEM: &str = "continue/item";

/// The row of a document without its history.
pub(crate) fn header_row(document: Object<'_>) -> Object<'_> {
    let mut row = Object::with_capacity(2);
    row.push("type", HEADER);
    row.push("session", Json::Object(document));
    row
}

/// The row of an item of the history.
pub(crate) fn item_row(number: u64, item: Json<'_>) -> Object<'_> {
    let mut row = Object::with_capacity(3);
    row.push("type", ITEM);
    row.push("number", number);
    row.push("item", item);
    row
}

/// Whether a row is one of ours.
pub(super) fn recognises(row: &Json<'_>) -> bool {
    match text(row, "type") {
        Some(HEADER) => row.get("session").is_some(),
        Some(ITEM) => row.get("item").is_some(),
        _ => false,
    }
}

/// Emits the facts of a row.
pub(super) fn decode<'r>(row: &'r Json<'r>, place: Place, emit: &mut dyn FnMut(RunEvent<'r>)) {
    let mut emit_one = numbered_facts(row, place, emit, |_| {});
    match text(row, "type").unwrap_or_default() {
        HEADER => header(row.get("session").unwrap_or(&Json::Null), &mut emit_one),
        ITEM => item(row.get("item").unwrap_or(&Json::Null), &mut emit_one),
        kind => emit_one(other(kind, false)),
    }
}

fn other(name: &str, is_known: bool) -> Fact<'_> {
    Fact::Other { name: Cow::Borrowed(name), is_known }
}

/// The header. Its tokens are the sum of the items, so they are left aside.
fn header<'r>(session: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    emit(Fact::SessionStarted(SessionStart {
        session: said(session, "sessionId"),
        agent: Some(Cow::Borrowed("continue")),
        workspace: said(session, "workspaceDirectory"),
        ..SessionStart::default()
    }));
}

fn item<'r>(item: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    if let Some(summary) = said(item, "conversationSummary") {
        let summary = Content::Text(summary);
        emit(Fact::Compaction(Compaction { summary, tokens_before: None }));
    }
    for context in item.get("contextItems").and_then(Json::as_array).unwrap_or_default() {
        emit(Fact::Attachment(Attachment {
            kind: Some(Cow::Borrowed("context")),
            name: said(context, "name"),
            content: Content::of(context.get("content")),
        }));
    }
    let message = item.get("message").unwrap_or(&Json::Null);
    let content = Content::of(message.get("content"));
    match text(message, "role").unwrap_or_default() {
        "user" => {
            emit(Fact::TurnStarted);
            let images = images(message);
            emit(Fact::Prompt(Prompt { content, images, skipped: None }));
        }
        "assistant" => assistant(item, message, emit),
        "thinking" => emit(Fact::Reasoning(content)),
        "tool" => emit(Fact::ToolResult(ToolResultFact {
            id: said(message, "toolCallId"),
            name: None,
            outcome: Outcome::Ok,
            content,
            duration: None,
            is_truncated: false,
        })),
        "system" => emit(Fact::Attachment(Attachment {
            kind: Some(Cow::Borrowed("context/system")),
            name: None,
            content,
        })),
        role => emit(other(role, false)),
    }
}

fn images(message: &Json<'_>) -> u64 {
    let parts = message.get("content").and_then(Json::as_array).unwrap_or_default();
    let is_image = |part: &&Json<'_>| matches!(text(part, "type"), Some("imageUrl" | "image_url"));
    parts.iter().filter(is_image).count() as u64
}

/// An answer with the states of its calls. One without calls ends the turn.
fn assistant<'r>(item: &'r Json<'r>, message: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let thought = item.get("reasoning").and_then(|reasoning| reasoning.get("text"));
    if !Content::of(thought).is_blank() {
        emit(Fact::Reasoning(Content::of(thought)));
    }
    let content = Content::of(message.get("content"));
    if !content.is_blank() {
        emit(Fact::AssistantText(content));
    }
    let usage = message.get("usage").unwrap_or(&Json::Null);
    let cents = usage.get("cost_cents").and_then(Json::as_f64).filter(|cents| *cents > 0.0);
    emit(Fact::ModelCall(ModelCall {
        model: said(usage, "model"),
        usage: Usage::read(usage),
        cost: cents.map(|cents| StatedCost { dollars: cents / 100.0 }),
        ..ModelCall::default()
    }));
    let calls = message.get("toolCalls").and_then(Json::as_array).unwrap_or_default();
    for call in calls {
        let function = call.get("function").unwrap_or(&Json::Null);
        emit(Fact::ToolCall(ToolCallFact {
            id: said(call, "id"),
            name: said(function, "name").unwrap_or("tool"),
            arguments: Arguments::of(function.get("arguments")),
        }));
    }
    for state in item.get("toolCallStates").and_then(Json::as_array).unwrap_or_default() {
        if let Some(result) = result(state) {
            emit(Fact::ToolResult(result));
        }
    }
    if calls.is_empty() {
        let status = EndStatus::Success;
        emit(Fact::TurnEnded(SessionEnd { status, error: None, reason: None, is_final: true }));
    }
}

/// The result of a call; `None` if the call has not ended.
fn result<'r>(state: &'r Json<'r>) -> Option<ToolResultFact<'r>> {
    let content = Content::of(state.get("output"));
    let outcome = match text(state, "status")? {
        "done" => Outcome::Ok,
        "errored" => {
            Outcome::Failed(Failure { exit_code: exit_code(content), ..Failure::default() })
        }
        "canceled" | "cancelled" => Outcome::Interrupted,
        _ => return None,
    };
    Some(ToolResultFact {
        id: said(state, "toolCallId"),
        name: None,
        outcome,
        content,
        duration: None,
        is_truncated: false,
    })
}

/// The exit code in the text of an error: `(exit code 1)`.
fn exit_code(content: Content<'_>) -> Option<i64> {
    let line = content.first_text()?.lines().next()?;
    let (_, rest) = line.split_once("(exit code ")?;
    rest.split_once(')')?.0.parse().ok()
}
