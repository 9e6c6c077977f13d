//! goose: the tables `sessions` and `messages`. Messages have increasing ids.

use super::scans::{every_row, sessions_in, text_of, write_row};
use super::{DatabaseSession, millis_of};
use crate::gather::row_writer::TableRow;
use crate::gather::{GatherError, RowWriter};
use crate::json::{Json, Object};
use crate::port::{Cell, Scan, Tables};

const SESSIONS: &str = "sessions";
const MESSAGES: &str = "messages";

/// The columns of a session that become members of its row.
const SESSION_COLUMNS: [&str; 11] = [
    "id",
    "name",
    "description",
    "session_type",
    "working_dir",
    "created_at",
    "updated_at",
    "provider_name",
    "model_config_json",
    "recipe_json",
    "goose_mode",
];

/// The columns of its last row: the totals of all model calls.
const TOTAL_COLUMNS: [&str; 10] = [
    "id",
    "updated_at",
    "total_tokens",
    "input_tokens",
    "output_tokens",
    "accumulated_total_tokens",
    "accumulated_input_tokens",
    "accumulated_output_tokens",
    "provider_name",
    "model_config_json",
];

const MESSAGE_COLUMNS: [&str; 8] = [
    "id",
    "message_id",
    "session_id",
    "role",
    "content_json",
    "created_timestamp",
    "tokens",
    "metadata_json",
];

/// Columns that hold JSON texts.
const JSON: [&str; 4] = ["model_config_json", "recipe_json", "content_json", "metadata_json"];

/// A column that no other program's `messages` have.
const OWN_COLUMN: &str = "content_json";

/// Whether these are goose's tables.
pub(super) fn recognises(tables: &dyn Tables) -> Result<bool, GatherError> {
    Ok(tables.has_table(SESSIONS)?
        && tables.has_table(MESSAGES)?
        && tables.has_column(MESSAGES, OWN_COLUMN)?)
}

/// The sessions.
pub(super) fn sessions(tables: &dyn Tables) -> Result<Vec<DatabaseSession>, GatherError> {
    let columns = ["id", "name", "description", "working_dir", "updated_at"];
    sessions_in(tables, &Scan::of(SESSIONS, &columns), |id, row| DatabaseSession {
        id,
        parent: None,
        title: text_of(row.get(2)).or_else(|| text_of(row.get(1))),
        workspace: text_of(row.get(3)),
        changed: row.get(4).and_then(millis_of),
    })
}

/// The row of the session, its messages, and their totals.
pub(super) fn rows(
    tables: &dyn Tables,
    session: &DatabaseSession,
    rows: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    let id = Cell::Text(session.id.clone());
    let own = [("id", &id)];
    let described = Scan::of(SESSIONS, &SESSION_COLUMNS).with(&own);
    write(tables, &described, RowTime::In("created_at"), &[], rows)?;
    let mut messages = Vec::new();
    let mut last = Cell::Null;
    let keys = ["id", "created_timestamp"];
    every_row(tables, &Scan::of(MESSAGES, &keys).with(&[("session_id", &id)]), |row| {
        messages.extend(row.first().and_then(Cell::as_i64));
        let at = row.get(1).filter(|at| at.as_i64() > last.as_i64());
        last = at.unwrap_or(&last).clone();
    })?;
    messages.sort_unstable();
    for message in messages {
        let message = Cell::Integer(message);
        let one = [("id", &message)];
        let scan = Scan::of(MESSAGES, &MESSAGE_COLUMNS).with(&one);
        write(tables, &scan, RowTime::In("created_timestamp"), &[], rows)?;
    }
    let totals = [("totals", Json::from(true))];
    let scan = Scan::of(SESSIONS, &TOTAL_COLUMNS).with(&own);
    write(tables, &scan, RowTime::Is(&last), &totals, rows)
}

/// The time of a row.
enum RowTime<'t> {
    /// The value of this column.
    In(&'t str),
    Is(&'t Cell),
}

/// Writes the one row that a scan finds.
fn write(
    tables: &dyn Tables,
    scan: &Scan<'_>,
    time: RowTime<'_>,
    own: &[(&'static str, Json<'static>)],
    rows: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    write_row(tables, scan, |cells| {
        let place = |name| scan.columns.iter().position(|column| *column == name);
        let at = match time {
            RowTime::In(name) => place(name).and_then(|at| cells.get(at)),
            RowTime::Is(at) => Some(at),
        };
        let mut members = Object::new();
        members.push_some("timestamp", at.and_then(millis_of));
        own.iter().for_each(|(name, value)| members.push(*name, value.clone()));
        let row = TableRow { table: scan.table, columns: scan.columns, cells, parsed: &JSON };
        rows.text(&row.to_line(&members))
    })
}
