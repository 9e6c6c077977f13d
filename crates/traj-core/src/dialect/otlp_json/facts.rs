//! What the rows of spans state.

use std::borrow::Cow;

use super::SpanRow;
use crate::dialect::{is_set, said, text};
use crate::json::Json;
use crate::run::{
    Arguments, CompiledContext, Content, EndStatus, ErrorFact, Fact, Failure, Loss, ModelCall,
    Outcome, Prompt, SessionEnd, SessionStart, StatedCost, ToolCallFact, ToolResultFact, Usage,
};

/// Emits the facts of a row; none for one that is not known.
pub(super) fn decode<'r>(kind: Option<SpanRow>, row: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let attributes = row.get("attributes").unwrap_or(&Json::Null);
    match kind {
        Some(SpanRow::Session) => session(row, attributes, emit),
        Some(SpanRow::Input) => input(row, emit),
        Some(SpanRow::Chat) => chat(row, attributes, emit),
        Some(SpanRow::Call) => emit(Fact::ToolCall(ToolCallFact {
            id: said(attributes, "gen_ai.tool.call.id"),
            name: tool_name(row, attributes).unwrap_or("tool"),
            arguments: Arguments::of(attributes.get("gen_ai.tool.call.arguments")),
        })),
        Some(SpanRow::Result) => emit(Fact::ToolResult(ToolResultFact {
            id: said(attributes, "gen_ai.tool.call.id"),
            name: tool_name(row, attributes),
            outcome: outcome(row, attributes),
            content: Content::of(attributes.get("gen_ai.tool.call.result")),
            duration: row.get("millis").and_then(Json::as_u64),
            is_truncated: false,
        })),
        Some(SpanRow::Error) => emit(Fact::Error(ErrorFact {
            text: Cow::Borrowed(error_of(row).unwrap_or("error")),
            kind: None,
            is_recovered: false,
        })),
        // Another turn began, and nothing states its end.
        Some(SpanRow::End) if text(row, "status") == Some("open") => emit(Fact::TurnStarted),
        Some(SpanRow::End) => emit(Fact::TurnEnded(SessionEnd {
            status: EndStatus::parse(text(row, "status").unwrap_or("ended")),
            error: said(row, "error").map(Cow::Borrowed),
            reason: None,
            is_final: true,
        })),
        Some(SpanRow::Lost) => emit(Fact::Lost(Loss {
            reason: said(row, "reason").map(Cow::Borrowed),
            events: row.get("spans").and_then(Json::as_u64),
            bytes: row.get("bytes").and_then(Json::as_u64),
        })),
        Some(SpanRow::Other) | None => {}
    }
}

/// A row that states none of these facts.
pub(super) fn other<'r>(row: &'r Json<'r>) -> Fact<'r> {
    let name = text(row, "type").unwrap_or_default();
    Fact::Other { name: Cow::Borrowed(name), is_known: SpanRow::of(row).is_some() }
}

fn session<'r>(row: &'r Json<'r>, attributes: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let resource = row.get("resource").unwrap_or(&Json::Null);
    let agent = said(attributes, "gen_ai.agent.name").or_else(|| said(resource, "service.name"));
    let version =
        said(attributes, "gen_ai.agent.version").or_else(|| said(resource, "service.version"));
    emit(Fact::SessionStarted(SessionStart {
        session: said(row, "session"),
        agent: agent.map(Cow::Borrowed),
        agent_version: version,
        model: said(attributes, "gen_ai.request.model"),
        ..SessionStart::default()
    }));
    let system = Content::of(attributes.get("gen_ai.system_instructions"));
    let tools = attributes.get("gen_ai.tool.definitions");
    let tools = tools.filter(|tools| tools.as_array().is_some());
    if system != Content::None || tools.is_some() {
        emit(Fact::ContextCompiled(CompiledContext { system, tools }));
    }
}

/// The prompts among what an agent was given. Results are stated by their own
/// spans.
fn input<'r>(row: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    for message in row.get("messages").and_then(Json::as_array).unwrap_or_default() {
        let content = Content::of(message.get("parts").or_else(|| message.get("content")));
        if text(message, "role") == Some("user") && !content.is_blank() {
            emit(Fact::Prompt(Prompt { content, ..Prompt::default() }));
        }
    }
}

