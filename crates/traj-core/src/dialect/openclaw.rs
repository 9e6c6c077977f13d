//! Transcripts of OpenClaw, versions 1 to 3, and of pi, where the format comes
//! from: the entries of a tree.
//!
//! Entries of older versions state the same facts. Only their links differ, and
//! the `transcript` module handles those.

use std::borrow::Cow;

use super::result::{error_text, outcome_of};
use super::{Dialect, is_set, said, text};
use crate::dialect::transcript::{is_tool_call, tool_call_arguments};
use crate::json::Json;
use crate::run::{
    Arguments, Attachment, Compaction, Content, Fact, Failure, ModeChange, ModelCall, ModelChange,
    Origin, Outcome, Place, Prompt, Rewind, RunEvent, SessionStart, ToolCallFact, ToolResultFact,
    Usage,
};

/// Whether a row belongs to a transcript.
pub(super) fn recognises(row: &Json<'_>) -> bool {
    let Some(kind) = text(row, "type") else { return false };
    if row.get("traceSchema").is_some() || row.get("payload").is_some() {
        return false;
    }
    match kind {
        "session" => text(row, "id").is_some() || row.get("version").is_some(),
        "message" => row.get("message").is_some_and(|message| text(message, "role").is_some()),
        kind => is_entry_type(kind) && row.get("timestamp").is_some(),
    }
}

/// Whether entries of this type are known.
fn is_entry_type(kind: &str) -> bool {
    matches!(
        kind,
        "thinking_level_change"
            | "model_change"
            | "compaction"
            | "branch_summary"
            | "custom"
            | "custom_message"
            | "label"
            | "session_info"
            | "leaf"
            | "reset"
            | "usage"
            | "context_edit"
    )
}

/// Whether a header was written by pi: its ids begin with the time, and those of
/// OpenClaw are random.
pub(super) fn is_of_pi(row: &Json<'_>) -> bool {
    let id = text(row, "id").unwrap_or_default();
    text(row, "type") == Some("session") && id.len() == 36 && id.as_bytes().get(14) == Some(&b'7')
}

/// The type of an entry, if unknown. Such an entry gives no event in a bundle,
/// but the manifest counts it.
#[must_use]
pub fn unknown_type<'r>(entry: &'r Json<'_>) -> Option<&'r str> {
    let kind = text(entry, "type")?;
    (!matches!(kind, "session" | "message") && !is_entry_type(kind)).then_some(kind)
}

/// Emits the facts of a row.
pub(super) fn decode<'r>(row: &'r Json<'r>, place: Place, emit: &mut dyn FnMut(RunEvent<'r>)) {
    let at = Dialect::OpenClaw.time_of(row);
    let mut emit_at = |step: u32, fact: Fact<'r>| {
        let mut event = RunEvent::new(Origin::Transcript, place.step(step), row, fact);
        event.at = at;
        event.entry = text(row, "id");
        event.parent = text(row, "parentId");
        emit(event);
    };
    match text(row, "type").unwrap_or_default() {
        "session" => emit_at(0, header(row)),
        "message" => match row.get("message") {
            Some(message) => {
                let mut step = 0;
                message_facts(message, &mut |fact| emit_at(0, fact));
                for block in assistant_blocks(message).filter(|block| is_tool_call(block)) {
                    step += 1;
                    emit_at(step, Fact::ToolCall(call_of(block)));
                }
            }
            None => emit_at(0, other("message", false)),
        },
        kind => entry_facts(kind, row, &mut |fact| emit_at(0, fact)),
    }
}

fn other(name: &str, is_known: bool) -> Fact<'_> {
    Fact::Other { name: Cow::Borrowed(name), is_known }
}

/// The header of a session.
fn header<'r>(row: &'r Json<'r>) -> Fact<'r> {
    Fact::SessionStarted(SessionStart {
        session: text(row, "id"),
        agent: Some(Cow::Borrowed(if is_of_pi(row) { "pi" } else { "openclaw" })),
        workspace: said(row, "cwd"),
        parent: said(row, "parentSession"),
        ..SessionStart::default()
    })
}

