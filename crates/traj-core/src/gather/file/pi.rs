//! Forks of pi: a session that begins with entries of another one.
//!
//! A fork has the same entries, with the same ids and times, so that they are
//! older than its header. They stay in the tree as context. What they called and
//! used belongs to the other session.

use std::ops::ControlFlow;

use super::super::{GatherError, RowWriter};
use super::lines::each_line;
use crate::dialect::transcript::entry_instant;
use crate::json::lines::Line;
use crate::json::{Json, Object};
use crate::port::Source;
use crate::run::is_bomb;
use crate::timestamp::UnixMillis;

/// Writes the entries of a fork, the inherited ones as context. Returns `false` if
/// there are none.
pub(super) fn rows(
    header: &Json<'_>,
    source: &dyn Source,
    rows: &mut RowWriter<'_>,
) -> Result<bool, GatherError> {
    let created = entry_instant(header);
    if header.get("parentSession").and_then(Json::as_str).is_none() || !inherits(source, created)? {
        return Ok(false);
    }
    each_line(source, 0, &mut |offset, line| {
        let (Line::Whole(line) | Line::Cut(line)) = line else {
            return Ok(ControlFlow::Continue(()));
        };
        match context(line, created).filter(|_| offset > 0) {
            Some(row) => rows.row(&Json::Object(row))?,
            None => {
                rows.bytes(line)?;
                rows.bytes(b"\n")?;
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(true)
}

/// Whether the first entry is older than the header.
fn inherits(source: &dyn Source, created: UnixMillis) -> Result<bool, GatherError> {
    let mut is_older = false;
    each_line(source, 0, &mut |offset, line| {
        let (Line::Whole(line) | Line::Cut(line)) = line else {
            return Ok(ControlFlow::Continue(()));
        };
        let text = String::from_utf8_lossy(line);
        let row = Json::parse_shallow(&text, 1).ok().filter(|_| offset > 0);
        let Some(row) = row.filter(|row| row.get("timestamp").is_some()) else {
            return Ok(ControlFlow::Continue(()));
        };
        is_older = is_inherited(&row, created);
        Ok(ControlFlow::Break(()))
    })?;
    Ok(is_older)
}

fn is_inherited(row: &Json<'_>, created: UnixMillis) -> bool {
    let at = entry_instant(row);
    at != UnixMillis::EPOCH && at < created
}

/// An inherited entry that states what was said, called or used, as context.
fn context(line: &[u8], created: UnixMillis) -> Option<Object<'static>> {
    if is_bomb(line) {
        return None;
    }
    let row = Json::parse_lossy(line).ok().filter(|row| is_inherited(row, created))?;
    let kind = row.get("type").and_then(Json::as_str)?;
    let message = row.get("message");
    let (kind, content) = match kind {
        "message" => {
            let role = message?.get("role").and_then(Json::as_str).unwrap_or("message");
            (role, message?.get("content").or_else(|| message?.get("output")))
        }
        "compaction" | "branch_summary" => (kind, row.get("summary")),
        "usage" => (kind, None),
        _ => return None,
    };
    let mut context = Object::with_capacity(7);
    context.push("type", "custom_message");
    for name in ["id", "parentId", "timestamp"] {
        context.push_some(name, row.get(name).cloned().map(Json::into_owned));
    }
    context.push("customType", format!("inherited/{kind}"));
    context.push_some("content", content.cloned().map(Json::into_owned));
    context.push("display", false);
    Some(context)
}

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests {
    use crate::gather::gathered;

    #[test]
    fn entries_older_than_the_fork_are_context() {
        let rows = [
            r#"{"type":"session","version":3,"id":"f","timestamp":"2026-06-01T10:00:00Z","parentSession":"/s/p.jsonl"}"#,
            r#"{"type":"model_change","id":"a","parentId":null,"timestamp":"2026-06-01T09:00:00Z","modelId":"m"}"#,
            r#"{"type":"message","id":"b","parentId":"a","timestamp":"2026-06-01T09:00:01Z","message":{"role":"assistant","content":[{"type":"text","text":"hi"}],"usage":{"input":5}}}"#,
            r#"{"type":"message","id":"c","parentId":"b","timestamp":"2026-06-01T10:00:01Z","message":{"role":"user","content":"go on"}}"#,
        ];
        let gathered_rows = gathered("f.jsonl", &rows.join("\n")).unwrap();
        let lines: Vec<_> = gathered_rows.lines().collect();
        assert_eq!([lines[0], lines[1], lines[3]], [rows[0], rows[1], rows[3]]);
        assert_eq!(
            lines[2],
            r#"{"type":"custom_message","id":"b","parentId":"a","timestamp":"2026-06-01T09:00:01Z","customType":"inherited/assistant","content":[{"type":"text","text":"hi"}],"display":false}"#
        );
        // A session that only continues another one has its own entries.
        assert_eq!(gathered("f.jsonl", &[rows[0], rows[3]].join("\n")), None);
    }
}
