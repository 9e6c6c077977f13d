//! Model calls, tool calls and their results.

use std::borrow::Cow;

use crate::dialect::result::outcome_of;
use crate::dialect::{is_set, said, text};
use crate::json::Json;
use crate::run::{
    AgentStart, Arguments, Attachment, Content, Fact, Failure, ModelCall, Outcome, StatedCost,
    ToolCallFact, ToolResultFact, Usage,
};

/// The model call of a step: its name and its metrics.
pub(super) fn model_call<'r>(row: &'r Json<'r>) -> ModelCall<'r> {
    let metrics = row.get("metrics").unwrap_or(&Json::Null);
    let extra = metrics.get("extra").unwrap_or(&Json::Null);
    let provider = said(extra, "provider");
    let name = said(row, "model_name");
    // The provider may be part of the name.
    let model = name.map(|name| {
        let rest = provider.and_then(|provider| name.strip_prefix(provider)?.strip_prefix('/'));
        rest.unwrap_or(name)
    });
    let dollars = metrics.get("cost_usd").and_then(Json::as_f64);
    ModelCall {
        id: said(extra, "response_id"),
        provider,
        model,
        usage: usage_of(metrics),
        cost: dollars.filter(|dollars| dollars.is_finite()).map(|dollars| StatedCost { dollars }),
        stop_reason: said(extra, "stop_reason").map(Cow::Borrowed),
        latency: extra.get("duration_ms").and_then(Json::as_u64),
        ..ModelCall::default()
    }
}

/// Tokens. Those of the prompt include cached ones.
fn usage_of(metrics: &Json<'_>) -> Option<Usage> {
    let extra = metrics.get("extra").unwrap_or(&Json::Null);
    let stated = |name: &str| metrics.get(name).and_then(Json::as_u64);
    let own = |name: &str| extra.get(name).and_then(Json::as_u64).unwrap_or_default();
    let (input, output) = (stated("prompt_tokens"), stated("completion_tokens"));
    if input.is_none() && output.is_none() {
        return None;
    }
    Some(Usage {
        input: input.unwrap_or_default(),
        cached: stated("cached_tokens").unwrap_or_default(),
        cache_write: own("cache_write_tokens"),
        output: output.unwrap_or_default(),
        reasoning: own("reasoning_tokens"),
    })
}

/// A tool call. Arguments that are not an object were wrapped in one.
pub(super) fn tool_call<'r>(call: &'r Json<'r>) -> ToolCallFact<'r> {
    let arguments = call.get("arguments");
    let wrapped = call.get("extra").and_then(|extra| text(extra, "arguments_in"));
    let inner = wrapped.and_then(|name| arguments?.get(name));
    ToolCallFact {
        id: said(call, "tool_call_id"),
        name: said(call, "function_name").unwrap_or("tool"),
        arguments: Arguments::of(inner.or(arguments)),
    }
}

/// A result; an attachment if no call of the step is known to have it.
pub(super) fn result<'r>(row: &'r Json<'r>, result: &'r Json<'r>) -> Fact<'r> {
    let content = Content::of(result.get("content"));
    let Some(id) = said(row, "call") else {
        let kind = Some(Cow::Borrowed("observation"));
        return Fact::Attachment(Attachment { kind, name: None, content });
    };
    let extra = result.get("extra").unwrap_or(&Json::Null);
    Fact::ToolResult(ToolResultFact {
        id: Some(id),
        name: said(row, "tool"),
        outcome: outcome(extra),
        content,
        duration: extra.get("duration_ms").and_then(Json::as_u64),
        is_truncated: is_set(extra, "truncated"),
    })
}

/// The sub-agent that a call started: its result refers to the trajectory.
pub(super) fn agent_start<'r>(row: &'r Json<'r>) -> Option<AgentStart<'r>> {
    let reference = row.get("result")?.get("subagent_trajectory_ref")?.as_array()?.first()?;
    let names = ["trajectory_id", "session_id"];
    let agent = names.into_iter().find_map(|name| said(reference, name))?;
    Some(AgentStart { agent, call: said(row, "call")? })
}

/// The outcome that `traj convert` states; else whatever the members say.
fn outcome<'r>(extra: &'r Json<'r>) -> Outcome<'r> {
    let shared = |name: &str| said(extra, name).map(Cow::Borrowed);
    match text(extra, "outcome").unwrap_or_default() {
        "ok" => Outcome::Ok,
        "failed" => Outcome::Failed(Failure {
            exit_code: extra.get("exit_code").and_then(Json::as_i64),
            signal: shared("signal"),
            error: shared("error"),
        }),
        "timedOut" => Outcome::TimedOut,
        "declined" => Outcome::Declined,
        "interrupted" => Outcome::Interrupted,
        _ => outcome_of(extra),
    }
}
