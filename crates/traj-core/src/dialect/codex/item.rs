//! What people saw: completed items of the new generation, and rows of the old
//! one that state more than the model saw.

use std::borrow::Cow;

use super::super::result::{error_in, outcome_of_status};
use super::super::{said, text};
use super::other;
use crate::json::Json;
use crate::run::{
    AgentStart, ApprovalFact, Arguments, Attachment, Content, Fact, Failure, Outcome, Prompt,
    ToolCallFact, ToolResultFact,
};

/// Emits the facts of a completed item.
pub(super) fn facts<'r>(payload: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let Some(item) = payload.get("item") else {
        emit(other(Some("event_msg"), "item_completed", false));
        return;
    };
    let kind = text(item, "type").unwrap_or_default();
    match kind {
        "UserMessage" => {
            let content = Content::of(item.get("content").or_else(|| item.get("text")));
            emit(Fact::Prompt(Prompt { content, images: content.images(), skipped: None }));
        }
        "CommandExecution" => {
            emit_nested(item, emit);
            let mut result = command_result(item, "id");
            result.duration = result.duration.or_else(|| span(payload));
            emit(Fact::ToolResult(result));
        }
        "McpToolCall" => {
            emit_nested(item, emit);
            emit(Fact::ToolResult(mcp_result(item, "id")));
        }
        "FileChange" | "DynamicToolCall" => {
            emit_nested(item, emit);
            emit(Fact::ToolResult(ToolResultFact {
                id: said(item, "id"),
                name: None,
                outcome: status(item).unwrap_or(Outcome::Ok),
                content: Content::None,
                duration: duration(item).or_else(|| span(payload)),
                is_truncated: false,
            }));
        }
        "SubAgentActivity" | "CollabAgentToolCall" => emit(sub_agent(item, kind)),
        kind => emit(other(Some("item"), kind, is_known(kind))),
    }
}

/// In code mode the model calls a single tool with a script. The calls that the
/// script makes are stated only by the items for their ends, under ids that
/// nothing links to the script's call.
fn emit_nested<'r>(item: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let Some(id) = said(item, "id").filter(|id| id.starts_with("exec-")) else { return };
    let (name, arguments) = match text(item, "type").unwrap_or_default() {
        "CommandExecution" => ("exec_command", "command"),
        "FileChange" => ("apply_patch", "changes"),
        _ => (said(item, "tool").unwrap_or("tool"), "arguments"),
    };
    let arguments = Arguments::of(item.get(arguments));
    emit(Fact::ToolCall(ToolCallFact { id: Some(id), name, arguments }));
}

/// Names the thread of a sub-agent, whose rollout has its own file. The item has
/// the id of the call that started it.
fn sub_agent<'r>(item: &'r Json<'r>, kind: &'r str) -> Fact<'r> {
    match started_thread(item) {
        Some(thread) => Fact::Attachment(Attachment {
            kind: Some(Cow::Borrowed("sub-agent")),
            name: Some(thread),
            content: Content::of(item.get("agent_path").or_else(|| item.get("prompt"))),
        }),
        None => other(Some("item"), kind, true),
    }
}

/// The thread of the sub-agent that an item says was started.
fn started_thread<'r>(item: &'r Json<'r>) -> Option<&'r str> {
    let receivers = item.get("receiver_thread_ids").and_then(Json::as_array).unwrap_or_default();
    let thread = said(item, "agent_thread_id").or_else(|| receivers.first()?.as_str());
    let is_start = text(item, "kind").is_none_or(|kind| kind == "started")
        && text(item, "tool").is_none_or(|tool| tool == "spawn_agent");
    thread.filter(|_| is_start)
}

/// The sub-agent that a call started: an item says so, or the answer of the first tool
/// for sub-agents, which is JSON in a text.
pub(super) fn agent_start<'r>(payload: &'r Json<'r>) -> Option<AgentStart<'r>> {
    match text(payload, "type")? {
        "item_completed" => {
            let item = payload.get("item")?;
            let kind = text(item, "type")?;
            let is_of_agent = matches!(kind, "SubAgentActivity" | "CollabAgentToolCall");
            let agent = started_thread(item).filter(|_| is_of_agent)?;
            Some(AgentStart { agent, call: said(item, "id")? })
        }
        "function_call_output" => {
            let answer = text(payload, "output").filter(|output| output.starts_with('{'))?;
            let stated = answer.split_once("\"agent_id\"")?.1.trim_start().strip_prefix(':')?;
            let agent = stated.trim_start().strip_prefix('"')?.split('"').next()?;
            Some(AgentStart { agent, call: said(payload, "call_id")? })
        }
        _ => None,
    }
}

