//! What the side files of a bundle take from the payloads of runtime events.

use crate::event::EventKind;
use crate::json::Json;
use crate::redaction::Redacted;

/// Members that hold the arguments of a call, best first.
const ARGUMENTS: [&str; 2] = ["arguments", "args"];

/// The payload of an event.
#[must_use]
pub fn data_of<'e, 'a>(event: &'e Json<'a>) -> Option<&'e Json<'a>> {
    event.get("data")
}

/// Takes the payload out of an event.
#[must_use]
pub fn into_data(event: Json<'_>) -> Option<Json<'_>> {
    match event {
        Json::Object(mut event) => event.remove("data"),
        _ => None,
    }
}

/// The payload of an event, if that is a call.
#[must_use]
pub fn call_data<'e, 'a>(event: &'e Json<'a>) -> Option<&'e Json<'a>> {
    is_of(event, &EventKind::ToolCall).then(|| data_of(event)).flatten()
}

/// The arguments in the payload of a call.
#[must_use]
pub fn call_arguments<'e, 'a>(data: &'e Json<'a>) -> Option<&'e Json<'a>> {
    ARGUMENTS.iter().find_map(|name| data.get(name))
}

/// Whether a member of a call's payload holds the arguments.
#[must_use]
pub fn is_call_argument(name: &str) -> bool {
    ARGUMENTS.contains(&name)
}

/// The prompt that an event submits, or the whole payload if the prompt is not a
/// string because it was truncated.
#[must_use]
pub fn submitted_prompt<'e, 'a>(event: Redacted<&'e Json<'a>>) -> Option<Redacted<&'e Json<'a>>> {
    if !is_of(event.value(), &EventKind::PromptSubmitted) {
        return None;
    }
    let data = event.get("data")?;
    Some(data.get("prompt").filter(|prompt| prompt.value().as_str().is_some()).unwrap_or(data))
}

/// The system prompt of a compiled context.
#[must_use]
pub fn system_prompt<'e, 'a>(compiled: &'e Json<'a>) -> Option<&'e Json<'a>> {
    compiled.get("systemPrompt")
}

/// The tools of a compiled context.
#[must_use]
pub fn tools<'e, 'a>(compiled: &'e Json<'a>) -> Option<&'e Json<'a>> {
    compiled.get("tools")
}

/// Whether a member of a compiled context is the system prompt or the tools.
#[must_use]
pub fn is_context_member(name: &str) -> bool {
    matches!(name, "systemPrompt" | "tools")
}

/// How the prompts were built, from the payload that describes a run.
#[must_use]
pub fn prompting<'e, 'a>(metadata: &'e Json<'a>) -> Option<&'e Json<'a>> {
    metadata.get("prompting")
}

/// The skills of a run, from the payload that describes it.
#[must_use]
pub fn skills<'e, 'a>(metadata: &'e Json<'a>) -> Option<&'e [Json<'a>]> {
    metadata.get("skills")?.get("entries")?.as_array()
}

fn is_of(event: &Json<'_>, kind: &EventKind) -> bool {
    super::text(event, "type") == Some(kind.as_str())
}
