//! Sidecars: the events that a recorder wrote during a run.

pub mod particulars;
mod results;

pub use results::{Endings, is_result_member};

use std::borrow::Cow;

use super::openclaw::{is_made_up, unanswered};
use super::result::{error_text, outcome_of};
use super::{Dialect, is_set, said, text};
use crate::event::{EventKind, SCHEMA_VERSION, TRACE_SCHEMA};
use crate::json::Json;
use crate::run::{
    ApprovalFact, ApprovalOutcome, Arguments, CompiledContext, Content, EndStatus, ErrorFact, Fact,
    Loss, ModelCall, ModelChange, Origin, Outcome, Place, Prompt, RunEvent, SessionEnd,
    SessionStart, ToolCallFact, ToolResultFact, Usage, UsageScope,
};

/// Whether a row is a recorder's event.
pub(super) fn recognises(row: &Json<'_>) -> bool {
    text(row, "traceSchema") == Some(TRACE_SCHEMA)
        && row.get("schemaVersion").and_then(Json::as_u64) == Some(SCHEMA_VERSION)
        && text(row, "source") != Some("transcript")
        && text(row, "type").is_some()
}

/// Emits the facts of an event.
pub(super) fn decode<'r>(row: &'r Json<'r>, place: Place, emit: &mut dyn FnMut(RunEvent<'r>)) {
    let mut emit_one = |fact: Fact<'r>| {
        let mut event = RunEvent::new(Origin::Runtime, place, row, fact);
        event.at = Dialect::Sidecar.time_of(row);
        event.run = said(row, "runId");
        event.turn = row.get("data").and_then(|data| said(data, "turnId"));
        emit(event);
    };
    let name = text(row, "type").unwrap_or_default();
    let data = row.get("data").unwrap_or(&Json::Null);
    match EventKind::parse(name) {
        EventKind::ModelCompleted => {
            for answer in data.get("assistantTexts").and_then(Json::as_array).unwrap_or_default() {
                emit_one(Fact::AssistantText(Content::of(Some(answer))));
            }
            emit_one(Fact::ModelCall(model_call(row, data)));
        }
        kind => emit_one(fact_of(&kind, name, row, data)),
    }
}

/// The fact of an event that states a single one.
fn fact_of<'r>(kind: &EventKind, name: &'r str, row: &'r Json<'r>, data: &'r Json<'r>) -> Fact<'r> {
    match kind {
        EventKind::SessionStarted => Fact::SessionStarted(SessionStart {
            session: text(row, "sessionId"),
            workspace: said(row, "workspaceDir").or_else(|| said(data, "workspaceDir")),
            provider: said(row, "provider"),
            model: said(row, "modelId"),
            begins_run: true,
            ..SessionStart::default()
        }),
        EventKind::TraceMetadata => metadata(row, data),
        EventKind::ContextCompiled => Fact::ContextCompiled(CompiledContext {
            system: Content::of(data.get("systemPrompt")),
            tools: data.get("tools").filter(|tools| tools.as_array().is_some()),
        }),
        EventKind::PromptSubmitted => Fact::Prompt(prompt(data, None)),
        EventKind::PromptSkipped => {
            Fact::Prompt(prompt(data, Some(said(data, "reason").unwrap_or("skipped"))))
        }
        EventKind::ToolCall => Fact::ToolCall(ToolCallFact {
            id: text(data, "toolCallId"),
            name: tool_name(data).unwrap_or("tool"),
            arguments: Arguments::of(data.get("arguments").or_else(|| data.get("args"))),
        }),
        EventKind::ToolResult => Fact::ToolResult(tool_result(data)),
        EventKind::ToolTimeout => Fact::ToolResult(ToolResultFact {
            id: text(data, "toolCallId"),
            name: tool_name(data),
            outcome: Outcome::TimedOut,
            content: Content::None,
            duration: data.get("timeoutMs").and_then(Json::as_u64),
            is_truncated: false,
        }),
        EventKind::ModelFallbackStep => {
            let (provider, model) = split_model(said(data, "fallbackStepToModel"));
            let reason = said(data, "fallbackStepFromFailureReason");
            Fact::ModelChanged(ModelChange { provider, model, reason })
        }
        EventKind::ApprovalAsked => Fact::ApprovalAsked(approval(data)),
        EventKind::ApprovalDecided => Fact::ApprovalDecided(approval(data)),
        EventKind::TraceArtifacts => Fact::SessionEnded(SessionEnd {
            status: EndStatus::parse(text(data, "finalStatus").unwrap_or("ended")),
            error: error_text(data),
            reason: None,
            is_final: false,
        }),
        EventKind::SessionEnded => Fact::SessionEnded(SessionEnd {
            status: EndStatus::parse(text(data, "status").unwrap_or("ended")),
            error: error_text(data),
            reason: None,
            is_final: true,
        }),
        EventKind::TraceTruncated => Fact::Lost(Loss {
            reason: said(data, "reason").map(Cow::Borrowed),
            events: data.get("droppedEvents").and_then(Json::as_u64),
            bytes: data.get("droppedEventBytes").and_then(Json::as_u64),
        }),
        EventKind::TurnProgressIdleTimeout
        | EventKind::TurnCompletionIdleTimeout
        | EventKind::TurnTerminalIdleTimeout
        | EventKind::TurnClientClosed => Fact::Error(ErrorFact {
            text: error_text(data).unwrap_or(Cow::Borrowed(name)),
            kind: Some(name),
            is_recovered: false,
        }),
        _ => match error_text(data) {
            Some(text) => Fact::Error(ErrorFact { text, kind: Some(name), is_recovered: false }),
            None => Fact::Other {
                name: Cow::Borrowed(name),
                is_known: !matches!(kind, EventKind::Other(_)),
            },
        },
    }
}

