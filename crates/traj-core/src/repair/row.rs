//! What makes a value a row, and of which kind of file.

use super::DocumentKind;
use crate::event::TRACE_SCHEMA;
use crate::json::Json;

/// The kind of file that a value is a row of.
pub(super) fn kind_of(value: &Json<'_>) -> Option<DocumentKind> {
    let text = |name: &str| value.get(name).and_then(Json::as_str);
    if text("traceSchema") == Some(TRACE_SCHEMA) && text("type").is_some() {
        return Some(DocumentKind::Sidecar);
    }
    let kind = text("type")?;
    if value.get("payload").is_some_and(|payload| payload.as_object().is_some()) {
        return value.get("timestamp").map(|_| DocumentKind::Rollout);
    }
    let is_entry = value.get("timestamp").is_some() && value.get("id").is_some();
    (kind == "session" || is_entry || value.get("message").is_some())
        .then_some(DocumentKind::Session)
}

/// Whether a row is the header of its file.
pub(super) fn is_header(value: &Json<'_>) -> bool {
    value.get("type").and_then(Json::as_str) == Some("session")
        && value.get("id").and_then(Json::as_str).is_some()
}
