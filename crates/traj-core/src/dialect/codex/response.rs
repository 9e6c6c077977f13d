//! What the model saw: items of the Responses API.

use std::borrow::Cow;

use super::super::{said, text};
use super::other;
use crate::json::Json;
use crate::run::{
    Arguments, Attachment, Content, Fact, Failure, Outcome, ToolCallFact, ToolResultFact,
};

/// Emits the facts of an item.
pub(super) fn facts<'r>(item: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let kind = text(item, "type").unwrap_or_default();
    match kind {
        "message" => message(item, emit),
        "reasoning" => {
            let shown = ["content", "summary"].iter().map(|name| Content::of(item.get(name)));
            match shown.into_iter().find(|content| !content.is_blank()) {
                Some(content) => emit(Fact::Reasoning(content)),
                None => emit(other(Some("response_item"), "reasoning", true)),
            }
        }
        "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" => {
            emit(Fact::ToolCall(call(item)));
        }
        "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
            emit(Fact::ToolResult(output(item)));
        }
        "agent_message" => emit(Fact::Attachment(Attachment {
            kind: Some(Cow::Borrowed("agent_message")),
            name: said(item, "author"),
            content: Content::of(item.get("content").or_else(|| item.get("message"))),
        })),
        kind => emit(other(Some("response_item"), kind, is_known(kind))),
    }
}

fn is_known(kind: &str) -> bool {
    matches!(
        kind,
        "additional_tools"
            | "web_search_call"
            | "image_generation_call"
            | "ghost_snapshot"
            | "compaction"
            | "compaction_summary"
            | "context_compaction"
            | "compaction_trigger"
    )
}

/// The assistant's messages are its texts. User messages are skipped: another row
/// has them as typed, while these also contain injected context.
fn message<'r>(item: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let content = Content::of(item.get("content"));
    match text(item, "role") {
        Some("assistant") => emit(Fact::AssistantText(content)),
        Some(role) => emit(Fact::Attachment(Attachment {
            kind: Some(Cow::Owned(format!("context/{role}"))),
            name: None,
            content,
        })),
        None => emit(other(Some("response_item"), "message", true)),
    }
}

fn call<'r>(item: &'r Json<'r>) -> ToolCallFact<'r> {
    let arguments = ["arguments", "input", "action"].iter().find_map(|name| item.get(name));
    let name = said(item, "name").unwrap_or(match text(item, "type") {
        Some("local_shell_call") => "local_shell",
        Some("tool_search_call") => "tool_search",
        _ => "tool",
    });
    let id = said(item, "call_id").or_else(|| said(item, "id"));
    ToolCallFact { id, name, arguments: Arguments::of(arguments) }
}

fn output<'r>(item: &'r Json<'r>) -> ToolResultFact<'r> {
    let content = Content::of(item.get("output").or_else(|| item.get("tools")));
    ToolResultFact {
        id: said(item, "call_id"),
        name: None,
        outcome: outcome_of_text(content),
        content,
        duration: None,
        is_truncated: false,
    }
}

/// The outcome that the text of an output states. The old generation records the
/// exit code nowhere else.
pub(super) fn outcome_of_text<'r>(content: Content<'r>) -> Outcome<'r> {
    let Some(text) = content.first_text() else { return Outcome::Ok };
    // Some tools return JSON as text.
    if text.starts_with('{')
        && let Ok(value) = Json::parse(text)
    {
        let metadata = value.get("metadata").unwrap_or(&value);
        let code = metadata.get("exit_code").and_then(Json::as_i64);
        return match code {
            Some(code) if code != 0 => Outcome::Failed(Failure::exit(code)),
            _ => Outcome::Ok,
        };
    }
    let head = text.lines().take(8);
    for line in head {
        let line = line.trim();
        let code = ["Process exited with code ", "Exit code: "]
            .iter()
            .find_map(|lead| line.strip_prefix(lead))
            .and_then(|code| code.trim().parse::<i64>().ok());
        match code {
            Some(0) => return Outcome::Ok,
            Some(code) => return Outcome::Failed(Failure::exit(code)),
            None if line.starts_with("aborted by user") => return Outcome::Interrupted,
            None => {}
        }
    }
    if text.starts_with("exec command rejected by user") || text.starts_with("patch rejected") {
        Outcome::Declined
    } else if text.starts_with("command timed out") {
        Outcome::TimedOut
    } else if text.starts_with("failed to ")
        || text.starts_with("execution error")
        || text.starts_with("unsupported call")
    {
        Outcome::Failed(Failure::default())
    } else {
        Outcome::Ok
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_output_states_the_outcome() {
        for (text, name, code) in [
            (
                "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\nx",
                "failed",
                Some(3),
            ),
            ("Process exited with code 0\nOutput:\nProcess exited with code 9", "ok", None),
            (r#"{"output":"x","metadata":{"exit_code":2}}"#, "failed", Some(2)),
            ("Exit code: 1\nWall time: 0 seconds\nOutput:\n", "failed", Some(1)),
            ("aborted by user after 3.0s", "interrupted", None),
            ("Wall time: 2.9 seconds\naborted by user", "interrupted", None),
            ("exec command rejected by user", "declined", None),
            ("plain", "ok", None),
            ("", "ok", None),
        ] {
            let outcome = outcome_of_text(Content::Text(text));
            assert_eq!((outcome.name(), outcome.exit_code()), (name, code), "{text}");
        }
    }
}
