//! Crush: the tables `sessions` and `messages`, with JSON in the column `parts`,
//! and the versions of edited files in `files`.
//!
//! A tool's answer is a message of its own. Times are milliseconds or seconds. The
//! rows of sub-agents, which have a parent session, are merged in by time; each
//! says in `thread` whose it is. The last row of a session states its
//! cost.

use std::ops::ControlFlow;

use super::merge::{Merge, Slot, with_sub_agents};
use super::{DatabaseSession, millis_of, said};
use crate::gather::row_writer::TableRow;
use crate::gather::{GatherError, RowWriter};
use crate::json::Object;
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
    let mut sessions = Vec::new();
    let columns = ["id", "parent_session_id", "title", "updated_at"];
    tables.scan(&Scan::of(SESSIONS, &columns), &mut |row| {
        if let Some(id) = said(row.first()) {
            sessions.push(DatabaseSession {
                id,
                parent: said(row.get(1)),
                title: said(row.get(2)),
                workspace: None,
                changed: row.get(3).and_then(millis_of),
            });
        }
        ControlFlow::Continue(())
    })?;
    Ok(sessions)
}

/// The rows of a session and of its sub-agents.
pub(super) fn rows(
    tables: &dyn Tables,
    all: &[DatabaseSession],
    session: &DatabaseSession,
    rows: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    let threads = with_sub_agents(all, session);
    let mut merge = Merge::default();
    for (stream, id) in threads.iter().enumerate() {
        let stream = u32::try_from(stream).map_err(|_| GatherError::TooLarge)?;
        collect(tables, id, stream, &mut merge)?;
    }
    for slot in merge.into_order() {
        let thread = threads.get(slot.stream as usize).filter(|_| slot.stream > 0);
        write(tables, &slot, thread.copied(), rows)?;
    }
    Ok(())
}

/// Collects the keys of the rows of one session, in order.
fn collect(
    tables: &dyn Tables,
    id: &str,
    stream: u32,
    merge: &mut Merge,
) -> Result<(), GatherError> {
    let key = Cell::Text(id.to_owned());
    let mut created = None;
    tables.scan(&Scan::of(SESSIONS, &["created_at"]).with(&[("id", &key)]), &mut |row| {
        created = row.first().and_then(millis_of);
        ControlFlow::Break(())
    })?;
    let mut own = Vec::new();
    for (table, kind) in [(MESSAGES, MESSAGE_ROW), (FILES, FILE_ROW)] {
        if kind == FILE_ROW && !tables.has_table(table)? {
            continue;
        }
        let scan = Scan::of(table, &["id", "created_at"]);
        tables.scan(&scan.with(&[("session_id", &key)]), &mut |row| {
            let at = row.get(1).and_then(millis_of);
            own.extend(said(row.first()).map(|id| (at, kind, id)));
            ControlFlow::Continue(())
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
    thread: Option<&str>,
    rows: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    let key = Cell::Text(slot.id.clone());
    let own = [("id", &key)];
    let scan = match slot.kind {
        MESSAGE_ROW => Scan::of(MESSAGES, &MESSAGE_COLUMNS),
        FILE_ROW => Scan::of(FILES, &FILE_COLUMNS),
        _ => Scan::of(SESSIONS, &SESSION_COLUMNS),
    };
    let mut members = Object::new();
    members.push_some("timestamp", slot.at);
    members.push_some("thread", thread);
    if slot.kind == TOTALS_ROW {
        members.push("totals", true);
    }
    let mut written = Ok(());
    tables.scan(&scan.with(&own), &mut |cells| {
        let row = TableRow { table: scan.table, columns: scan.columns, cells, parsed: &JSON };
        written = rows.text(&row.to_line(&members));
        ControlFlow::Break(())
    })?;
    written
}
