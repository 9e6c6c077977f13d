//! Rows that the harness added: notices, attachments, and rows beside the
//! conversation.

use std::borrow::Cow;

use super::{PROVIDER, known, other};
use crate::dialect::{is_set, said, text};
use crate::json::Json;
use crate::run::{
    Attachment, Branches, Compaction, CompiledContext, Content, ErrorFact, Fact, Failure, Hook,
    Loss, ModeChange, ModelCall, ModelChange, Outcome, Prompt, StatedCost, Usage, UsageScope,
};

/// The facts of a notice.
pub(super) fn system_facts<'r>(row: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let kind = text(row, "subtype").unwrap_or_default();
    emit(match kind {
        "compact_boundary" => {
            let metadata = row.get("compactMetadata");
            let tokens = metadata.and_then(|metadata| metadata.get("preTokens")?.as_u64());
            Fact::Compaction(Compaction { summary: Content::None, tokens_before: tokens })
        }
        "api_error" | "api_retry" => Fact::Error(ErrorFact {
            text: Cow::Borrowed(request_error(row)),
            kind: Some("api_error"),
            is_recovered: true,
        }),
        "stop_hook_summary" => Fact::Hook(Hook {
            name: "Stop",
            outcome: stop_hooks(row),
            content: Content::of(row.get("hookErrors")),
        }),
        "local_command" => attachment("command output", None, row.get("content")),
        "model_fallback" | "model_refusal_fallback" | "model_refusal_no_fallback" => {
            Fact::ModelChanged(ModelChange {
                provider: None,
                model: said(row, "fallbackModel").or_else(|| said(row, "model")),
                reason: said(row, "content"),
            })
        }
        // Before notices had a subtype, only their text said what they are.
        "" => attachment("notice", None, row.get("content")),
        kind => other(Some("system"), kind, known::is_notice(kind)),
    });
}

/// The error of a request that was tried again.
fn request_error<'r>(row: &'r Json<'r>) -> &'r str {
    let error = row.get("error").unwrap_or(&Json::Null);
    let nested = error.get("error").map(|inner| inner.get("error").unwrap_or(inner));
    let cause = row.get("cause").and_then(|cause| said(cause, "message"));
    said(error, "formatted")
        .or_else(|| nested.and_then(|nested| said(nested, "message")))
        .or_else(|| said(error, "message"))
        .or_else(|| said(row, "content"))
        .or(cause)
        .or_else(|| error.as_str())
        .unwrap_or("the request failed")
}

fn stop_hooks<'r>(row: &'r Json<'r>) -> Outcome<'r> {
    let errors = row.get("hookErrors").and_then(Json::as_array).unwrap_or_default();
    match errors.first() {
        Some(error) => failed(error.as_str()),
        None if is_set(row, "preventedContinuation") => Outcome::Interrupted,
        None => Outcome::Ok,
    }
}

fn failed<'r>(error: Option<&'r str>) -> Outcome<'r> {
    let error = error.filter(|error| !error.trim().is_empty()).map(Cow::Borrowed);
    Outcome::Failed(Failure { exit_code: None, signal: None, error })
}

fn attachment<'r>(kind: &'r str, name: Option<&'r str>, content: Option<&'r Json<'r>>) -> Fact<'r> {
    let (kind, content) = (Some(Cow::Borrowed(kind)), Content::of(content));
    Fact::Attachment(Attachment { kind, name, content })
}

/// The facts of an attachment.
pub(super) fn attachment_facts<'r>(row: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let attached = row.get("attachment").unwrap_or(&Json::Null);
    let kind = text(attached, "type").unwrap_or_default();
    emit(match kind {
        "prompt_snapshot" => Fact::ContextCompiled(CompiledContext {
            system: Content::of(attached.get("systemPrompt")),
            tools: attached.get("tools"),
        }),
        "queued_command" => queued(attached),
        kind if kind.starts_with("hook_") && !known::is_reminder(kind) => {
            Fact::Hook(hook(kind, attached))
        }
        kind if known::is_file(kind) => {
            let names = ["displayPath", "filename", "path", "name", "uri"];
            let name = names.iter().find_map(|name| said(attached, name));
            let content = attached.get("content").or_else(|| attached.get("snippet"));
            attachment(kind, name, content)
        }
        kind => other(Some("attachment"), kind, known::is_reminder(kind)),
    });
}

