//! opencode: rows of the tables `session`, `message` and `part`.
//!
//! `gather` adds to each row what another row states: whose message a part belongs
//! to, and whether a fork copied it. Copied rows are shown as attachments, so that
//! they count only where they happened. A tool part appears twice: when the call
//! began, and when the tool answered.

use std::borrow::Cow;

use super::result::outcome_of;
use super::table_row::{self, RowFacts, table_of};
use super::{is_set, said, text};
use crate::json::Json;
use crate::run::{
    AgentStart, Arguments, Attachment, Compaction, CompiledContext, Content, EndStatus, ErrorFact,
    Fact, Failure, ModelCall, Outcome, Place, Prompt, Rewind, RunEvent, SessionEnd, SessionStart,
    StatedCost, ToolCallFact, ToolResultFact, Usage,
};

/// The tables, each with a column that other programs' tables do not have.
const TABLES: [(&str, &str); 3] = [("session", "directory"), ("message", "data"), ("part", "data")];

/// Types of parts that state no fact themselves: the tokens of a step are in
/// the message too, and a summary is the text of its own message.
const KNOWN_PARTS: [&str; 6] =
    ["step-start", "step-finish", "snapshot", "patch", "agent", "compaction"];

/// The name of the error of a turn that a person ended.
const ABORTED: &str = "MessageAbortedError";

/// Whether a row is one of opencode's.
pub(super) fn recognises(row: &Json<'_>) -> bool {
    table_row::is_of(row, &TABLES)
}

/// Emits the facts of a row.
pub(super) fn decode<'r>(row: &'r Json<'r>, place: Place, emit: &mut dyn FnMut(RunEvent<'r>)) {
    let is_main = row.get("thread").is_none();
    let mut facts = RowFacts::new(row, place, emit);
    let data = row.get("data").unwrap_or(&Json::Null);
    match table_of(row) {
        Some("session") if is_main && is_set(row, "reverted") => {
            let to = row.get("revert").and_then(|revert| said(revert, "messageID"));
            facts.push(Fact::Rewind(Rewind { to, ..Rewind::default() }));
        }
        Some("session") if is_main => session(row, &mut facts),
        Some("message") if !is_set(row, "inherited") => message(row, data, is_main, &mut facts),
        Some("part") if is_set(row, "inherited") => facts.push(inherited(data)),
        Some("part") => part(row, data, &mut facts),
        Some(table @ ("session" | "message")) => facts.push(other(table, true)),
        table => facts.push(other(table.unwrap_or_default(), false)),
    }
}

fn other(name: &str, is_known: bool) -> Fact<'_> {
    Fact::Other { name: Cow::Borrowed(name), is_known }
}

fn session<'r>(row: &'r Json<'r>, facts: &mut RowFacts<'r, '_>) {
    let model = row.get("model").unwrap_or(&Json::Null);
    facts.push(Fact::SessionStarted(SessionStart {
        session: said(row, "id"),
        agent: Some(Cow::Borrowed(said(row, "program").unwrap_or("opencode"))),
        agent_version: said(row, "version"),
        workspace: said(row, "directory"),
        provider: said(model, "providerID"),
        model: said(model, "id"),
        parent: said(row, "parent_id"),
        // A session with a parent is that of a sub-agent.
        is_part: said(row, "parent_id").is_some(),
        ..SessionStart::default()
    }));
}