fn assistant_blocks<'r>(message: &'r Json<'r>) -> impl Iterator<Item = &'r Json<'r>> {
    let is_assistant = text(message, "role") == Some("assistant");
    let blocks = message.get("content").and_then(Json::as_array).filter(|_| is_assistant);
    blocks.unwrap_or_default().iter()
}

/// The facts of a message except its tool calls, which are separate events.
pub(super) fn message_facts<'r>(message: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    match text(message, "role").unwrap_or_default() {
        "user" => user_facts(message, emit),
        "assistant" => assistant_facts(message, emit),
        "toolResult" | "tool" => emit(Fact::ToolResult(result_of(message))),
        // A command of the user, not of the model.
        "bashExecution" => {
            let arguments = Arguments::of(message.get("command"));
            emit(Fact::ToolCall(ToolCallFact { id: None, name: "bash", arguments }));
            emit(Fact::ToolResult(ToolResultFact {
                id: None,
                name: Some("bash"),
                outcome: if is_set(message, "cancelled") {
                    Outcome::Interrupted
                } else {
                    outcome_of(message)
                },
                content: Content::of(message.get("output")),
                duration: None,
                is_truncated: is_set(message, "truncated"),
            }));
        }
        "compactionSummary" => emit(Fact::Compaction(Compaction {
            summary: Content::of(message.get("summary").or_else(|| message.get("content"))),
            tokens_before: message.get("tokensBefore").and_then(Json::as_u64),
        })),
        "branchSummary" => emit(Fact::Rewind(Rewind {
            to: text(message, "fromId"),
            turns: None,
            summary: Content::of(message.get("summary").or_else(|| message.get("content"))),
        })),
        "custom" | "hookMessage" => emit(Fact::Attachment(Attachment {
            kind: text(message, "customType").map(Cow::Borrowed),
            name: None,
            content: Content::of(message.get("content")),
        })),
        "system" => emit(Fact::Attachment(Attachment {
            kind: Some(Cow::Borrowed("context/system")),
            name: None,
            content: Content::of(message.get("content").or_else(|| message.get("sections"))),
        })),
        role => emit(other(role, false)),
    }
}

/// What a user message states. Some harnesses put tool results into it.
fn user_facts<'r>(message: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let content = message.get("content");
    let blocks = content.and_then(Json::as_array).unwrap_or_default();
    let is_result = |block: &&Json<'_>| text(block, "type") == Some("tool_result");
    let mut has_result = false;
    for block in blocks.iter().filter(is_result) {
        has_result = true;
        emit(Fact::ToolResult(result_of(block)));
    }
    if !has_result {
        let content = Content::of(content);
        emit(Fact::Prompt(Prompt { content, images: content.images(), skipped: None }));
    }
}

fn assistant_facts<'r>(message: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    match message.get("content") {
        Some(Json::Array(blocks)) => {
            for block in blocks.iter().filter(|block| !is_tool_call(block)) {
                let thought = block.get("thinking").or_else(|| block.get("reasoning"));
                if thought.is_some() {
                    emit(Fact::Reasoning(Content::of(thought)));
                } else if block.get("text").is_some() {
                    emit(Fact::AssistantText(Content::of(block.get("text"))));
                }
            }
        }
        content => {
            if !Content::of(content).is_blank() {
                emit(Fact::AssistantText(Content::of(content)));
            }
        }
    }
    let usage = message.get("usage");
    emit(Fact::ModelCall(ModelCall {
        id: said(message, "responseId"),
        provider: said(message, "provider"),
        model: said(message, "model"),
        usage: usage.and_then(Usage::read),
        cost: usage.and_then(Usage::read_cost),
        stop_reason: said(message, "stopReason").map(Cow::Borrowed),
        error: error_text(message),
        ..ModelCall::default()
    }));
}

/// The call that a block states.
pub(super) fn call_of<'r>(block: &'r Json<'r>) -> ToolCallFact<'r> {
    ToolCallFact {
        id: text(block, "id"),
        name: said(block, "name").unwrap_or("tool"),
        arguments: Arguments::of(tool_call_arguments(block)),
    }
}

