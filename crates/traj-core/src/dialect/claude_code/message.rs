//! What the user and the model said, and what tools answered.

use std::borrow::Cow;

use super::result::{is_interruption, result_of};
use super::{PROVIDER, other, thread_of};
use crate::dialect::{is_set, said, text};
use crate::json::Json;
use crate::run::{
    ApprovalFact, ApprovalOutcome, Arguments, Attachment, Content, EndStatus, ErrorFact, Fact,
    ModelCall, Prompt, SessionEnd, Thread, ToolCallFact, Usage,
};

/// The member of a gathered row with output that the program stored in files.
pub(crate) const STORED_OUTPUT: &str = "storedOutput";

/// The model of a message that the harness made up.
const MADE_UP: &str = "<synthetic>";

/// Texts that the harness writes in the user's name, by their beginnings, and
/// what they are.
const WRAPPED: [(&str, &str); 8] = [
    ("<command-name>", "command"),
    ("<local-command-stdout>", "command output"),
    ("<local-command-stderr>", "command output"),
    ("<local-command-caveat>", "note"),
    ("<bash-input>", "shell command"),
    ("<bash-stdout>", "shell output"),
    ("<user-memory-input>", "memory"),
    ("<task-notification>", TASK),
];

/// A task in the background has ended, which makes the model go on.
const TASK: &str = "task notification";

/// The facts of a user's row.
pub(super) fn user_facts<'r>(row: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let message = row.get("message").unwrap_or(&Json::Null);
    let blocks = message.get("content").and_then(Json::as_array).unwrap_or_default();
    let is_result = |block: &&Json<'_>| text(block, "type") == Some("tool_result");
    let mut results = blocks.iter().filter(is_result).peekable();
    if results.peek().is_some() {
        let is_single = blocks.iter().filter(is_result).count() == 1;
        let details = row.get("toolUseResult").filter(|_| is_single);
        for block in results {
            emit(Fact::ToolResult(result_of(block, details, row.get(STORED_OUTPUT))));
        }
        if let Some(approval) = decision(row, blocks) {
            emit(Fact::ApprovalDecided(approval));
        }
        return;
    }
    let content = Content::of(message.get("content"));
    let first = content.first_text().unwrap_or_default();
    if is_interruption(first) {
        emit(interruption(row, first));
    } else if let Some(kind) = kind_of_note(row, first) {
        if kind == TASK && thread_of(row) == Thread::Main {
            emit(Fact::TurnStarted);
        }
        let kind = Some(Cow::Borrowed(kind));
        emit(Fact::Attachment(Attachment { kind, name: None, content }));
    } else {
        if thread_of(row) == Thread::Main {
            emit(Fact::TurnStarted);
        }
        emit(Fact::Prompt(Prompt { content, images: content.images(), skipped: None }));
    }
}

/// What a user's row is if no person wrote it.
fn kind_of_note(row: &Json<'_>, first: &str) -> Option<&'static str> {
    let origin = row.get("origin").and_then(|origin| text(origin, "kind"));
    if is_set(row, "isCompactSummary") {
        return Some("summary");
    }
    if origin == Some("task-notification") {
        return Some(TASK);
    }
    let first = first.trim_start();
    let wrapped = WRAPPED.iter().find(|(start, _)| first.starts_with(start));
    wrapped.map(|(_, kind)| *kind).or_else(|| is_set(row, "isMeta").then_some("note"))
}

/// The mark of an interruption ends the turn.
fn interruption<'r>(row: &'r Json<'r>, mark: &'r str) -> Fact<'r> {
    if thread_of(row) != Thread::Main {
        return other(Some("user"), "interruption", true);
    }
    let (status, reason) = (EndStatus::Interrupted, Some(Cow::Borrowed(mark)));
    Fact::TurnEnded(SessionEnd { status, error: None, reason, is_final: true })
}

