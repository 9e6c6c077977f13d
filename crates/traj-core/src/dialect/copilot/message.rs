//! What people, the model and the harness said.

use std::borrow::Cow;

use super::super::{said, text};
use super::tool;
use crate::json::Json;
use crate::run::{Attachment, CompiledContext, Content, Fact, Prompt};

/// A prompt with its attachments. The text is as typed; what was sent also
/// contains the date and other context.
pub(super) fn prompt<'r>(data: &'r Json<'r>, begins_turn: bool, emit: &mut dyn FnMut(Fact<'r>)) {
    let attachments = data.get("attachments").and_then(Json::as_array).unwrap_or_default();
    let is_image = |attachment: &&Json<'_>| {
        text(attachment, "mimeType").is_some_and(|kind| kind.starts_with("image/"))
    };
    let images = attachments.iter().filter(is_image).count() as u64;
    if begins_turn {
        emit(Fact::TurnStarted);
    }
    let content = Content::of(data.get("content"));
    emit(Fact::Prompt(Prompt { content, images, skipped: None }));
    for attachment in attachments {
        let names = ["displayName", "path", "filePath", "title", "url"];
        emit(Fact::Attachment(Attachment {
            kind: said(attachment, "type").map(Cow::Borrowed),
            name: names.iter().find_map(|name| said(attachment, name)),
            content: Content::of(attachment.get("text")),
        }));
    }
}

/// A message of the harness to the model.
pub(super) fn system<'r>(data: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let content = Content::of(data.get("content"));
    emit(match text(data, "role") {
        Some("system") | None => {
            Fact::ContextCompiled(CompiledContext { system: content, tools: None })
        }
        Some(role) => Fact::Attachment(Attachment {
            kind: Some(Cow::Owned(format!("context/{role}"))),
            name: said(data, "name"),
            content,
        }),
    });
}

/// A message of the model: what it thought, said and called. Its tokens are in
/// a separate record.
pub(super) fn answer<'r>(data: &'r Json<'r>, emit: &mut dyn FnMut(Fact<'r>)) {
    let mut count = 0;
    let mut emit_one = |fact| {
        count += 1;
        emit(fact);
    };
    let thought = Content::of(data.get("reasoningText"));
    if !thought.is_blank() {
        emit_one(Fact::Reasoning(thought));
    }
    let said = Content::of(data.get("content"));
    if !said.is_blank() {
        emit_one(Fact::AssistantText(said));
    }
    for request in data.get("toolRequests").and_then(Json::as_array).unwrap_or_default() {
        emit_one(Fact::ToolCall(tool::call(request)));
    }
    if count == 0 {
        emit(Fact::Other { name: Cow::Borrowed("assistant.message"), is_known: true });
    }
}

/// Something that the harness added to the conversation.
pub(super) fn attachment<'r>(kind: &'r str, data: &'r Json<'r>) -> Fact<'r> {
    let names = ["name", "agentName", "source"];
    Fact::Attachment(Attachment {
        kind: Some(Cow::Borrowed(kind)),
        name: names.iter().find_map(|name| said(data, name)),
        content: Content::of(data.get("content").or_else(|| data.get("agentDescription"))),
    })
}
