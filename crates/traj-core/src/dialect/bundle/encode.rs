//! Encodes facts as events of a bundle: the inverse of `decode`.
//!
//! A fact that OpenClaw's transcripts can express keeps their shape, so that
//! readers of such bundles understand it. The member `fact` says that the event
//! states exactly one fact, and which one.

use std::borrow::Cow;

use crate::json::{Json, Object};
use crate::run::{
    ApprovalFact, ApprovalOutcome, Arguments, Content, ErrorFact, Fact, Loss, ModelCall, Outcome,
    RunEvent, SessionEnd, SessionStart, Thread, ToolCallFact, ToolResultFact, Usage, UsageScope,
};

/// The type and data of the transcript event that states the same as `event`.
/// [`Dialect::Bundle`](crate::dialect::Dialect::Bundle) decodes it to an equal
/// fact.
#[must_use]
pub fn encode_event<'r>(event: &RunEvent<'r>) -> (&'static str, Object<'r>) {
    let (kind, mut data) = encode(&event.fact);
    data.push_some("turnId", event.turn);
    if let Thread::SubAgent(id) = event.thread {
        data.push("subAgent", id);
    }
    if let Some(start) = event.agent_start {
        let mut started = Object::with_capacity(2);
        started.push("subAgent", start.agent);
        started.push("toolCallId", start.call);
        data.push(STARTED, Json::Object(started));
    }
    (kind, data)
}

/// The member that says which sub-agent a call started.
pub(super) const STARTED: &str = "startedSubAgent";

/// The member that names the fact.
pub(super) const FACT: &str = "fact";

/// The event type and data that state a fact.
pub(super) fn encode<'r>(fact: &Fact<'r>) -> (&'static str, Object<'r>) {
    let (name, kind) = names(fact);
    let mut data = Object::new();
    data.push(FACT, name);
    push_fact(&mut data, fact);
    (kind, data)
}

/// The name of a fact, and the type of the event that states it.
const fn names(fact: &Fact<'_>) -> (&'static str, &'static str) {
    match fact {
        Fact::SessionStarted(_) => ("sessionStarted", "session.meta"),
        Fact::SessionEnded(_) => ("sessionEnded", "session.ended"),
        Fact::ContextCompiled(_) => ("contextCompiled", "context.compiled"),
        Fact::TurnStarted => ("turnStarted", "turn.started"),
        Fact::TurnEnded(_) => ("turnEnded", "turn.ended"),
        Fact::Prompt(_) => ("prompt", "user.message"),
        Fact::AssistantText(_) => ("assistantText", "assistant.message"),
        Fact::Reasoning(_) => ("reasoning", "assistant.message"),
        Fact::ToolCall(_) => ("toolCall", "tool.call"),
        Fact::ToolResult(_) => ("toolResult", "tool.result"),
        Fact::ModelCall(_) => ("modelCall", "usage"),
        Fact::ApprovalAsked(_) => ("approvalAsked", "approval.asked"),
        Fact::ApprovalDecided(_) => ("approvalDecided", "approval.decided"),
        Fact::Compaction(_) => ("compaction", "session.compaction"),
        Fact::ModelChanged(_) => ("modelChanged", "session.model_change"),
        Fact::ModeChanged(_) => ("modeChanged", "session.mode_change"),
        Fact::Rewind(_) => ("rewind", "session.branch_summary"),
        Fact::Branches(_) => ("branches", "session.branches"),
        Fact::Attachment(_) => ("attachment", "session.custom_message"),
        Fact::Hook(_) => ("hook", "session.hook"),
        Fact::Error(_) => ("error", "session.error"),
        Fact::Lost(_) => ("lost", "session.loss"),
        Fact::Other { .. } => ("other", "session.note"),
        Fact::UnknownRows(_) => ("unknownRows", "session.note"),
    }
}

