//! Crush: the tables `sessions` and `messages`, with JSON in the column `parts`,
//! and the versions of edited files in `files`.
//!
//! A tool's answer is a separate message. Times are milliseconds or seconds. The
//! rows of sub-agents, which have a parent session, are merged in by time; `thread`
//! names the sub-agent of each. The last row of a session states its cost.

use super::merge::{Merge, SessionThreads, Slot};
use super::scans::{every_row, one_row, sessions_in, text_of, write_row};
use super::{DatabaseSession, millis_of};
use crate::gather::row_writer::TableRow;
use crate::gather::{GatherError, RowWriter};
use crate::port::{Cell, Scan, Tables};

const SESSIONS: &str = "sessions";
const MESSAGES: &str = "messages";
const FILES: &str = "files";

const SESSION_COLUMNS: [&str; 9] = [
    "id",
    "parent_session_id",
    "title",
    "prompt_tokens",
    "completion_tokens",
    "cost",
    "summary_message_id",
    "todos",
    "created_at",
];

const MESSAGE_COLUMNS: [&str; 10] = [
    "id",
    "session_id",
    "role",
    "parts",
    "model",
    "provider",
    "is_summary_message",
    "created_at",
    "updated_at",
    "finished_at",
];

/// The content of a file is not shown: the calls that changed it state the change.
const FILE_COLUMNS: [&str; 5] = ["id", "session_id", "path", "version", "created_at"];

/// Columns that hold JSON texts.
const JSON: [&str; 2] = ["parts", "todos"];

/// The kinds of rows.
const SESSION_ROW: u8 = 0;
const MESSAGE_ROW: u8 = 1;
const FILE_ROW: u8 = 2;
const TOTALS_ROW: u8 = 3;

/// Whether these are Crush's tables.
pub(super) fn recognises(tables: &dyn Tables) -> Result<bool, GatherError> {
    Ok(tables.has_table(SESSIONS)?
        && tables.has_table(MESSAGES)?
        && tables.has_column(SESSIONS, "parent_session_id")?
        && tables.has_column(MESSAGES, "parts")?)
}

/// The sessions.
pub(super) fn sessions(tables: &dyn Tables) -> Result<Vec<DatabaseSession>, GatherError> {
    let columns = ["id", "parent_session_id", "title", "updated_at"];
    sessions_in(tables, &Scan::of(SESSIONS, &columns), |id, row| DatabaseSession {
        id,
        parent: text_of(row.get(1)),
        title: text_of(row.get(2)),
        workspace: None,
        changed: row.get(3).and_then(millis_of),
    })
}

/// The rows of a session and of its sub-agents.
pub(super) fn rows(
    tables: &dyn Tables,
    all: &[DatabaseSession],
    session: &DatabaseSession,
    rows: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    let threads = SessionThreads::of(all, session);
    let slots = threads.merged(|id, stream, merge| collect(tables, id, stream, merge))?;
    slots.iter().try_for_each(|slot| write(tables, slot, &threads, rows))
}

/// Collects the keys of the rows of one session, in order.
fn collect(
    tables: &dyn Tables,
    id: &str,
    stream: u32,
    merge: &mut Merge,
) -> Result<(), GatherError> {
    let key = Cell::Text(id.to_owned());
    let described = [("id", &key)];
    let scan = Scan::of(SESSIONS, &["created_at"]).with(&described);
    let created = one_row(tables, &scan, |row| row.first().and_then(millis_of))?.flatten();
    let mut own = Vec::new();
    for (table, kind) in [(MESSAGES, MESSAGE_ROW), (FILES, FILE_ROW)] {
        if kind == FILE_ROW && !tables.has_table(table)? {
            continue;
        }
        let scan = Scan::of(table, &["id", "created_at"]);
        every_row(tables, &scan.with(&[("session_id", &key)]), |row| {
            let at = row.get(1).and_then(millis_of);
            own.extend(text_of(row.first()).map(|id| (at, kind, id)));
        })?;
    }
    own.sort();
    merge.push(Slot::new(stream, SESSION_ROW, id.to_owned(), created))?;
    for (at, kind, id) in own {
        merge.push(Slot::new(stream, kind, id, at))?;
    }
    merge.push(Slot::new(stream, TOTALS_ROW, id.to_owned(), None))
}

/// Writes the row of a slot.
fn write(
    tables: &dyn Tables,
    slot: &Slot,
    threads: &SessionThreads<'_>,
    rows: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    let key = Cell::Text(slot.id.clone());
    let own = [("id", &key)];
    let scan = match slot.kind {
        MESSAGE_ROW => Scan::of(MESSAGES, &MESSAGE_COLUMNS),
        FILE_ROW => Scan::of(FILES, &FILE_COLUMNS),
        _ => Scan::of(SESSIONS, &SESSION_COLUMNS),
    };
    let mut members = threads.members_of(slot);
    if slot.kind == TOTALS_ROW {
        members.push("totals", true);
    }
    write_row(tables, &scan.with(&own), |cells| {
        let row = TableRow { table: scan.table, columns: scan.columns, cells, parsed: &JSON };
        rows.text(&row.to_line(&members))
    })
}