fn message<'r>(row: &'r Json<'r>, data: &'r Json<'r>, is_main: bool, facts: &mut RowFacts<'r, '_>) {
    let role = text(data, "role");
    match role {
        Some("user") => match said(data, "system") {
            Some(system) => {
                let system = Content::Text(system);
                facts.push(Fact::ContextCompiled(CompiledContext { system, tools: None }));
            }
            None => facts.push(other("message", true)),
        },
        Some("assistant") => {
            let error = data.get("error").filter(|error| !error.is_null());
            let is_aborted = error.and_then(|error| text(error, "name")) == Some(ABORTED);
            let failed = error.filter(|_| !is_aborted).map(error_of);
            let is_finished = said(data, "finish").is_some();
            facts.push(Fact::ModelCall(ModelCall {
                id: said(row, "id"),
                provider: said(data, "providerID"),
                model: said(data, "modelID"),
                usage: data
                    .get("tokens")
                    .and_then(usage_of)
                    .filter(|usage| is_finished || !usage.is_zero()),
                cost: cost_of(data).filter(|_| is_finished),
                stop_reason: said(data, "finish").map(Cow::Borrowed),
                error: failed.clone(),
                ..ModelCall::default()
            }));
            let status = match (is_aborted, &failed, said(data, "finish")) {
                (true, ..) => EndStatus::Interrupted,
                (_, Some(_), _) => EndStatus::Error,
                (_, None, None | Some("tool-calls")) => return,
                (_, None, Some(_)) => EndStatus::Success,
            };
            if is_main {
                let (error, reason, is_final) = (failed, None, true);
                facts.push(Fact::TurnEnded(SessionEnd { status, error, reason, is_final }));
            }
        }
        _ => facts.push(other("message", false)),
    }
}

/// The message of an error, else its name.
fn error_of<'r>(error: &'r Json<'r>) -> Cow<'r, str> {
    let message = error.get("data").and_then(|data| said(data, "message"));
    Cow::Borrowed(message.or_else(|| said(error, "name")).unwrap_or("unknown error"))
}

/// Tokens: `input` is without what was cached, `output` without the reasoning.
fn usage_of(tokens: &Json<'_>) -> Option<Usage> {
    let count = |value: Option<&Json<'_>>, name: &str| {
        value.and_then(|value| value.get(name)?.as_f64()).map_or(0, |count| count.max(0.0) as u64)
    };
    tokens.as_object()?;
    let (all, cache) = (Some(tokens), tokens.get("cache"));
    let (cached, cache_write) = (count(cache, "read"), count(cache, "write"));
    let reasoning = count(all, "reasoning");
    Some(Usage {
        input: count(all, "input").saturating_add(cached).saturating_add(cache_write),
        cached,
        cache_write,
        output: count(all, "output").saturating_add(reasoning),
        reasoning,
    })
}

fn cost_of(data: &Json<'_>) -> Option<StatedCost> {
    let dollars = data.get("cost")?.as_f64()?;
    dollars.is_finite().then_some(StatedCost { dollars })
}

/// What a fork copied: context, not something that happened in this session.
fn inherited<'r>(data: &'r Json<'r>) -> Fact<'r> {
    let kind = text(data, "type").unwrap_or_default();
    let content = match kind {
        "text" | "reasoning" => Content::of(data.get("text")),
        "tool" => Content::of(data.get("state").and_then(|state| {
            state.get("output").or_else(|| state.get("error")).or_else(|| state.get("input"))
        })),
        _ => return other(kind, true),
    };
    let kind = Some(Cow::Owned(format!("inherited {kind}")));
    Fact::Attachment(Attachment { kind, name: said(data, "tool"), content })
}

