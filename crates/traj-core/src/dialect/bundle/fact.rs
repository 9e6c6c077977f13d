//! Decodes events that state one fact and name it.

use std::borrow::Cow;

use super::super::sidecar::approval;
use super::super::{is_set, text};
use super::encode::FACT;
use crate::json::Json;
use crate::run::{
    Arguments, Attachment, Branches, Compaction, CompiledContext, Content, EndStatus, ErrorFact,
    Fact, Failure, Hook, Loss, ModeChange, ModelCall, ModelChange, Outcome, Prompt, Rewind,
    SessionEnd, SessionStart, StatedCost, ToolCallFact, ToolResultFact, UnknownRows, Usage,
    UsageScope,
};

/// The fact that an event's data names, if this version knows it.
pub(super) fn named_fact<'r>(data: &'r Json<'r>) -> Option<Fact<'r>> {
    let name = text(data, FACT)?;
    spoken_fact(name, data).or_else(|| session_fact(name, data))
}

/// Facts about what a person, the model or a tool said.
fn spoken_fact<'r>(name: &str, data: &'r Json<'r>) -> Option<Fact<'r>> {
    let message = data.get("message").unwrap_or(&Json::Null);
    let spoken = Content::of(message.get("content"));
    Some(match name {
        "prompt" => Fact::Prompt(Prompt {
            content: spoken,
            images: number(data, "imagesCount").unwrap_or_default(),
            skipped: text(data, "skipped"),
        }),
        "assistantText" => Fact::AssistantText(spoken),
        "reasoning" => {
            let blocks = message.get("content").and_then(Json::as_array).unwrap_or_default();
            Fact::Reasoning(Content::of(blocks.first().and_then(|block| block.get("thinking"))))
        }
        "toolCall" => Fact::ToolCall(ToolCallFact {
            id: text(data, "toolCallId"),
            name: text(data, "name").unwrap_or("tool"),
            arguments: Arguments::of(data.get("arguments")),
        }),
        "toolResult" => Fact::ToolResult(ToolResultFact {
            id: text(message, "toolCallId"),
            name: text(message, "toolName"),
            outcome: outcome(data),
            content: spoken,
            duration: number(data, "durationMs"),
            is_truncated: is_set(data, "truncated"),
        }),
        "modelCall" => Fact::ModelCall(model_call(data)),
        "approvalAsked" => Fact::ApprovalAsked(approval(data)),
        "approvalDecided" => Fact::ApprovalDecided(approval(data)),
        "hook" => Fact::Hook(Hook {
            name: text(data, "name").unwrap_or_default(),
            outcome: outcome(data),
            content: Content::of(data.get("content")),
        }),
        _ => return None,
    })
}

/// Facts about the session itself.
fn session_fact<'r>(name: &str, data: &'r Json<'r>) -> Option<Fact<'r>> {
    let content = |name: &str| Content::of(data.get(name));
    Some(match name {
        "sessionStarted" => Fact::SessionStarted(SessionStart {
            session: text(data, "sessionId"),
            agent: shared(data, "agent"),
            agent_version: text(data, "agentVersion"),
            workspace: text(data, "workspaceDir"),
            provider: text(data, "provider"),
            model: text(data, "modelId"),
            parent: text(data, "parentSession"),
            is_part: is_set(data, "isPart"),
            begins_run: is_set(data, "beginsRun"),
        }),
        "sessionEnded" => Fact::SessionEnded(ended(data)),
        "contextCompiled" => Fact::ContextCompiled(CompiledContext {
            system: content("systemPrompt"),
            tools: data.get("tools"),
        }),
        "turnStarted" => Fact::TurnStarted,
        "turnEnded" => Fact::TurnEnded(ended(data)),
        "compaction" => Fact::Compaction(Compaction {
            summary: content("summary"),
            tokens_before: number(data, "tokensBefore"),
        }),
        "modelChanged" => Fact::ModelChanged(ModelChange {
            provider: text(data, "provider"),
            model: text(data, "modelId"),
            reason: text(data, "reason"),
        }),
        "modeChanged" => Fact::ModeChanged(ModeChange {
            name: shared(data, "name").unwrap_or_default(),
            value: shared(data, "value").unwrap_or_default(),
        }),
        "rewind" => Fact::Rewind(Rewind {
            to: text(data, "fromId"),
            turns: number(data, "turns"),
            summary: content("summary"),
        }),
        "branches" => Fact::Branches(Branches {
            count: number(data, "count").unwrap_or_default(),
            entries: number(data, "entries").unwrap_or_default(),
        }),
        "attachment" => Fact::Attachment(Attachment {
            kind: shared(data, "customType"),
            name: text(data, "name"),
            content: content("content"),
        }),
        "error" => Fact::Error(ErrorFact {
            text: shared(data, "error").unwrap_or_default(),
            kind: text(data, "kind"),
            is_recovered: is_set(data, "isRecovered"),
        }),
        "lost" => Fact::Lost(Loss {
            reason: shared(data, "reason"),
            events: number(data, "droppedEvents"),
            bytes: number(data, "droppedEventBytes"),
        }),
        "other" => Fact::Other {
            name: shared(data, "name").unwrap_or_default(),
            is_known: is_set(data, "isKnown"),
        },
        "unknownRows" => Fact::UnknownRows(UnknownRows {
            name: text(data, "name"),
            count: number(data, "count").unwrap_or_default(),
        }),
        _ => return None,
    })
}

fn number(data: &Json<'_>, name: &str) -> Option<u64> {
    data.get(name).and_then(Json::as_u64)
}

fn shared<'r>(data: &'r Json<'r>, name: &str) -> Option<Cow<'r, str>> {
    text(data, name).map(Cow::Borrowed)
}

fn ended<'r>(data: &'r Json<'r>) -> SessionEnd<'r> {
    SessionEnd {
        status: EndStatus::parse(text(data, "status").unwrap_or_default()),
        error: shared(data, "error"),
        reason: shared(data, "reason"),
        is_final: is_set(data, "isFinal"),
    }
}

fn outcome<'r>(data: &'r Json<'r>) -> Outcome<'r> {
    match text(data, "outcome").unwrap_or_default() {
        "failed" => Outcome::Failed(Failure {
            exit_code: data.get("exitCode").and_then(Json::as_i64),
            signal: shared(data, "signal"),
            error: shared(data, "error"),
        }),
        "timedOut" => Outcome::TimedOut,
        "declined" => Outcome::Declined,
        "interrupted" => Outcome::Interrupted,
        "unanswered" => Outcome::Unanswered,
        _ => Outcome::Ok,
    }
}

fn model_call<'r>(data: &'r Json<'r>) -> ModelCall<'r> {
    ModelCall {
        id: text(data, "responseId"),
        provider: text(data, "provider"),
        model: text(data, "modelId"),
        usage: data.get("usage").and_then(Usage::read),
        scope: match text(data, "scope") {
            Some("turn") => UsageScope::Turn,
            Some("counter") => UsageScope::Counter,
            Some("session") => UsageScope::Session,
            _ => UsageScope::Call,
        },
        last: data.get("last").and_then(Usage::read),
        cost: data.get("cost").and_then(Json::as_f64).map(|dollars| StatedCost { dollars }),
        stop_reason: shared(data, "stopReason"),
        latency: data.get("durationMs").and_then(Json::as_u64),
        error: shared(data, "error"),
    }
}