/// Adds the members that state a fact.
fn push_fact<'r>(data: &mut Object<'r>, fact: &Fact<'r>) {
    match fact {
        Fact::SessionStarted(started) => session_started(data, started),
        Fact::SessionEnded(ended) | Fact::TurnEnded(ended) => session_ended(data, ended),
        Fact::ContextCompiled(context) => {
            push_content(data, "systemPrompt", context.system);
            data.push_some("tools", context.tools.cloned());
        }
        Fact::TurnStarted => {}
        Fact::Prompt(prompt) => {
            data.push("message", message("user", prompt.content));
            data.push("imagesCount", prompt.images);
            data.push_some("skipped", prompt.skipped);
        }
        Fact::AssistantText(content) => data.push("message", message("assistant", *content)),
        Fact::Reasoning(content) => data.push("message", reasoning(*content)),
        Fact::ToolCall(call) => tool_call(data, call),
        Fact::ToolResult(result) => tool_result(data, result),
        Fact::ModelCall(call) => model_call(data, call),
        Fact::ApprovalAsked(approval) | Fact::ApprovalDecided(approval) => {
            push_approval(data, approval);
        }
        Fact::Compaction(compaction) => {
            push_content(data, "summary", compaction.summary);
            data.push_some("tokensBefore", compaction.tokens_before);
        }
        Fact::ModelChanged(change) => {
            data.push_some("provider", change.provider);
            data.push_some("modelId", change.model);
            data.push_some("reason", change.reason);
        }
        Fact::ModeChanged(change) => {
            data.push("name", change.name.clone());
            data.push("value", change.value.clone());
        }
        Fact::Rewind(rewind) => {
            data.push_some("fromId", rewind.to);
            data.push_some("turns", rewind.turns);
            push_content(data, "summary", rewind.summary);
        }
        Fact::Branches(branches) => {
            data.push("count", branches.count);
            data.push("entries", branches.entries);
        }
        Fact::Attachment(attachment) => {
            push_text(data, "customType", attachment.kind.as_ref());
            data.push_some("name", attachment.name);
            push_content(data, "content", attachment.content);
        }
        Fact::Hook(hook) => {
            data.push("name", hook.name);
            push_outcome(data, &hook.outcome);
            push_content(data, "content", hook.content);
        }
        Fact::Error(error) => push_error(data, error),
        Fact::Lost(loss) => push_loss(data, loss),
        Fact::Other { name, is_known } => {
            data.push("name", name.clone());
            data.push("isKnown", *is_known);
        }
        Fact::UnknownRows(rows) => {
            data.push_some("name", rows.name);
            data.push("count", rows.count);
        }
    }
}

fn push_text<'r>(data: &mut Object<'r>, name: &'static str, text: Option<&Cow<'r, str>>) {
    data.push_some(name, text.cloned());
}

fn push_content<'r>(data: &mut Object<'r>, name: &'static str, content: Content<'r>) {
    match content {
        Content::None => {}
        Content::Text(text) => data.push(name, text),
        Content::Value(value) => data.push(name, value.clone()),
    }
}

fn message<'r>(role: &'static str, content: Content<'r>) -> Json<'r> {
    let mut message = Object::with_capacity(2);
    message.push("role", role);
    push_content(&mut message, "content", content);
    Json::Object(message)
}

fn reasoning<'r>(content: Content<'r>) -> Json<'r> {
    let mut block = Object::with_capacity(2);
    block.push("type", "thinking");
    push_content(&mut block, "thinking", content);
    let mut message = Object::with_capacity(2);
    message.push("role", "assistant");
    message.push("content", Json::Array(vec![Json::Object(block)]));
    Json::Object(message)
}

fn session_started<'r>(data: &mut Object<'r>, started: &SessionStart<'r>) {
    data.push_some("sessionId", started.session);
    push_text(data, "agent", started.agent.as_ref());
    data.push_some("agentVersion", started.agent_version);
    data.push_some("workspaceDir", started.workspace);
    data.push_some("provider", started.provider);
    data.push_some("modelId", started.model);
    data.push_some("parentSession", started.parent);
    data.push_some("isPart", started.is_part.then_some(true));
    data.push("beginsRun", started.begins_run);
}