fn part<'r>(row: &'r Json<'r>, data: &'r Json<'r>, facts: &mut RowFacts<'r, '_>) {
    let role = text(row, "role").unwrap_or("assistant");
    let content = Content::of(data.get("text"));
    match (text(data, "type").unwrap_or_default(), role) {
        ("text", _) if is_set(data, "synthetic") || is_set(data, "ignored") => {
            let kind = Some(Cow::Borrowed("synthetic"));
            facts.push(Fact::Attachment(Attachment { kind, name: None, content }));
        }
        // The task of a sub-agent comes from the agent, not from a person.
        ("text", "user") if row.get("thread").is_some() => {
            let kind = Some(Cow::Borrowed("task"));
            facts.push(Fact::Attachment(Attachment { kind, name: None, content }));
        }
        ("text", "user") => facts.push(Fact::Prompt(Prompt { content, ..Prompt::default() })),
        ("text", "summary") => {
            facts.push(Fact::Compaction(Compaction { summary: content, tokens_before: None }));
        }
        ("text", _) => facts.push(Fact::AssistantText(content)),
        ("reasoning", _) => facts.push(Fact::Reasoning(content)),
        ("file", _) => facts.push(Fact::Attachment(Attachment {
            kind: said(data, "mime").map(Cow::Borrowed),
            name: said(data, "filename"),
            content: Content::None,
        })),
        ("subtask", _) => facts.push(Fact::Prompt(Prompt {
            content: Content::of(data.get("prompt")),
            ..Prompt::default()
        })),
        ("retry", _) => facts.push(Fact::Error(ErrorFact {
            text: data.get("error").map_or(Cow::Borrowed("retry"), error_of),
            kind: Some("retry"),
            is_recovered: true,
        })),
        ("tool", _) => tool(data, facts),
        (kind, _) if data.get("lostBytes").is_some() => facts.push(lost(kind, data)),
        (kind, _) => facts.push(other(kind, KNOWN_PARTS.contains(&kind))),
    }
}

/// A part that is too long to be read.
fn lost<'r>(_kind: &str, data: &'r Json<'r>) -> Fact<'r> {
    Fact::Lost(crate::run::Loss {
        reason: Some(Cow::Borrowed("too long")),
        events: Some(1),
        bytes: data.get("lostBytes").and_then(Json::as_u64),
    })
}

fn tool<'r>(data: &'r Json<'r>, facts: &mut RowFacts<'r, '_>) {
    let state = data.get("state").unwrap_or(&Json::Null);
    let (id, name) = (said(data, "callID"), said(data, "tool"));
    let agent = state.get("metadata").and_then(|metadata| said(metadata, "sessionId"));
    facts.agent_start = agent.zip(id).map(|(agent, call)| AgentStart { agent, call });
    match text(state, "status") {
        Some("pending" | "running") => facts.push(Fact::ToolCall(ToolCallFact {
            id,
            name: name.unwrap_or("tool"),
            arguments: Arguments::of(state.get("input")),
        })),
        Some("completed" | "error") => facts.push(Fact::ToolResult(ToolResultFact {
            id,
            name,
            outcome: outcome(name, state),
            content: Content::of(state.get("output").or_else(|| state.get("error"))),
            duration: None,
            is_truncated: state.get("metadata").is_some_and(|about| is_set(about, "truncated")),
        })),
        _ => facts.push(other("tool", false)),
    }
}

/// The outcome of a tool. Its status says only whether it could be run.
fn outcome<'r>(name: Option<&str>, state: &'r Json<'r>) -> Outcome<'r> {
    let failed = |error: &'r str| {
        let error = Some(Cow::Borrowed(error));
        Outcome::Failed(Failure { error, ..Failure::default() })
    };
    let output = text(state, "output").unwrap_or_default();
    if let Some(error) = said(state, "error") {
        return if error.contains("rejected permission") {
            Outcome::Declined
        } else if error.contains("aborted") {
            Outcome::Interrupted
        } else {
            failed(error)
        };
    }
    // A call that the model got wrong is answered by a tool of this name.
    if name == Some("invalid") {
        let error = state.get("input").and_then(|input| said(input, "error"));
        return failed(error.unwrap_or("invalid call"));
    }
    match state.get("metadata").and_then(|metadata| metadata.get("exit")) {
        Some(Json::Null) if output.contains("exceeding timeout") => Outcome::TimedOut,
        Some(Json::Null) if output.contains("aborted") => Outcome::Interrupted,
        Some(exit) => match exit.as_i64() {
            Some(0) | None => Outcome::Ok,
            Some(code) => Outcome::Failed(Failure::exit(code)),
        },
        None => outcome_of(state),
    }
}