fn metadata<'r>(row: &'r Json<'r>, data: &'r Json<'r>) -> Fact<'r> {
    let harness = data.get("harness").unwrap_or(&Json::Null);
    let model = data.get("model").unwrap_or(&Json::Null);
    Fact::SessionStarted(SessionStart {
        session: text(row, "sessionId"),
        agent: said(harness, "type").or_else(|| said(harness, "name")).map(Cow::Borrowed),
        agent_version: said(harness, "version"),
        workspace: said(harness, "workspaceDir").or_else(|| said(row, "workspaceDir")),
        provider: said(model, "provider").or_else(|| said(row, "provider")),
        model: said(model, "name").or_else(|| said(row, "modelId")),
        ..SessionStart::default()
    })
}

fn prompt<'r>(data: &'r Json<'r>, skipped: Option<&'r str>) -> Prompt<'r> {
    let images = data.get("imagesCount").and_then(Json::as_u64).unwrap_or_default();
    Prompt { content: Content::of(data.get("prompt")), images, skipped }
}

fn tool_name<'r>(data: &'r Json<'r>) -> Option<&'r str> {
    said(data, "name").or_else(|| said(data, "toolName"))
}

fn tool_result<'r>(data: &'r Json<'r>) -> ToolResultFact<'r> {
    let is_unanswered = data.get("result").is_some_and(is_made_up);
    let content = ["contentItems", "result", "output", "content"];
    ToolResultFact {
        id: text(data, "toolCallId"),
        name: tool_name(data),
        outcome: if is_unanswered { unanswered() } else { outcome_of(data) },
        content: content
            .iter()
            .map(|name| Content::of(data.get(name)))
            .find(|content| !content.is_blank())
            .unwrap_or_default(),
        duration: data.get("durationMs").and_then(Json::as_u64),
        is_truncated: is_set(data, "truncated"),
    }
}

/// All model calls of a turn together: a recorder sees only the end of the turn.
fn model_call<'r>(row: &'r Json<'r>, data: &'r Json<'r>) -> ModelCall<'r> {
    let usage = data.get("usage");
    let is_timed_out = is_set(data, "timedOut") || is_set(data, "idleTimedOut");
    let stopped = if is_timed_out {
        Some("timeout")
    } else if is_set(data, "aborted") {
        Some("aborted")
    } else {
        None
    };
    ModelCall {
        provider: said(row, "provider"),
        model: said(row, "modelId"),
        usage: usage.and_then(Usage::read),
        scope: UsageScope::Turn,
        cost: usage.and_then(Usage::read_cost),
        stop_reason: stopped.map(Cow::Borrowed),
        latency: data.get("durationMs").and_then(Json::as_u64),
        error: error_text(data),
        ..ModelCall::default()
    }
}

/// The approval that an event's data describes.
pub(super) fn approval<'r>(data: &'r Json<'r>) -> ApprovalFact<'r> {
    let decision = match text(data, "decision") {
        Some("approved") => Some(ApprovalOutcome::Approved),
        Some("approvedForSession") => Some(ApprovalOutcome::ApprovedForSession),
        Some("denied") => Some(ApprovalOutcome::Denied),
        Some("cancelled") => Some(ApprovalOutcome::Cancelled),
        _ => None,
    };
    ApprovalFact {
        id: text(data, "approvalId"),
        call: text(data, "toolCallId"),
        subject: said(data, "subject").map(Cow::Borrowed),
        decision,
        reason: said(data, "reason").map(Cow::Borrowed),
        decided_by: text(data, "decidedBy"),
        decider_name: said(data, "deciderName"),
        scope: text(data, "scope"),
    }
}

/// Splits a model written as `provider/model`.
fn split_model(name: Option<&str>) -> (Option<&str>, Option<&str>) {
    match name.map(|name| name.split_once('/').ok_or(name)) {
        Some(Ok((provider, model))) => (Some(provider), Some(model)),
        Some(Err(model)) => (None, Some(model)),
        None => (None, None),
    }
}