/// Items that repeat what the model saw, or that no reader needs.
fn is_known(kind: &str) -> bool {
    matches!(
        kind,
        "AgentMessage"
            | "Reasoning"
            | "ContextCompaction"
            | "ImageView"
            | "EnteredReviewMode"
            | "ExitedReviewMode"
            | "WebSearch"
            | "Plan"
            | "TodoList"
            | "Error"
            | "HookPrompt"
            | "ImageGeneration"
            | "Sleep"
    )
}

/// A command that ended.
pub(super) fn command_result<'r>(item: &'r Json<'r>, id: &str) -> ToolResultFact<'r> {
    let code = item.get("exit_code").and_then(Json::as_i64);
    let outcome = match (status(item), code) {
        (Some(outcome @ (Outcome::Declined | Outcome::Interrupted | Outcome::TimedOut)), _) => {
            outcome
        }
        // A process that was stopped has no code of its own.
        (Some(Outcome::Failed(_)), Some(-1)) => Outcome::Interrupted,
        (_, Some(code)) if code != 0 => Outcome::Failed(Failure::exit(code)),
        (Some(outcome), _) => outcome,
        (None, _) => Outcome::Ok,
    };
    let output = ["aggregated_output", "formatted_output", "stdout"];
    ToolResultFact {
        id: said(item, id),
        name: None,
        outcome,
        content: Content::of(output.iter().find_map(|name| item.get(name))),
        duration: duration(item),
        is_truncated: false,
    }
}

/// An MCP call that ended.
pub(super) fn mcp_result<'r>(item: &'r Json<'r>, id: &str) -> ToolResultFact<'r> {
    let result = item.get("result");
    let error = item
        .get("error")
        .and_then(error_in)
        .or_else(|| result.and_then(|result| result.get("Err")).and_then(error_in));
    let returned = result.map(|result| result.get("Ok").unwrap_or(result));
    let is_flagged = returned.is_some_and(|value| {
        ["is_error", "isError"]
            .iter()
            .any(|name| value.get(name).and_then(Json::as_bool) == Some(true))
    });
    let failure = |error| Outcome::Failed(Failure { error, ..Failure::default() });
    let outcome = if error.is_some() || is_flagged {
        failure(error)
    } else {
        status(item).unwrap_or(Outcome::Ok)
    };
    let content = Content::of(returned.and_then(|value| value.get("content")));
    ToolResultFact {
        id: said(item, id),
        name: None,
        outcome,
        content,
        duration: duration(item),
        is_truncated: false,
    }
}

/// A request to approve a command or a patch.
pub(super) fn approval<'r>(payload: &'r Json<'r>) -> ApprovalFact<'r> {
    let words = payload.get("command").and_then(Json::as_array).unwrap_or_default();
    let words: Vec<&str> = words.iter().filter_map(Json::as_str).collect();
    ApprovalFact {
        id: said(payload, "approval_id").or_else(|| said(payload, "call_id")),
        call: said(payload, "call_id"),
        subject: (!words.is_empty()).then(|| Cow::Owned(words.join(" "))),
        reason: said(payload, "reason").map(Cow::Borrowed),
        ..ApprovalFact::default()
    }
}

fn status<'r>(item: &Json<'_>) -> Option<Outcome<'r>> {
    outcome_of_status(item.get("status").and_then(Json::as_str)?)
}

/// A duration as `{secs, nanos}`, in milliseconds.
fn duration(item: &Json<'_>) -> Option<u64> {
    let duration = item.get("duration")?;
    let seconds = duration.get("secs").and_then(Json::as_u64)?;
    let nanos = duration.get("nanos").and_then(Json::as_u64).unwrap_or_default();
    Some(seconds.saturating_mul(1_000).saturating_add(nanos / 1_000_000))
}

/// The time between the start and the end of an item, in milliseconds.
fn span(payload: &Json<'_>) -> Option<u64> {
    let at = |name: &str| payload.get(name).and_then(Json::as_u64);
    at("completed_at_ms")?.checked_sub(at("started_at_ms")?)
}