/// The result in a message or block.
fn result_of<'r>(message: &'r Json<'r>) -> ToolResultFact<'r> {
    let content = Content::of(message.get("content"));
    ToolResultFact {
        id: result_id(message),
        name: said(message, "toolName").or_else(|| said(message, "name")),
        outcome: with_stated_exit(outcome_of(message), content),
        content,
        duration: duration_of(message),
        is_truncated: message.get("details").is_some_and(|details| {
            is_set(details, "truncated")
                || details.get("truncation").is_some_and(|cut| is_set(cut, "truncated"))
        }),
    }
}

/// A failed command of pi states its exit code in the last line of its output only.
fn with_stated_exit<'r>(outcome: Outcome<'r>, content: Content<'r>) -> Outcome<'r> {
    let Outcome::Failed(failure) = outcome else { return outcome };
    if failure.exit_code.is_some() {
        return Outcome::Failed(failure);
    }
    let last = content.last_text().and_then(|text| text.trim_end().lines().next_back());
    let code = last.and_then(|line| line.strip_prefix("Command exited with code "));
    let exit_code = code.and_then(|code| code.trim().parse().ok()).filter(|code| *code != 0);
    Outcome::Failed(Failure { exit_code, ..failure })
}

/// The id of the call that a result answers, under any of the names that
/// harnesses use.
pub(crate) fn result_id<'j>(message: &'j Json<'_>) -> Option<&'j str> {
    ["toolCallId", "tool_call_id", "toolUseId", "tool_use_id"]
        .iter()
        .find_map(|name| message.get(name).and_then(Json::as_str))
}

fn duration_of(message: &Json<'_>) -> Option<u64> {
    let millis = |value: &Json<'_>| value.get("durationMs").and_then(Json::as_u64);
    millis(message).or_else(|| message.get("details").and_then(millis))
}

/// The facts of an entry that is not a message. The summary of a compaction may
/// state the tokens that it took.
pub(super) fn entry_facts<'r>(kind: &'r str, entry: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    emit(entry_fact(kind, entry));
    if kind == "compaction"
        && let Some(usage) = entry.get("usage").and_then(Usage::read)
    {
        let cost = entry.get("usage").and_then(Usage::read_cost);
        emit(Fact::ModelCall(ModelCall { usage: Some(usage), cost, ..ModelCall::default() }));
    }
}

/// The fact of an entry that is not a message. `entry` is the object with its
/// members: the entry itself, or the data of its event.
pub(super) fn entry_fact<'r>(kind: &'r str, entry: &'r Json<'r>) -> Fact<'r> {
    match kind {
        "compaction" => Fact::Compaction(Compaction {
            summary: Content::of(entry.get("summary")),
            tokens_before: entry.get("tokensBefore").and_then(Json::as_u64),
        }),
        "branch_summary" => Fact::Rewind(Rewind {
            to: text(entry, "fromId"),
            turns: None,
            summary: Content::of(entry.get("summary")),
        }),
        "reset" => Fact::Rewind(Rewind {
            to: text(entry, "firstKeptEntryId"),
            turns: None,
            summary: Content::None,
        }),
        "usage" => {
            let usage = entry.get("usage");
            Fact::ModelCall(ModelCall {
                provider: said(entry, "provider"),
                model: said(entry, "model"),
                usage: usage.and_then(Usage::read),
                cost: usage.and_then(Usage::read_cost),
                ..ModelCall::default()
            })
        }
        "model_change" => Fact::ModelChanged(ModelChange {
            provider: said(entry, "provider"),
            model: said(entry, "modelId"),
            reason: None,
        }),
        "thinking_level_change" => Fact::ModeChanged(ModeChange {
            name: Cow::Borrowed("thinkingLevel"),
            value: Cow::Borrowed(text(entry, "thinkingLevel").unwrap_or_default()),
        }),
        "custom_message" => Fact::Attachment(Attachment {
            kind: text(entry, "customType").map(Cow::Borrowed),
            name: None,
            content: Content::of(entry.get("content")),
        }),
        kind => other(kind, is_entry_type(kind)),
    }
}

/// Whether a harness made up this result for a call without an answer.
pub(super) fn is_made_up(result: &Json<'_>) -> bool {
    text(result, "reason") == Some("missing_tool_result")
}

/// The outcome of a result that a harness made up.
pub(super) const fn unanswered<'r>() -> Outcome<'r> {
    Outcome::Unanswered
}
