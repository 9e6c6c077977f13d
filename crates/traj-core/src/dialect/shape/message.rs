//! Messages of a transcript: where they contain calls and results.

use super::{call, text};
use crate::json::Json;

/// The parts of a message that a trim may change.
pub(crate) enum MessageParts<'j, 'a> {
    /// The message is a result.
    Result(&'j mut Json<'a>),
    /// Its blocks may be calls.
    Calls(&'j mut [Json<'a>]),
    /// Its blocks may be results.
    Results(&'j mut [Json<'a>]),
}

/// The parts of a row that may be changed; `None` if it is not a message that can
/// contain calls or results.
pub(crate) fn parts_of<'j, 'a>(row: &'j mut Json<'a>) -> Option<MessageParts<'j, 'a>> {
    if text(row, "type") != Some("message") {
        return None;
    }
    let message = row.as_object_mut()?.get_mut("message")?;
    match text(message, "role")? {
        "toolResult" | "tool" => Some(MessageParts::Result(message)),
        "assistant" => blocks_mut(message).map(|blocks| MessageParts::Calls(blocks)),
        "user" => blocks_mut(message).map(|blocks| MessageParts::Results(blocks)),
        _ => None,
    }
}

/// The blocks of a message.
pub(crate) fn blocks_mut<'j, 'a>(message: &'j mut Json<'a>) -> Option<&'j mut Vec<Json<'a>>> {
    match content_mut(message)? {
        Json::Array(blocks) => Some(blocks),
        _ => None,
    }
}

/// The content of a message, block or other value.
pub(crate) fn content_mut<'j, 'a>(value: &'j mut Json<'a>) -> Option<&'j mut Json<'a>> {
    value.as_object_mut()?.get_mut("content")
}

/// Whether a block of a user's message is the result of a call.
pub(crate) fn is_result_block(block: &Json<'_>) -> bool {
    text(block, "type") == Some("tool_result")
}

/// Whether a message is from the user and not a result.
pub(crate) fn is_prompt(message: &Json<'_>) -> bool {
    text(message, "role") == Some("user") && !blocks(message).iter().any(is_result_block)
}

/// Whether a row of a transcript or rollout contains the result of this call.
pub(crate) fn is_result_of(row: &Json<'_>, id: &str) -> bool {
    if let Some(payload) = row.get("payload") {
        return call::is_output(payload) && text(payload, "call_id") == Some(id);
    }
    let Some(message) = row.get("message").filter(|_| text(row, "type") == Some("message")) else {
        return false;
    };
    let is_result = |value: &Json<'_>| call::result_id(value) == Some(id);
    match text(message, "role") {
        Some("toolResult" | "tool") => is_result(message),
        Some("user") => {
            blocks(message).iter().any(|block| is_result_block(block) && is_result(block))
        }
        _ => false,
    }
}

fn blocks<'j, 'a>(message: &'j Json<'a>) -> &'j [Json<'a>] {
    message.get("content").and_then(Json::as_array).unwrap_or_default()
}

/// A row that is a result.
pub(crate) struct ResultRow<'j, 'a> {
    pub(crate) id: &'j str,
    pub(crate) tool: &'j str,
    pub(crate) content: &'j Json<'a>,
}

/// The result in a row of a transcript or rollout, if it is one.
pub(crate) fn result_in<'j, 'a>(row: &'j Json<'a>) -> Option<ResultRow<'j, 'a>> {
    let (holder, content, id) = if super::row::is_of_rollout(row) {
        let payload = row.get("payload").filter(|payload| call::is_output(payload))?;
        (payload, payload.get("output")?, text(payload, "call_id")?)
    } else {
        let message = row.get("message")?;
        text(message, "role").filter(|role| matches!(*role, "toolResult" | "tool"))?;
        (message, message.get("content")?, call::result_id(message)?)
    };
    let tool = text(holder, "toolName").or_else(|| text(holder, "name")).unwrap_or("tool");
    Some(ResultRow { id, tool, content })
}

/// A cheap test for lines that may contain a result.
pub(crate) fn may_hold_result(line: &[u8]) -> bool {
    [b"toolResult".as_slice(), b"tool_result", b"_output", b"\"tool\""]
        .iter()
        .any(|word| memchr::memmem::find(line, word).is_some())
}

/// Shows the texts of a result's content.
pub(crate) fn for_each_text(content: &Json<'_>, show: &mut dyn FnMut(&str)) {
    match content {
        Json::String(text) => show(text),
        Json::Array(blocks) => {
            for text in blocks.iter().filter_map(|block| block.get("text")) {
                for_each_text(text, show);
            }
        }
        Json::Object(object) => {
            if let Some(inner) = object.get("content") {
                for_each_text(inner, show);
            }
        }
        _ => {}
    }
}

/// The text of a text block.
pub(crate) fn block_text_mut<'j, 'a>(block: &'j mut Json<'a>) -> Option<&'j mut Json<'a>> {
    let is_text = text(block, "type").is_some_and(|kind| {
        matches!(kind, "text" | "input_text" | "output_text" | "inputText" | "outputText")
    });
    if is_text { block.as_object_mut()?.get_mut("text") } else { None }
}
