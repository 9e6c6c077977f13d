//! goose: rows of the tables `sessions` and `messages`.
//!
//! A message is a list of items. The answer of a tool is an item of a user
//! message. Tokens are counted only for the whole session; the last row states
//! them.

use std::borrow::Cow;

use super::result::{error_text, outcome_of};
use super::table_row::{self, RowFacts, table_of};
use super::{said, text};
use crate::json::Json;
use crate::run::{
    ApprovalFact, Arguments, Attachment, Compaction, Content, Fact, Failure, ModelCall, Outcome,
    Place, Prompt, RunEvent, SessionStart, ToolCallFact, ToolResultFact, Usage, UsageScope,
};

/// The tables, each with a column that other programs' tables do not have.
const TABLES: [(&str, &str); 3] =
    [("sessions", "working_dir"), ("messages", "content_json"), ("sessions", "totals")];

/// Items that state no fact themselves.
const KNOWN_ITEMS: [&str; 4] =
    ["redactedThinking", "systemNotification", "contextLengthExceeded", "summarizationRequested"];

/// Whether a row is one of goose's.
pub(super) fn recognises(row: &Json<'_>) -> bool {
    table_row::is_of(row, &TABLES)
}

/// Emits the facts of a row.
pub(super) fn decode<'r>(row: &'r Json<'r>, place: Place, emit: &mut dyn FnMut(RunEvent<'r>)) {
    let mut facts = RowFacts::new(row, place, emit);
    match table_of(row) {
        Some("sessions") if row.get("totals").is_some() => facts.push(totals(row)),
        Some("sessions") => facts.push(session(row)),
        Some("messages") => message(row, &mut facts),
        table => facts.push(other(table.unwrap_or_default(), false)),
    }
}

fn other(name: &str, is_known: bool) -> Fact<'_> {
    Fact::Other { name: Cow::Borrowed(name), is_known }
}

fn session<'r>(row: &'r Json<'r>) -> Fact<'r> {
    Fact::SessionStarted(SessionStart {
        session: said(row, "id"),
        agent: Some(Cow::Borrowed("goose")),
        workspace: said(row, "working_dir"),
        provider: said(row, "provider_name"),
        model: row.get("model_config_json").and_then(|model| said(model, "model_name")),
        ..SessionStart::default()
    })
}

/// The tokens of all model calls.
fn totals<'r>(row: &'r Json<'r>) -> Fact<'r> {
    let count = |name: &str| row.get(name).and_then(Json::as_u64);
    let (input, output) = (count("accumulated_input_tokens"), count("accumulated_output_tokens"));
    if input.is_none() && output.is_none() {
        return other("sessions", true);
    }
    let usage = Usage {
        input: input.unwrap_or_default(),
        output: output.unwrap_or_default(),
        ..Usage::default()
    };
    Fact::ModelCall(ModelCall {
        provider: said(row, "provider_name"),
        model: row.get("model_config_json").and_then(|model| said(model, "model_name")),
        usage: Some(usage),
        scope: UsageScope::Turn,
        ..ModelCall::default()
    })
}

fn message<'r>(row: &'r Json<'r>, facts: &mut RowFacts<'r, '_>) {
    let content = row.get("content_json");
    let items = content.and_then(Json::as_array).unwrap_or_default();
    let is_user = text(row, "role") == Some("user");
    let metadata = row.get("metadata_json");
    let hidden = metadata.and_then(|metadata| metadata.get("userVisible")?.as_bool());
    let is_hidden = hidden == Some(false);
    let is_text = |item: &&Json<'_>| matches!(text(item, "type"), Some("text" | "image"));
    let mut has_text = false;
    for item in items {
        match text(item, "type").unwrap_or_default() {
            "text" | "image" if is_user && !is_hidden => {
                // All texts of a message are one prompt.
                if !has_text && items.iter().all(|item| is_text(&item)) {
                    let content = Content::of(content);
                    facts.push(prompt(content));
                } else if !items.iter().all(|item| is_text(&item)) {
                    facts.push(prompt(Content::of(item.get("text"))));
                }
                has_text = true;
            }
            "text" if is_hidden && metadata.is_some_and(is_for_agent) => {
                // What replaced the conversation when it became too long.
                let summary = Content::of(item.get("text"));
                facts.push(Fact::Compaction(Compaction { summary, tokens_before: None }));
            }
            kind => item_fact(kind, item, facts),
        }
    }
    if facts.is_empty() {
        facts.push(other("messages", content.is_some()));
    }
}

fn is_for_agent(metadata: &Json<'_>) -> bool {
    metadata.get("agentVisible").and_then(Json::as_bool) == Some(true)
}

fn prompt(content: Content<'_>) -> Fact<'_> {
    Fact::Prompt(Prompt { content, images: content.images(), skipped: None })
}

fn item_fact<'r>(kind: &'r str, item: &'r Json<'r>, facts: &mut RowFacts<'r, '_>) {
    match kind {
        "text" => facts.push(Fact::AssistantText(Content::of(item.get("text")))),
        "thinking" => facts.push(Fact::Reasoning(Content::of(item.get("thinking")))),
        "image" => facts.push(Fact::Attachment(Attachment {
            kind: Some(Cow::Borrowed("image")),
            name: None,
            content: Content::None,
        })),
        "toolRequest" | "frontendToolRequest" => tool_request(item, facts),
        "toolResponse" => facts.push(Fact::ToolResult(tool_response(item))),
        "toolConfirmationRequest" => facts.push(approval(item)),
        "actionRequired" => match item.get("data") {
            Some(data) if text(data, "actionType") == Some("toolConfirmation") => {
                facts.push(approval(data));
            }
            _ => facts.push(other(kind, true)),
        },
        kind => facts.push(other(kind, KNOWN_ITEMS.contains(&kind))),
    }
}

/// A call. If the model's call could not be read, its error is all there is.
fn tool_request<'r>(item: &'r Json<'r>, facts: &mut RowFacts<'r, '_>) {
    let call = item.get("toolCall").unwrap_or(&Json::Null);
    let value = call.get("value").unwrap_or(&Json::Null);
    let id = said(item, "id");
    facts.push(Fact::ToolCall(ToolCallFact {
        id,
        name: said(value, "name").unwrap_or("tool"),
        arguments: Arguments::of(value.get("arguments")),
    }));
    if let Some(error) = error_text(call) {
        facts.push(Fact::ToolResult(ToolResultFact {
            id,
            name: None,
            outcome: Outcome::Failed(Failure { error: Some(error), ..Failure::default() }),
            content: Content::of(call.get("error")),
            duration: None,
            is_truncated: false,
        }));
    }
}

fn tool_response<'r>(item: &'r Json<'r>) -> ToolResultFact<'r> {
    let result = item.get("toolResult").unwrap_or(&Json::Null);
    let value = result.get("value");
    let outcome = match (value, outcome_of(result)) {
        (Some(value), Outcome::Ok) => outcome_of(value),
        (_, outcome) => outcome,
    };
    ToolResultFact {
        id: said(item, "id"),
        name: None,
        outcome,
        content: match value {
            Some(value) => Content::of(value.get("content").or(Some(value))),
            None => Content::of(result.get("error")),
        },
        duration: None,
        is_truncated: false,
    }
}

fn approval<'r>(item: &'r Json<'r>) -> Fact<'r> {
    let id = said(item, "id");
    let subject = said(item, "toolName").map(Cow::Borrowed);
    Fact::ApprovalAsked(ApprovalFact { id, call: id, subject, ..ApprovalFact::default() })
}