fn chat<'r>(row: &'r Json<'r>, attributes: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    for message in row.get("messages").and_then(Json::as_array).unwrap_or_default() {
        for part in message.get("parts").and_then(Json::as_array).unwrap_or_default() {
            let content = Content::of(part.get("content"));
            match text(part, "type") {
                Some("reasoning" | "thinking") if !content.is_blank() => {
                    emit(Fact::Reasoning(content));
                }
                Some("text") if !content.is_blank() => emit(Fact::AssistantText(content)),
                // Spans of their own state the calls.
                _ => {}
            }
        }
    }
    emit(Fact::ModelCall(model_call(row, attributes)));
}

fn model_call<'r>(row: &'r Json<'r>, attributes: &'r Json<'r>) -> ModelCall<'r> {
    let first = |names: [&str; 2]| names.iter().find_map(|name| said(attributes, name));
    let provider = first(["gen_ai.provider.name", "gen_ai.system"]);
    let name = first(["gen_ai.response.model", "gen_ai.request.model"]);
    // The provider may be part of the name.
    let model = name.map(|name| {
        let rest = provider.and_then(|provider| name.strip_prefix(provider)?.strip_prefix('/'));
        rest.unwrap_or(name)
    });
    let reasons = attributes.get("gen_ai.response.finish_reasons");
    let reason = reasons.and_then(|reasons| reasons.as_array()?.first()?.as_str());
    ModelCall {
        id: said(attributes, "gen_ai.response.id"),
        provider,
        model,
        usage: usage_of(attributes),
        cost: cost_of(attributes),
        stop_reason: reason.map(Cow::Borrowed),
        latency: row
            .get("millis")
            .and_then(Json::as_u64)
            .filter(|_| !is_set(attributes, "traj.start_is_estimated")),
        error: error_of(row).map(Cow::Borrowed),
        ..ModelCall::default()
    }
}

/// Tokens. By the conventions, those of the input include cached ones.
fn usage_of(attributes: &Json<'_>) -> Option<Usage> {
    let count = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| attributes.get(&format!("gen_ai.usage.{name}")).and_then(Json::as_u64))
    };
    let (input, output) =
        (count(&["input_tokens", "prompt_tokens"]), count(&["output_tokens", "completion_tokens"]));
    if input.is_none() && output.is_none() {
        return None;
    }
    let rest = |names: &[&str]| count(names).unwrap_or_default();
    Some(Usage {
        input: input.unwrap_or_default(),
        cached: rest(&["cache_read.input_tokens"]),
        cache_write: rest(&["cache_creation.input_tokens"]),
        output: output.unwrap_or_default(),
        reasoning: rest(&["reasoning.output_tokens"]),
    })
}

fn cost_of(attributes: &Json<'_>) -> Option<StatedCost> {
    let currency = said(attributes, "traj.usage.currency").unwrap_or("USD");
    let dollars = attributes.get("traj.usage.cost")?.as_f64()?;
    (currency == "USD" && dollars.is_finite()).then_some(StatedCost { dollars })
}

/// The tool that a span names, in an attribute or in its own name.
fn tool_name<'r>(row: &'r Json<'r>, attributes: &'r Json<'r>) -> Option<&'r str> {
    let in_name = || said(row, "name")?.strip_prefix("execute_tool ");
    said(attributes, "gen_ai.tool.name").or_else(in_name)
}

/// The error of a span that failed: its message, else its type.
fn error_of<'r>(row: &'r Json<'r>) -> Option<&'r str> {
    let error = row.get("error")?;
    said(error, "message").or_else(|| said(error, "type")).or(Some("error"))
}

fn outcome<'r>(row: &'r Json<'r>, attributes: &'r Json<'r>) -> Outcome<'r> {
    let failed = |error: Option<&'r str>| {
        Outcome::Failed(Failure {
            exit_code: attributes.get("traj.tool.exit_code").and_then(Json::as_i64),
            signal: said(attributes, "traj.tool.signal").map(Cow::Borrowed),
            error: error.map(Cow::Borrowed),
        })
    };
    match text(attributes, "traj.tool.outcome") {
        Some("failed") => failed(row.get("error").and_then(|error| said(error, "message"))),
        Some("timedOut") => Outcome::TimedOut,
        Some("declined") => Outcome::Declined,
        Some("interrupted") => Outcome::Interrupted,
        Some(_) => Outcome::Ok,
        None if row.get("error").is_some() => failed(error_of(row)),
        None => Outcome::Ok,
    }
}
