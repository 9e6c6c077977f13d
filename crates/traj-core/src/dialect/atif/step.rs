//! What a step says, apart from its calls.

use std::borrow::Cow;

use super::other;
use crate::dialect::{is_set, said, text};
use crate::json::Json;
use crate::run::{
    ApprovalFact, ApprovalOutcome, Attachment, Compaction, CompiledContext, Content, EndStatus,
    ErrorFact, Fact, Loss, Prompt, SessionEnd,
};

/// Emits the facts of a step.
pub(super) fn decode<'r>(row: &'r Json<'r>, step: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let extra = step.get("extra").unwrap_or(&Json::Null);
    let message = Content::of(step.get("message"));
    match text(step, "source").unwrap_or_default() {
        "user" => {
            let images = extra.get("images").and_then(Json::as_u64).unwrap_or_default();
            emit(Fact::Prompt(Prompt {
                content: message,
                images: images.max(message.images()),
                skipped: said(extra, "skipped"),
            }));
        }
        "agent" => agent(step, message, emit),
        "system" => system(row, step, message, emit),
        source => emit(other(source, false)),
    }
}

fn agent<'r>(step: &'r Json<'r>, message: Content<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let thought = Content::of(step.get("reasoning_content"));
    if !thought.is_blank() {
        emit(Fact::Reasoning(thought));
    }
    if !message.is_blank() {
        emit(Fact::AssistantText(message));
    } else if thought.is_blank() {
        emit(other("agent", true));
    }
}

/// A step of the harness. `extra.kind` says what it is; without it, the first step
/// is the system prompt.
fn system<'r>(
    row: &'r Json<'r>,
    step: &'r Json<'r>,
    message: Content<'r>,
    emit: &mut dyn FnMut(Fact<'r>),
) {
    let extra = step.get("extra").unwrap_or(&Json::Null);
    let number = |name: &str| extra.get(name).and_then(Json::as_u64);
    let attachment = |kind: &'r str| {
        let kind = Some(Cow::Borrowed(kind));
        Fact::Attachment(Attachment { kind, name: None, content: message })
    };
    match text(extra, "kind") {
        Some("system_prompt") => emit(system_prompt(message)),
        None if step.get("step_id").and_then(Json::as_u64) == Some(1) => {
            emit(system_prompt(message));
        }
        Some("approval") => approval(row, extra, message, emit),
        Some("compaction") => {
            let tokens_before = number("tokens_before");
            emit(Fact::Compaction(Compaction { summary: message, tokens_before }));
        }
        Some("error") => emit(Fact::Error(ErrorFact {
            text: Cow::Owned(message.to_text()),
            kind: None,
            is_recovered: is_set(extra, "is_recovered"),
        })),
        Some("lost") => emit(Fact::Lost(Loss {
            reason: message.first_text().map(Cow::Borrowed),
            events: number("lost_events"),
            bytes: None,
        })),
        Some("ended") => emit(Fact::TurnEnded(SessionEnd {
            status: EndStatus::parse(text(extra, "status").unwrap_or("ended")),
            error: said(extra, "error").map(Cow::Borrowed),
            reason: None,
            is_final: true,
        })),
        Some(kind) => emit(attachment(kind)),
        None => emit(attachment("system")),
    }
}

const fn system_prompt(system: Content<'_>) -> Fact<'_> {
    Fact::ContextCompiled(CompiledContext { system, tools: None })
}

/// A request for approval, and the decision if there was one.
fn approval<'r>(
    row: &'r Json<'r>,
    extra: &'r Json<'r>,
    message: Content<'r>,
    emit: &mut dyn FnMut(Fact<'r>),
) {
    let subject = said(extra, "subject").or_else(|| message.first_text()).map(Cow::Borrowed);
    let asked = ApprovalFact { id: said(row, "id"), subject, ..ApprovalFact::default() };
    emit(Fact::ApprovalAsked(asked.clone()));
    let decision = match text(extra, "decision") {
        Some("approved") => ApprovalOutcome::Approved,
        Some("approvedForSession") => ApprovalOutcome::ApprovedForSession,
        Some("denied") => ApprovalOutcome::Denied,
        Some("cancelled") => ApprovalOutcome::Cancelled,
        _ => return,
    };
    let (decided_by, decider_name) = match said(extra, "decider") {
        None => (None, None),
        Some("the user") => (Some("user"), None),
        Some("the host") => (Some("host"), None),
        Some("a policy") => (Some("policy"), None),
        Some(name) => (Some("user"), Some(name)),
    };
    emit(Fact::ApprovalDecided(ApprovalFact {
        decision: Some(decision),
        reason: said(extra, "reason").map(Cow::Borrowed),
        decided_by,
        decider_name,
        ..asked
    }));
}
