//! What `opencode export` prints: one JSON document with a session, its messages
//! and their parts. Its rows are those of the tables.

use super::timing::{MessageFacts, PartTimes, call_of};
use crate::gather::{GatherError, RowWriter};
use crate::json::{Json, Object};

/// Whether a document begins like an export.
pub(in crate::gather) fn is_export(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    let dense: String = head.chars().filter(|letter| !letter.is_whitespace()).take(64).collect();
    dense.starts_with("{\"info\":{\"id\":\"ses_")
}

/// Writes the rows of an export.
pub(in crate::gather) fn rows_of_export(
    document: &Json<'_>,
    rows: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    let info = document.get("info").unwrap_or(&Json::Null);
    let created = time(info, "created");
    let id = info.get("id").and_then(Json::as_str).unwrap_or_default();
    let mut row = row_of("session", created, id);
    row.push_some("parent_id", info.get("parentID").cloned());
    for name in ["directory", "title", "version", "agent", "model", "revert"] {
        row.push_some(name, info.get(name).cloned());
    }
    rows.row(&Json::from(row))?;
    let mut clock = created;
    let messages = document.get("messages").and_then(Json::as_array).unwrap_or_default();
    for message in messages {
        let data = message.get("info").unwrap_or(&Json::Null);
        let at = time(data, "created");
        let facts = MessageFacts::of_json(data, at, created);
        clock = clock.max(at);
        let own = |at: Option<i64>| {
            let id = data.get("id").and_then(Json::as_str).unwrap_or_default();
            let mut row = row_of("message", at, id);
            describe(&mut row, facts);
            row.push("data", data.clone());
            Json::from(row)
        };
        if !facts.is_assistant {
            rows.row(&own(clock))?;
        }
        for part in message.get("parts").and_then(Json::as_array).unwrap_or_default() {
            let times = PartTimes::of_json(part, clock);
            clock = clock.max(times.started);
            let own = |at: Option<i64>, data| {
                let id = part.get("id").and_then(Json::as_str).unwrap_or_default();
                let mut row = row_of("part", at, id);
                describe(&mut row, facts);
                row.push("data", data);
                Json::from(row)
            };
            if let (Some(ended), Some(call)) = (times.ended, call_of(part)) {
                rows.row(&own(clock, call))?;
                clock = clock.max(Some(ended));
            }
            rows.row(&own(clock, part.clone()))?;
        }
        if facts.is_assistant {
            clock = clock.max(facts.completed);
            rows.row(&own(clock))?;
        }
    }
    Ok(())
}

fn time(value: &Json<'_>, name: &str) -> Option<i64> {
    value.get("time")?.get(name)?.as_i64()
}

fn row_of<'r>(table: &'r str, at: Option<i64>, id: &'r str) -> Object<'r> {
    let mut row = Object::new();
    row.push("table", table);
    row.push_some("timestamp", at);
    row.push("id", id);
    row
}

fn describe(row: &mut Object<'_>, facts: MessageFacts) {
    row.push("role", facts.role());
    if facts.is_inherited {
        row.push("inherited", true);
    }
}