fn session_ended<'r>(data: &mut Object<'r>, ended: &SessionEnd<'r>) {
    data.push("status", ended.status.as_str().to_owned());
    push_text(data, "error", ended.error.as_ref());
    push_text(data, "reason", ended.reason.as_ref());
    data.push("isFinal", ended.is_final);
}

fn tool_call<'r>(data: &mut Object<'r>, call: &ToolCallFact<'r>) {
    data.push_some("toolCallId", call.id);
    data.push("name", call.name);
    match call.arguments {
        Arguments::None => {}
        Arguments::Value(value) => data.push("arguments", value.clone()),
        Arguments::Text(text) => data.push("arguments", text),
    }
}

fn tool_result<'r>(data: &mut Object<'r>, result: &ToolResultFact<'r>) {
    let mut message = Object::with_capacity(5);
    message.push("role", "toolResult");
    message.push_some("toolCallId", result.id);
    message.push_some("toolName", result.name);
    message.push("isError", result.outcome.is_failure());
    push_content(&mut message, "content", result.content);
    data.push("message", Json::Object(message));
    push_outcome(data, &result.outcome);
    data.push_some("durationMs", result.duration);
    data.push("truncated", result.is_truncated);
}

fn push_outcome<'r>(data: &mut Object<'r>, outcome: &Outcome<'r>) {
    data.push("outcome", outcome.name());
    if let Outcome::Failed(failure) = outcome {
        data.push_some("exitCode", failure.exit_code);
        push_text(data, "signal", failure.signal.as_ref());
        push_text(data, "error", failure.error.as_ref());
    }
}

fn model_call<'r>(data: &mut Object<'r>, call: &ModelCall<'r>) {
    data.push_some("responseId", call.id);
    data.push_some("provider", call.provider);
    data.push_some("modelId", call.model);
    let scope = match call.scope {
        UsageScope::Call => "call",
        UsageScope::Turn => "turn",
        UsageScope::Counter => "counter",
        UsageScope::Session => "session",
    };
    data.push("scope", scope);
    data.push_some("usage", call.usage.map(usage));
    data.push_some("last", call.last.map(usage));
    let cost = call.cost.and_then(|cost| Json::from_serialize(&cost.dollars).ok());
    data.push_some("cost", cost);
    push_text(data, "stopReason", call.stop_reason.as_ref());
    data.push_some("durationMs", call.latency);
    push_text(data, "error", call.error.as_ref());
}

/// Tokens, under names that make clear that `inputTokens` includes cached ones.
fn usage(usage: Usage) -> Json<'static> {
    let mut object = Object::with_capacity(5);
    object.push("inputTokens", usage.input);
    object.push("cachedInputTokens", usage.cached);
    object.push("cacheWriteInputTokens", usage.cache_write);
    object.push("outputTokens", usage.output);
    object.push("reasoningOutputTokens", usage.reasoning);
    Json::Object(object)
}

fn push_approval<'r>(data: &mut Object<'r>, approval: &ApprovalFact<'r>) {
    data.push_some("approvalId", approval.id);
    data.push_some("toolCallId", approval.call);
    push_text(data, "subject", approval.subject.as_ref());
    data.push_some("decision", approval.decision.map(ApprovalOutcome::as_str));
    push_text(data, "reason", approval.reason.as_ref());
    data.push_some("decidedBy", approval.decided_by);
    data.push_some("deciderName", approval.decider_name);
    data.push_some("scope", approval.scope);
}

fn push_error<'r>(data: &mut Object<'r>, error: &ErrorFact<'r>) {
    data.push("error", error.text.clone());
    data.push_some("kind", error.kind);
    data.push("isRecovered", error.is_recovered);
}

fn push_loss<'r>(data: &mut Object<'r>, loss: &Loss<'r>) {
    push_text(data, "reason", loss.reason.as_ref());
    data.push_some("droppedEvents", loss.events);
    data.push_some("droppedEventBytes", loss.bytes);
}
