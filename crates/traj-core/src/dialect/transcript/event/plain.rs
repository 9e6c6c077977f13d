//! Which entries give events, and the events of entries that are not messages.

use crate::json::Json;

/// Whether an entry of a branch gives at least one event.
#[must_use]
pub fn gives_events(entry: &Json<'_>) -> bool {
    match entry.get("type").and_then(Json::as_str) {
        Some("message") => {
            entry.get("message").is_some_and(|message| message.get("role").is_some())
        }
        Some(kind) => plain_event(kind).is_some(),
        None => false,
    }
}

/// A member of an entry, and the text that introduces it in the event's data.
pub(super) type Member = (&'static str, &'static str);

/// Event type (a JSON literal) and data members of the other entry types.
pub(super) fn plain_event(kind: &str) -> Option<(&'static str, &'static [Member])> {
    const FROM_HOOK: Member = ("fromHook", "\"fromHook\":");
    const DETAILS: Member = ("details", "\"details\":");
    Some(match kind {
        "compaction" => (
            "\"session.compaction\"",
            &[
                ("summary", "\"summary\":"),
                ("firstKeptEntryId", "\"firstKeptEntryId\":"),
                ("tokensBefore", "\"tokensBefore\":"),
                DETAILS,
                FROM_HOOK,
                ("usage", "\"usage\":"),
            ],
        ),
        "branch_summary" => (
            "\"session.branch_summary\"",
            &[("fromId", "\"fromId\":"), ("summary", "\"summary\":"), DETAILS, FROM_HOOK],
        ),
        "custom" => {
            ("\"session.custom\"", &[("customType", "\"customType\":"), ("data", "\"data\":")])
        }
        "custom_message" => (
            "\"session.custom_message\"",
            &[
                ("customType", "\"customType\":"),
                ("content", "\"content\":"),
                DETAILS,
                ("display", "\"display\":"),
            ],
        ),
        "thinking_level_change" => {
            ("\"session.thinking_level_change\"", &[("thinkingLevel", "\"thinkingLevel\":")])
        }
        "model_change" => (
            "\"session.model_change\"",
            &[("provider", "\"provider\":"), ("modelId", "\"modelId\":")],
        ),
        "usage" => (
            "\"session.usage\"",
            &[
                ("kind", "\"kind\":"),
                ("provider", "\"provider\":"),
                ("model", "\"model\":"),
                ("usage", "\"usage\":"),
            ],
        ),
        "context_edit" => (
            "\"session.context_edit\"",
            &[("targetId", "\"targetId\":"), ("replacement", "\"replacement\":")],
        ),
        "label" => ("\"session.label\"", &[("targetId", "\"targetId\":"), ("label", "\"label\":")]),
        "session_info" => ("\"session.info\"", &[("name", "\"name\":")]),
        "reset" => (
            "\"session.reset\"",
            &[("reason", "\"reason\":"), ("firstKeptEntryId", "\"firstKeptEntryId\":")],
        ),
        _ => return None,
    })
}
