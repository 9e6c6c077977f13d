//! Copilot CLI: one event per row, as `{type, data, id, timestamp, parentId}`.
//!
//! The order of events is that of the lines: `parentId` often names an event that
//! was never written. Events with an `agentId` belong to a sub-agent.

mod known;
mod message;
mod tool;

use std::borrow::Cow;

use super::numbered_facts::numbered_facts;
use super::{Dialect, said, text};
use crate::json::Json;
use crate::run::{
    AgentStart, Compaction, Content, EndStatus, ErrorFact, Fact, Hook, ModeChange, ModelCall,
    ModelChange, Outcome, Place, Rewind, RunEvent, SessionEnd, SessionStart, Thread, Usage,
    UsageScope,
};

/// Whether a row is an event of Copilot.
pub(super) fn recognises(row: &Json<'_>) -> bool {
    row.get("data").is_some_and(|data| data.as_object().is_some())
        && row.get("traceSchema").is_none()
        && row.get("parentId").is_some()
        && text(row, "id").is_some()
        && text(row, "timestamp").is_some()
        && text(row, "type").is_some_and(|kind| kind.contains('.') || kind == "abort")
}

/// Emits the facts of an event.
pub(super) fn decode<'r>(row: &'r Json<'r>, place: Place, emit: &mut dyn FnMut(RunEvent<'r>)) {
    let data = row.get("data").unwrap_or(&Json::Null);
    let at = Dialect::Copilot.time_of(row);
    let thread = said(row, "agentId").map_or(Thread::Main, Thread::SubAgent);
    let kind = text(row, "type").unwrap_or_default();
    let agent_start = match (thread, said(data, "toolCallId")) {
        (Thread::SubAgent(agent), Some(call)) if kind == "subagent.started" => {
            Some(AgentStart { agent, call })
        }
        _ => None,
    };
    let mut emit_one = numbered_facts(row, place, emit, |event| {
        (event.at, event.thread, event.agent_start) = (at, thread, agent_start);
        event.entry = said(row, "id");
        event.parent = said(row, "parentId");
        // The numbering of turns restarts with each prompt.
        event.turn = said(data, "interactionId");
    });
    match kind {
        "user.message" => message::prompt(data, thread == Thread::Main, &mut emit_one),
        "system.message" => message::system(data, &mut emit_one),
        "assistant.message" => message::answer(data, &mut emit_one),
        "assistant.reasoning" => emit_one(Fact::Reasoning(Content::of(data.get("content")))),
        "skill.invoked"
        | "skill.context_delivered"
        | "system.notification"
        | "subagent.started" => emit_one(message::attachment(kind, data)),
        "tool.execution_start" | "tool.user_requested" | "external_tool.requested" => {
            emit_one(Fact::ToolCall(tool::call(data)));
        }
        "tool.execution_complete" => emit_one(Fact::ToolResult(tool::result(data))),
        "permission.requested" => emit_one(Fact::ApprovalAsked(tool::asked(data))),
        "permission.completed" => emit_one(Fact::ApprovalDecided(tool::decided(data))),
        "session.shutdown" if thread == Thread::Main => shutdown(data, &mut emit_one),
        kind => emit_one(session_fact(kind, data, thread)),
    }
}

/// What an event states about the session itself.
fn session_fact<'r>(kind: &'r str, data: &'r Json<'r>, thread: Thread<'r>) -> Fact<'r> {
    let other = || Fact::Other { name: Cow::Borrowed(kind), is_known: known::is_known(kind) };
    // A sub-agent has a model of its own.
    if thread != Thread::Main && kind == "session.model_change" {
        return other();
    }
    match kind {
        "session.start" | "session.resume" => Fact::SessionStarted(started(data)),
        "session.usage_record" => data.get("usage").map_or_else(other, model_call),
        "session.model_change" => Fact::ModelChanged(ModelChange {
            provider: None,
            model: said(data, "newModel"),
            reason: said(data, "cause"),
        }),
        "session.mode_changed" => mode("mode", data, "newMode").unwrap_or_else(other),
        "session.permissions_changed" => mode("permissions", data, "mode").unwrap_or_else(other),
        "session.compaction_complete" => compaction(data),
        "session.context_cleared" => Fact::Rewind(Rewind::default()),
        "session.error" => match said(data, "message") {
            Some(message) if thread == Thread::Main => {
                ended(EndStatus::Error, Some(Cow::Borrowed(message)), true)
            }
            message => error(kind, message.map(Cow::Borrowed), data).unwrap_or_else(other),
        },
        "subagent.failed" => {
            let message = data.get("error").and_then(super::result::error_in);
            error(kind, message, data).unwrap_or_else(other)
        }
        "abort" => ended(EndStatus::Interrupted, None, true),
        "hook.end" => Fact::Hook(Hook {
            name: said(data, "hookType").unwrap_or("hook"),
            outcome: tool::outcome(data),
            content: Content::of(data.get("output")),
        }),
        _ => other(),
    }
}