/// Something that waited in the queue until the model could read it.
fn queued<'r>(attached: &'r Json<'r>) -> Fact<'r> {
    let mode = text(attached, "commandMode");
    if mode.is_some_and(|mode| mode != "prompt") {
        return attachment("task notification", None, attached.get("prompt"));
    }
    let content = Content::of(attached.get("prompt"));
    Fact::Prompt(Prompt { content, images: content.images(), skipped: None })
}

fn hook<'r>(kind: &'r str, attached: &'r Json<'r>) -> Hook<'r> {
    let blocking = attached.get("blockingError");
    let error = blocking.map(|error| said(error, "blockingError").or_else(|| error.as_str()));
    let exit_code = attached.get("exitCode").and_then(Json::as_i64).filter(|code| *code != 0);
    let outcome = match kind {
        "hook_blocking_error" => failed(error.flatten()),
        "hook_cancelled" => Outcome::Interrupted,
        "hook_non_blocking_error" | "hook_error_during_execution" => Outcome::Failed(Failure {
            exit_code,
            signal: None,
            error: said(attached, "stderr").map(Cow::Borrowed),
        }),
        _ => Outcome::Ok,
    };
    let names = ["content", "stdout", "message", "stderr", "systemMessage"];
    let content = names.iter().find_map(|name| attached.get(name).filter(|value| !is_blank(value)));
    Hook {
        name: said(attached, "hookName").or_else(|| said(attached, "hookEvent")).unwrap_or("hook"),
        outcome,
        content: Content::of(content),
    }
}

fn is_blank(value: &Json<'_>) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// The facts of a row beside the conversation.
pub(super) fn session_facts<'r>(kind: &'r str, row: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let setting = |name: &'static str, value: &'r str| {
        let (name, value) = (Cow::Borrowed(name), Cow::Borrowed(value));
        Fact::ModeChanged(ModeChange { name, value })
    };
    match kind {
        "permission-mode" => match said(row, "permissionMode") {
            Some(mode) => emit(setting("permissionMode", mode)),
            None => emit(other(None, kind, true)),
        },
        "cost-state" => cost_state(row, emit),
        "agent-metadata" => {
            let name = said(row, "agentType");
            emit(attachment("sub-agent", name, row.get("description")));
        }
        "branches-left" => {
            let number = |name: &str| row.get(name).and_then(Json::as_u64).unwrap_or_default();
            emit(Fact::Branches(Branches { count: number("count"), entries: number("entries") }));
        }
        "rows-not-sorted" => {
            let limit = row.get("limit").and_then(Json::as_u64).unwrap_or_default();
            let reason = format!("more than {limit} rows: copied and abandoned ones count too");
            emit(Fact::Lost(Loss { reason: Some(reason.into()), ..Loss::default() }));
        }
        kind => emit(other(None, kind, known::is_session_row(kind))),
    }
}

/// What the program itself counted so far, for each model.
fn cost_state<'r>(row: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let models = row.get("modelUsage").and_then(Json::as_object);
    let mut has_any = false;
    for (model, stated) in models.into_iter().flat_map(crate::json::Object::iter) {
        let Some(usage) = counted(stated) else { continue };
        has_any = true;
        let cost = stated.get("costUSD").and_then(Json::as_f64);
        emit(Fact::ModelCall(ModelCall {
            provider: model.starts_with("claude").then_some(PROVIDER),
            model: Some(model),
            usage: Some(usage),
            scope: UsageScope::Session,
            cost: cost.filter(|cost| cost.is_finite()).map(|dollars| StatedCost { dollars }),
            ..ModelCall::default()
        }));
    }
    if !has_any {
        emit(other(None, "cost-state", true));
    }
}

/// Tokens as the program counts them: the input without tokens read from a cache
/// or written to one.
fn counted(stated: &Json<'_>) -> Option<Usage> {
    let number = |name: &str| stated.get(name).and_then(Json::as_u64);
    let (input, output) = (number("inputTokens")?, number("outputTokens")?);
    let cached = number("cacheReadInputTokens").unwrap_or_default();
    let cache_write = number("cacheCreationInputTokens").unwrap_or_default();
    Some(Usage {
        input: input.saturating_add(cached).saturating_add(cache_write),
        cached,
        cache_write,
        output,
        reasoning: number("thinkingTokens").unwrap_or_default(),
    })
}