/// The decision that a result states. Calls that the settings allow need none.
fn decision<'r>(row: &'r Json<'r>, blocks: &'r [Json<'r>]) -> Option<ApprovalFact<'r>> {
    let stated = row.get("permissionDecision")?;
    let source = said(stated, "source").unwrap_or_default();
    let decision = match text(stated, "decision")? {
        "accept" | "allow" if source == "config" => return None,
        "accept" | "allow" if source == "user_permanent" => ApprovalOutcome::ApprovedForSession,
        "accept" | "allow" => ApprovalOutcome::Approved,
        "reject" | "deny" => ApprovalOutcome::Denied,
        _ => ApprovalOutcome::Cancelled,
    };
    let decided_by = match source {
        "config" => "policy",
        "hook" => "host",
        source if source.starts_with("user") => "user",
        _ => "nobody",
    };
    Some(ApprovalFact {
        call: blocks.iter().find_map(|block| text(block, "tool_use_id")),
        decision: Some(decision),
        decided_by: Some(decided_by),
        reason: said(stated, "reasonType").map(Cow::Borrowed),
        ..ApprovalFact::default()
    })
}

/// The facts of a row of the model.
pub(super) fn assistant_facts<'r>(row: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let message = row.get("message").unwrap_or(&Json::Null);
    let is_made_up = text(message, "model") == Some(MADE_UP);
    if is_set(row, "isApiErrorMessage") {
        return api_error(row, message, emit);
    }
    if is_made_up {
        return emit(other(Some("assistant"), MADE_UP, true));
    }
    let mut says_something = false;
    match message.get("content") {
        Some(Json::Array(blocks)) => {
            for block in blocks {
                says_something |= text(block, "type") == Some("text");
                emit(block_fact(block));
            }
        }
        content => emit(Fact::AssistantText(Content::of(content))),
    }
    emit(Fact::ModelCall(model_call(message)));
    let ends_turn = says_something && ends_turn(message) && thread_of(row) == Thread::Main;
    if ends_turn {
        // Another row of the same message may state the end again.
        let status = EndStatus::Success;
        emit(Fact::TurnEnded(SessionEnd { status, error: None, reason: None, is_final: false }));
    }
}

fn ends_turn(message: &Json<'_>) -> bool {
    matches!(text(message, "stop_reason"), Some("end_turn" | "stop_sequence"))
}

/// The fact of a content block.
fn block_fact<'r>(block: &'r Json<'r>) -> Fact<'r> {
    let kind = text(block, "type").unwrap_or_default();
    match kind {
        "text" => Fact::AssistantText(Content::of(block.get("text"))),
        "thinking" => Fact::Reasoning(Content::of(block.get("thinking"))),
        "redacted_thinking" => Fact::Reasoning(Content::None),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => Fact::ToolCall(ToolCallFact {
            id: text(block, "id"),
            name: said(block, "name").unwrap_or("tool"),
            arguments: Arguments::of(block.get("input")),
        }),
        kind if kind.ends_with("tool_result") => Fact::ToolResult(result_of(block, None, None)),
        kind => other(Some("assistant"), kind, false),
    }
}

/// The model call that a message belongs to. Its rows repeat the id and the
/// usage.
fn model_call<'r>(message: &'r Json<'r>) -> ModelCall<'r> {
    let model = said(message, "model");
    ModelCall {
        id: said(message, "id"),
        provider: model.filter(|model| model.starts_with("claude")).map(|_| PROVIDER),
        model,
        usage: message.get("usage").and_then(Usage::read),
        stop_reason: said(message, "stop_reason").map(Cow::Borrowed),
        ..ModelCall::default()
    }
}

/// A message in the model's name that reports an error of the model's server.
fn api_error<'r>(row: &'r Json<'r>, message: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let content = Content::of(message.get("content"));
    let error = content.first_text().unwrap_or("the model call failed");
    let kind = said(row, "error");
    if thread_of(row) != Thread::Main {
        let text = Cow::Borrowed(error);
        return emit(Fact::Error(ErrorFact { text, kind, is_recovered: false }));
    }
    let (status, error) = (EndStatus::Error, Some(Cow::Borrowed(error)));
    emit(Fact::TurnEnded(SessionEnd { status, error, reason: None, is_final: true }));
}
