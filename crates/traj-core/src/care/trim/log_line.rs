//! What the queue and the journal share: a file beside the session, with a schema
//! and a version on every line.

use crate::json::{Json, Object};

const VERSION: u64 = 1;

/// The log file beside a session file, with this suffix.
pub(super) fn beside(session_file: &str, suffix: &str) -> String {
    let stem = session_file.strip_suffix(".jsonl").unwrap_or(session_file);
    format!("{stem}{suffix}")
}

/// An object that begins with its schema and version.
pub(super) fn begin<'a>(schema: &'static str) -> Object<'a> {
    let mut line = Object::with_capacity(7);
    line.push("schema", schema);
    line.push("version", VERSION);
    line
}

/// Reads a line of this schema; `None` if it is not one.
pub(super) fn read<'a>(line: &'a [u8], schema: &str) -> Option<Json<'a>> {
    let value = Json::parse_lossy(line).ok()?;
    let is_known = value.get("schema").and_then(Json::as_str) == Some(schema)
        && value.get("version").and_then(Json::as_u64) == Some(VERSION);
    is_known.then_some(value)
}