fn started<'r>(data: &'r Json<'r>) -> SessionStart<'r> {
    let context = data.get("context").unwrap_or(&Json::Null);
    SessionStart {
        session: said(data, "sessionId"),
        agent: Some(Cow::Borrowed("copilot")),
        agent_version: said(data, "copilotVersion"),
        workspace: said(context, "cwd"),
        model: said(data, "selectedModel"),
        parent: said(data, "detachedFromSpawningParentSessionId"),
        ..SessionStart::default()
    }
}

fn mode<'r>(name: &'static str, data: &'r Json<'r>, member: &str) -> Option<Fact<'r>> {
    let value = Cow::Borrowed(said(data, member)?);
    Some(Fact::ModeChanged(ModeChange { name: Cow::Borrowed(name), value }))
}

/// An error that did not end a turn.
fn error<'r>(kind: &'r str, text: Option<Cow<'r, str>>, data: &'r Json<'r>) -> Option<Fact<'r>> {
    let kind = said(data, "errorType").or(Some(kind));
    Some(Fact::Error(ErrorFact { text: text?, kind, is_recovered: false }))
}

const fn ended<'r>(status: EndStatus<'r>, error: Option<Cow<'r, str>>, is_final: bool) -> Fact<'r> {
    Fact::TurnEnded(SessionEnd { status, error, reason: None, is_final })
}

/// The end of a process. It follows an error too, so it does not decide how the
/// turn ended, unless nothing else did.
fn shutdown<'r>(data: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let reason = said(data, "errorReason").map(Cow::Borrowed);
    if text(data, "shutdownType") == Some("error") {
        emit(ended(EndStatus::Error, reason, true));
        return;
    }
    emit(ended(EndStatus::Success, None, false));
    // Old versions state tokens only here, for the session so far.
    let models = data.get("modelMetrics").filter(|_| data.get("accountingSnapshot").is_none());
    let Some(Json::Object(models)) = models else { return };
    let mut total = Usage::default();
    for (_, model) in models.iter() {
        total.add(&model.get("usage").map(usage).unwrap_or_default());
    }
    if !total.is_zero() {
        emit(Fact::ModelCall(ModelCall {
            model: said(data, "currentModel"),
            usage: Some(total),
            scope: UsageScope::Counter,
            ..ModelCall::default()
        }));
    }
}

fn compaction<'r>(data: &'r Json<'r>) -> Fact<'r> {
    let failure = || data.get("error").and_then(super::result::error_in);
    if data.get("success").and_then(Json::as_bool) == Some(false) {
        let text = failure().unwrap_or(Cow::Borrowed("the conversation could not be compacted"));
        return Fact::Error(ErrorFact { text, kind: Some("compaction"), is_recovered: false });
    }
    Fact::Compaction(Compaction {
        summary: Content::of(data.get("summaryContent")),
        tokens_before: data.get("preCompactionTokens").and_then(Json::as_u64),
    })
}

/// The tokens of one response. `cost` counts premium requests, not dollars.
fn model_call<'r>(stated: &'r Json<'r>) -> Fact<'r> {
    Fact::ModelCall(ModelCall {
        id: said(stated, "apiCallId"),
        provider: said(stated, "modelProvider").filter(|provider| *provider != "other"),
        model: said(stated, "model"),
        usage: Some(usage(stated)),
        stop_reason: said(stated, "finishReason").map(Cow::Borrowed),
        latency: stated.get("duration").and_then(Json::as_u64),
        ..ModelCall::default()
    })
}

/// Copilot counts cached tokens as part of the input.
fn usage(stated: &Json<'_>) -> Usage {
    let number = |name: &str| stated.get(name).and_then(Json::as_u64).unwrap_or_default();
    Usage {
        input: number("inputTokens"),
        cached: number("cacheReadTokens"),
        cache_write: number("cacheWriteTokens"),
        output: number("outputTokens"),
        reasoning: number("reasoningTokens"),
    }
}

/// Whether a result is a success, for hooks and tools alike.
fn is_failed(data: &Json<'_>) -> bool {
    data.get("success").and_then(Json::as_bool) == Some(false)
}

/// The outcome that an error code states, if it is not simply a failure.
fn outcome_of_code<'r>(code: &str) -> Option<Outcome<'r>> {
    super::result::outcome_of_status(code)
        .filter(|outcome| !matches!(outcome, Outcome::Ok | Outcome::Failed(_)))
}
