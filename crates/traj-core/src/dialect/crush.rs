//! Crush: rows of the tables `sessions`, `messages` and `files`.
//!
//! A message is a list of parts, `{type, data}`. The last row states the cost of the
//! session with its sub-agents, and the tokens of the last model call: Crush stores
//! no others.

use std::borrow::Cow;

use super::result::outcome_of;
use super::table_row::{self, RowFacts, table_of};
use super::{said, text};
use crate::json::Json;
use crate::run::{
    AgentStart, Arguments, Attachment, Compaction, Content, EndStatus, Fact, Failure, ModelCall,
    Outcome, Place, Prompt, RunEvent, SessionEnd, SessionStart, StatedCost, ToolCallFact,
    ToolResultFact, Usage, UsageScope,
};

/// The tables, each with a column that other programs' tables do not have.
const TABLES: [(&str, &str); 3] =
    [("sessions", "prompt_tokens"), ("messages", "parts"), ("files", "version")];

/// Whether a row is one of Crush's.
pub(super) fn recognises(row: &Json<'_>) -> bool {
    table_row::is_of(row, &TABLES)
}

/// Emits the facts of a row.
pub(super) fn decode<'r>(row: &'r Json<'r>, place: Place, emit: &mut dyn FnMut(RunEvent<'r>)) {
    let is_main = row.get("thread").is_none();
    let mut facts = RowFacts::new(row, place, emit);
    facts.agent_start = agent_start(row);
    match table_of(row) {
        Some("sessions") if is_main && row.get("totals").is_some() => facts.push(totals(row)),
        Some("sessions") if is_main => facts.push(Fact::SessionStarted(SessionStart {
            session: said(row, "id"),
            agent: Some(Cow::Borrowed("crush")),
            parent: said(row, "parent_session_id"),
            ..SessionStart::default()
        })),
        Some("messages") => message(row, is_main, &mut facts),
        Some(table @ ("sessions" | "files")) => facts.push(other(table, true)),
        table => facts.push(other(table.unwrap_or_default(), false)),
    }
}

/// The call that started a sub-agent: the id of its session is that of a message and of
/// the call.
fn agent_start<'r>(row: &'r Json<'r>) -> Option<AgentStart<'r>> {
    let agent = said(row, "thread")?;
    let (_, call) = agent.split_once("$$")?;
    Some(AgentStart { agent, call })
}

fn other(name: &str, is_known: bool) -> Fact<'_> {
    Fact::Other { name: Cow::Borrowed(name), is_known }
}

/// The cost of all model calls, and the tokens of the last one.
fn totals<'r>(row: &'r Json<'r>) -> Fact<'r> {
    let count = |name: &str| row.get(name).and_then(Json::as_u64).unwrap_or_default();
    let cost = row.get("cost").and_then(Json::as_f64).filter(|cost| cost.is_finite());
    let (input, output) = (count("prompt_tokens"), count("completion_tokens"));
    if input == 0 && output == 0 {
        return other("sessions", true);
    }
    Fact::ModelCall(ModelCall {
        usage: Some(Usage { input, output, ..Usage::default() }),
        cost: cost.map(|dollars| StatedCost { dollars }),
        scope: UsageScope::Turn,
        ..ModelCall::default()
    })
}

fn message<'r>(row: &'r Json<'r>, is_main: bool, facts: &mut RowFacts<'r, '_>) {
    let role = text(row, "role").unwrap_or_default();
    let summary = row.get("is_summary_message");
    let is_summary = summary.is_some_and(|flag| {
        flag.as_bool() == Some(true) || flag.as_i64().is_some_and(|flag| flag != 0)
    });
    let parts = row.get("parts").and_then(Json::as_array).unwrap_or_default();
    for part in parts {
        let data = part.get("data").unwrap_or(&Json::Null);
        match (text(part, "type").unwrap_or_default(), role) {
            ("text", _) => {
                // The task of a sub-agent comes from the agent, not from a person.
                let role = if !is_main && role == "user" { "task" } else { role };
                facts.push(said_by(role, is_summary, Content::of(data.get("text"))));
            }
            ("reasoning", _) => facts.push(Fact::Reasoning(Content::of(data.get("thinking")))),
            ("tool_call", _) => facts.push(Fact::ToolCall(ToolCallFact {
                id: said(data, "id"),
                name: said(data, "name").unwrap_or("tool"),
                arguments: Arguments::of(data.get("input")),
            })),
            ("tool_result", _) => facts.push(Fact::ToolResult(result(data))),
            (kind @ ("image_url" | "binary"), _) => {
                facts.push(Fact::Attachment(Attachment {
                    kind: said(data, "MIMEType")
                        .or_else(|| said(data, "mime_type"))
                        .or(Some(kind))
                        .map(Cow::Borrowed),
                    name: said(data, "Path").or_else(|| said(data, "path")),
                    content: Content::None,
                }));
            }
            ("finish", "assistant") => finish(row, data, is_main, facts),
            ("finish", _) => facts.push(other("finish", true)),
            (kind, _) => facts.push(other(kind, false)),
        }
    }
    if facts.is_empty() {
        facts.push(other("messages", row.get("parts").is_some()));
    }
}

fn said_by<'r>(role: &'r str, is_summary: bool, content: Content<'r>) -> Fact<'r> {
    match role {
        _ if is_summary => Fact::Compaction(Compaction { summary: content, tokens_before: None }),
        "user" => Fact::Prompt(Prompt { content, images: 0, skipped: None }),
        "assistant" => Fact::AssistantText(content),
        role => {
            let kind = Some(Cow::Borrowed(role));
            Fact::Attachment(Attachment { kind, name: None, content })
        }
    }
}

fn result<'r>(data: &'r Json<'r>) -> ToolResultFact<'r> {
    ToolResultFact {
        id: said(data, "tool_call_id"),
        name: said(data, "name"),
        outcome: match (exit_code(data), outcome_of(data)) {
            (Some(code), Outcome::Ok) => Outcome::Failed(Failure::exit(code)),
            (_, outcome) => outcome,
        },
        content: Content::of(data.get("content")),
        duration: None,
        is_truncated: false,
    }
}

/// The exit code that ends the output of a failed command.
fn exit_code(data: &Json<'_>) -> Option<i64> {
    let (_, code) = text(data, "content")?.trim_end().rsplit_once("Exit code ")?;
    code.parse().ok().filter(|code| *code != 0)
}

/// Why an assistant's message ended.
fn finish<'r>(row: &'r Json<'r>, data: &'r Json<'r>, is_main: bool, facts: &mut RowFacts<'r, '_>) {
    let reason = said(data, "reason").unwrap_or_default();
    facts.push(Fact::ModelCall(ModelCall {
        provider: said(row, "provider"),
        model: said(row, "model"),
        stop_reason: said(data, "reason").map(Cow::Borrowed),
        ..ModelCall::default()
    }));
    let error = said(data, "message").or_else(|| said(data, "details")).map(Cow::Borrowed);
    let status = match reason {
        "end_turn" | "max_tokens" => EndStatus::Success,
        "canceled" | "cancelled" | "permission_denied" => EndStatus::Interrupted,
        "error" => EndStatus::Error,
        // The model goes on when the tools have answered.
        _ => return,
    };
    if !is_main {
        return;
    }
    let error = error.filter(|_| status == EndStatus::Error);
    facts.push(Fact::TurnEnded(SessionEnd { status, error, reason: None, is_final: true }));
}
