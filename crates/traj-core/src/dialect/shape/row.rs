//! What makes a value a row, and of which kind of file.

use super::super::Dialect;
use super::text;
use crate::event::TRACE_SCHEMA;
use crate::json::{Json, Object};

/// The member that numbers the rows of a rollout. Forks point into such a file.
const NUMBER: &str = "ordinal";

/// The member that names the parent of an entry.
const PARENT: &str = "parentId";

/// The dialect whose row a value may be, even if that dialect does not know the
/// row's type.
pub(crate) fn dialect_of(value: &Json<'_>) -> Option<Dialect> {
    let kind = text(value, "type")?;
    if text(value, "traceSchema") == Some(TRACE_SCHEMA) {
        return Some(Dialect::Sidecar);
    }
    if has_payload(value) {
        return value.get("timestamp").map(|_| Dialect::CodexRollout);
    }
    let is_entry = value.get("timestamp").is_some() && value.get("id").is_some();
    (kind == "session" || is_entry || value.get("message").is_some()).then_some(Dialect::OpenClaw)
}

/// Whether a row belongs to a rollout, as far as an edit is concerned.
pub(crate) fn is_of_rollout(row: &Json<'_>) -> bool {
    has_payload(row) && text(row, "type").is_some() && row.get("message").is_none()
}

fn has_payload(row: &Json<'_>) -> bool {
    row.get("payload").is_some_and(|payload| payload.as_object().is_some())
}

/// The payload of a rollout row.
pub(crate) fn payload_mut<'j, 'a>(row: &'j mut Json<'a>) -> Option<&'j mut Json<'a>> {
    row.as_object_mut()?.get_mut("payload")
}

/// The payload of a sidecar event.
pub(crate) fn data_mut<'j, 'a>(event: &'j mut Json<'a>) -> Option<&'j mut Json<'a>> {
    event.as_object_mut()?.get_mut("data")
}

/// Whether a rollout row is numbered: forks then point into its file by byte
/// offset.
pub(crate) fn is_numbered(row: &Json<'_>) -> bool {
    row.get(NUMBER).is_some()
}

/// The number of a rollout row.
pub(crate) fn number_of(row: &Json<'_>) -> Option<u64> {
    row.get(NUMBER).and_then(Json::as_u64)
}

/// Whether an object is a rollout row.
pub(crate) fn is_of_rollout_object(row: &Object<'_>) -> bool {
    row.contains("payload")
}

/// Numbers a rollout row; returns whether that changed it.
pub(crate) fn renumber(row: &mut Object<'_>, number: u64) -> bool {
    if row.get(NUMBER).and_then(Json::as_u64) == Some(number) {
        return false;
    }
    row.insert(NUMBER, number);
    true
}

/// Whether a row is the header of a transcript.
pub(crate) fn is_header(row: &Json<'_>) -> bool {
    text(row, "type") == Some("session") && id_of(row).is_some()
}

/// The id of an entry.
pub(crate) fn id_of<'j>(entry: &'j Json<'_>) -> Option<&'j str> {
    text(entry, "id")
}

/// The id of an entry's parent.
pub(crate) fn parent_of<'j>(entry: &'j Json<'_>) -> Option<&'j str> {
    text(entry, PARENT)
}

/// Sets or clears the parent of an entry.
pub(crate) fn set_parent(entry: &mut Object<'_>, parent: Option<String>) {
    entry.insert(PARENT, parent.map_or(Json::Null, Json::from));
}

/// The timestamp that a row states.
pub(crate) fn time_of<'j>(row: &'j Json<'_>) -> Option<&'j str> {
    text(row, "timestamp")
}

/// A header for a transcript that has lost its own.
pub(crate) fn header(session_id: &str, timestamp: Option<&str>) -> String {
    let mut header = Object::with_capacity(5);
    header.push("type", "session");
    header.push("version", 3_u64);
    header.push("id", session_id);
    header.push("timestamp", timestamp.unwrap_or("1970-01-01T00:00:00.000Z"));
    header.push("cwd", "/");
    Json::Object(header).to_line()
}

/// Whether a line begins a turn: a user message, or a started task.
pub(crate) fn begins_turn(line: &[u8]) -> bool {
    let mentions = |word: &[u8]| memchr::memmem::find(line, word).is_some();
    if !mentions(b"\"user\"") && !mentions(b"task_started") {
        return false;
    }
    let Ok(row) = Json::parse_lossy(line) else { return false };
    match text(&row, "type") {
        Some("message") => row.get("message").is_some_and(super::message::is_prompt),
        Some("event_msg") => {
            row.get("payload").and_then(|payload| text(payload, "type")) == Some("task_started")
        }
        _ => false,
    }
}
