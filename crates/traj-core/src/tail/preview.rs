//! A few words about an event.

use super::event::{Severity, TailEvent, short};
use crate::json::Json;

fn text<'j>(value: Option<&'j Json<'_>>, name: &str) -> Option<&'j str> {
    value?.get(name).and_then(Json::as_str)
}

fn flag(value: Option<&Json<'_>>, name: &str) -> Option<bool> {
    value?.get(name).and_then(Json::as_bool)
}

fn non_blank<'j>(value: Option<&'j Json<'_>>, name: &str) -> Option<&'j str> {
    text(value, name).filter(|text| !text.trim().is_empty())
}

/// Fills in what a runtime event says.
pub(super) fn of_runtime(value: &Json<'_>, event: &mut TailEvent) {
    let data = value.get("data");
    let tool = || short(text(data, "name").or_else(|| text(data, "toolName")).unwrap_or("tool"));
    event.call = text(data, "toolCallId").map(str::to_owned);
    event.tokens = tokens(data.and_then(|data| data.get("usage")));
    let error = ["promptError", "terminalError", "error"];
    event.error = error.iter().find_map(|name| non_blank(data, name)).map(short);
    let preview = match event.kind.as_str() {
        "session.started" => "session started".to_owned(),
        "context.compiled" => {
            let tools = data.and_then(|data| data.get("tools")).and_then(Json::as_array);
            match tools {
                Some(tools) => format!("context compiled ({} tools)", tools.len()),
                None => "context compiled".to_owned(),
            }
        }
        "prompt.submitted" => "prompt submitted".to_owned(),
        "prompt.skipped" => {
            event.severity = Severity::Warning;
            match text(data, "reason") {
                Some(reason) => format!("prompt skipped: {}", short(reason)),
                None => "prompt skipped".to_owned(),
            }
        }
        "tool.call" => format!("{} {{...redacted...}}", tool()),
        "tool.timeout" => {
            event.severity = Severity::Error;
            event.duration = data.and_then(|data| data.get("timeoutMs")).and_then(Json::as_u64);
            format!("{} timeout", tool())
        }
        "tool.result" => {
            let failed =
                flag(data, "success") == Some(false) || flag(data, "isError") == Some(true);
            let outcome = match (flag(data, "success"), text(data, "status")) {
                (Some(true), _) => "ok".to_owned(),
                _ if failed => "error".to_owned(),
                (_, Some(status)) => short(status),
                _ => "done".to_owned(),
            };
            if failed {
                event.severity = Severity::Error;
            }
            format!("{} {outcome}", tool())
        }
        "model.completed" => model_completed(value, data, event),
        "session.ended" => {
            let status = text(data, "status").unwrap_or("ended");
            event.severity = match status {
                "error" => Severity::Error,
                "interrupted" => Severity::Warning,
                _ => Severity::Normal,
            };
            short(status)
        }
        "trace.truncated" => {
            event.severity = Severity::Warning;
            "trajectory truncated".to_owned()
        }
        kind => {
            if kind.ends_with("timeout") {
                event.severity = Severity::Error;
            }
            let said = text(data, "status").or_else(|| text(data, "name"));
            said.map(short).unwrap_or_default()
        }
    };
    if event.error.is_some() {
        event.severity = Severity::Error;
    }
    if let Some(millis) = data.and_then(|data| data.get("durationMs")).and_then(Json::as_u64) {
        event.duration = Some(millis);
    }
    event.preview = preview;
}

fn model_completed(value: &Json<'_>, data: Option<&Json<'_>>, event: &mut TailEvent) -> String {
    let outcome = if flag(data, "timedOut") == Some(true) {
        event.severity = Severity::Error;
        "timeout"
    } else if flag(data, "aborted") == Some(true) {
        event.severity = Severity::Warning;
        "aborted"
    } else if non_blank(data, "promptError").is_some() {
        "error"
    } else {
        "done"
    };
    let names = [text(Some(value), "provider"), text(Some(value), "modelId")];
    let model: Vec<String> = names.into_iter().flatten().map(short).collect();
    if model.is_empty() { outcome.to_owned() } else { format!("{} {outcome}", model.join("/")) }
}

/// Input and output tokens under the names several providers use.
fn tokens(usage: Option<&Json<'_>>) -> Option<(u64, u64)> {
    let usage = usage?;
    let first =
        |names: &[&str]| names.iter().find_map(|name| usage.get(name).and_then(Json::as_u64));
    let input = first(&["input", "inputTokens", "input_tokens", "promptTokens", "prompt_tokens"]);
    let output = first(&[
        "output",
        "outputTokens",
        "output_tokens",
        "completionTokens",
        "completion_tokens",
    ]);
    (input.is_some() || output.is_some()).then(|| (input.unwrap_or(0), output.unwrap_or(0)))
}

/// Whether the preview of a row quotes the blocks of its message.
pub(super) fn quotes_content(value: &Json<'_>) -> bool {
    let is_rollout = value.get("payload").is_some_and(|payload| payload.as_object().is_some());
    let message = value.get("message");
    !is_rollout
        && text(message, "role") != Some("toolResult")
        && message.and_then(|message| message.get("content")).and_then(Json::as_array).is_some()
}

/// Fills in what a row of a transcript or rollout says.
pub(super) fn of_transcript(value: &Json<'_>, event: &mut TailEvent) {
    if let Some(payload) = value.get("payload").filter(|payload| payload.as_object().is_some()) {
        let kind = text(Some(payload), "type").unwrap_or_default();
        let detail = text(Some(payload), "name").or_else(|| text(Some(payload), "role"));
        event.call = text(Some(payload), "call_id").map(str::to_owned);
        event.preview =
            [Some(kind), detail].into_iter().flatten().map(short).collect::<Vec<_>>().join(" ");
        return;
    }
    let Some(message) = value.get("message") else {
        let said = ["label", "name", "modelId", "thinkingLevel", "customType"];
        let said = said.iter().find_map(|name| text(Some(value), name));
        event.preview = said.map(short).unwrap_or_default();
        return;
    };
    let role = text(Some(message), "role").unwrap_or_default();
    event.kind = match role {
        "user" => "user.message".to_owned(),
        "assistant" => "assistant.message".to_owned(),
        "toolResult" => "tool.result".to_owned(),
        role => format!("message.{}", short(role)),
    };
    event.call = text(Some(message), "toolCallId").map(str::to_owned);
    event.tokens = tokens(message.get("usage"));
    event.error = non_blank(Some(message), "errorMessage").map(short);
    let failed = event.error.is_some() || flag(Some(message), "isError") == Some(true);
    if failed {
        event.severity = Severity::Error;
    }
    event.preview = match role {
        "toolResult" => {
            let tool = text(Some(message), "toolName").unwrap_or("tool");
            format!("{} {}", short(tool), if failed { "error" } else { "done" })
        }
        _ => said(message.get("content")),
    };
}

/// The first text of a message, and the tools it calls.
fn said(content: Option<&Json<'_>>) -> String {
    let blocks = match content {
        Some(Json::String(text)) => return short(text),
        Some(Json::Array(blocks)) => blocks,
        _ => return String::new(),
    };
    let first = blocks.iter().find_map(|block| text(Some(block), "text")).map(short);
    let calls = blocks.iter().filter_map(|block| text(Some(block), "name")).map(short);
    first.into_iter().chain(calls.map(|name| format!("→ {name}"))).collect::<Vec<_>>().join(" ")
}
