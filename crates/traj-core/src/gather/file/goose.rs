//! Sessions that goose stored before it had a database: a header with the totals,
//! then one message per line. Their rows are those of the tables.

use std::ops::ControlFlow;

use super::super::database::millis_of;
use super::super::{GatherError, RowWriter};
use super::GatheredFile;
use super::lines::each_line;
use crate::json::lines::Line;
use crate::json::{Json, Object};
use crate::port::Cell;

/// The members of a header that its rows keep: first those of the session, then the
/// totals of its model calls.
const SESSION: [&str; 2] = ["description", "working_dir"];
const TOTALS: [&str; 6] = [
    "total_tokens",
    "input_tokens",
    "output_tokens",
    "accumulated_total_tokens",
    "accumulated_input_tokens",
    "accumulated_output_tokens",
];

/// Whether the first line of a file begins such a session.
pub(super) fn is_old(first: &Json<'_>) -> bool {
    first.get("type").is_none() && (is_header(first) || is_message(first))
}

fn is_header(row: &Json<'_>) -> bool {
    row.get("working_dir").is_some() && row.get("message_count").is_some()
}

fn is_message(row: &Json<'_>) -> bool {
    let role = row.get("role").and_then(Json::as_str);
    matches!(role, Some("user" | "assistant"))
        && row.get("created").is_some_and(|at| at.as_i64().is_some())
        && row.get("content").is_some_and(|content| content.as_array().is_some())
}

/// Writes the rows of a session.
pub(super) fn rows(file: &GatheredFile<'_>, rows: &mut RowWriter<'_>) -> Result<(), GatherError> {
    let name = file.name.rsplit('/').next().unwrap_or(file.name);
    let session = OldSession { id: name.strip_suffix(".jsonl").unwrap_or(name) };
    let mut header: Option<Json<'static>> = None;
    let (mut is_begun, mut number, mut last) = (false, 0_u64, None);
    each_line(file.source, 0, &mut |_, line| {
        let (Line::Whole(line) | Line::Cut(line)) = line else {
            number += 1;
            let lost = Object::from_iter([("lostBytes", Json::from(line.span()))]);
            rows.row(&session.message(number, &Json::Null, Some(lost.into()), last))?;
            return Ok(ControlFlow::Continue(()));
        };
        let text = String::from_utf8_lossy(line);
        let row = Json::parse(text.trim_start_matches('\u{feff}').trim()).unwrap_or_default();
        if header.is_none() && !is_begun && is_header(&row) {
            header = Some(row.into_owned());
        } else if is_message(&row) {
            let at = row.get("created").and_then(Json::as_i64);
            let at = at.and_then(|at| millis_of(&Cell::Integer(at)));
            if let Some(header) = header.as_ref().filter(|_| !is_begun) {
                rows.row(&session.beginning(header, at))?;
            }
            (is_begun, number, last) = (true, number + 1, last.max(at));
            rows.row(&session.message(number, &row, row.get("content").cloned(), at))?;
        } else if !line.trim_ascii().is_empty() {
            // Its readers count it: a torn line, for example.
            rows.text(&text)?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let Some(header) = header else { return Ok(()) };
    if !is_begun {
        rows.row(&session.beginning(&header, None))?;
    }
    rows.row(&session.totals(&header, last))
}

/// Makes the rows of one session.
#[derive(Clone, Copy)]
struct OldSession<'s> {
    id: &'s str,
}

impl<'s> OldSession<'s> {
    fn row(self, table: &'static str, at: Option<i64>) -> Object<'s> {
        let mut row = Object::new();
        row.push("table", table);
        row.push_some("timestamp", at);
        row
    }

    fn beginning(self, header: &Json<'s>, at: Option<i64>) -> Json<'s> {
        let mut row = self.row("sessions", at);
        row.push("id", self.id);
        copy(header, &SESSION, &mut row);
        row.into()
    }

    fn totals(self, header: &Json<'s>, at: Option<i64>) -> Json<'s> {
        let mut row = self.row("sessions", at);
        row.push("totals", true);
        row.push("id", self.id);
        copy(header, &TOTALS, &mut row);
        row.into()
    }

    fn message<'r>(
        self,
        number: u64,
        message: &Json<'r>,
        content: Option<Json<'r>>,
        at: Option<i64>,
    ) -> Json<'r>
    where
        's: 'r,
    {
        let mut row = self.row("messages", at);
        row.push("id", number);
        row.push_some("message_id", message.get("id").filter(|id| !id.is_null()).cloned());
        row.push("session_id", self.id);
        row.push_some("role", message.get("role").cloned());
        row.push_some("content_json", content);
        row.push_some("created_timestamp", message.get("created").cloned());
        row.push_some("metadata_json", message.get("metadata").cloned());
        row.into()
    }
}

fn copy<'r>(from: &Json<'r>, names: &[&'static str], row: &mut Object<'r>) {
    for name in names {
        row.push_some(*name, from.get(name).filter(|value| !value.is_null()).cloned());
    }
}

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests {
    use crate::gather::gathered;

    const HEADER: &str = r#"{"working_dir":"/srv/app","description":"Fix it","message_count":2,"total_tokens":30,"accumulated_input_tokens":40,"accumulated_output_tokens":null}"#;
    const PROMPT: &str =
        r#"{"role":"user","created":1748779200,"content":[{"type":"text","text":"fix it"}]}"#;

    #[test]
    fn a_file_becomes_the_rows_of_the_tables() {
        let rows =
            gathered("x/20250601_120000.jsonl", &format!("{HEADER}\n{PROMPT}\n{{torn")).unwrap();
        assert_eq!(
            rows.lines().collect::<Vec<_>>(),
            [
                r#"{"table":"sessions","timestamp":1748779200000,"id":"20250601_120000","description":"Fix it","working_dir":"/srv/app"}"#,
                r#"{"table":"messages","timestamp":1748779200000,"id":1,"session_id":"20250601_120000","role":"user","content_json":[{"type":"text","text":"fix it"}],"created_timestamp":1748779200}"#,
                "{torn",
                r#"{"table":"sessions","timestamp":1748779200000,"totals":true,"id":"20250601_120000","total_tokens":30,"accumulated_input_tokens":40}"#,
            ]
        );
    }

    #[test]
    fn a_session_may_lack_its_header_or_its_messages() {
        let rows = gathered("s.jsonl", PROMPT).unwrap();
        assert!(rows.starts_with(r#"{"table":"messages""#) && rows.lines().count() == 1);
        assert_eq!(gathered("s.jsonl", HEADER).unwrap().lines().count(), 2);
        for other in [r#"{"role":"user","content":"x"}"#, r#"{"working_dir":"/x"}"#] {
            assert_eq!(gathered("s.jsonl", other), None, "{other}");
        }
    }
}
