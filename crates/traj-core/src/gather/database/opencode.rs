//! opencode, and Kilo with the same tables: `session`, `message` and `part`, with
//! JSON in the column `data`.
//!
//! Parts do not say who wrote them, and a finished tool part does not show when
//! its call began among the other rows. So each row also gets:
//!
//! - `timestamp`: when it happened;
//! - `role`: who wrote the message of a part; `summary` if it replaces the
//!   conversation;
//! - `thread`: the session of a sub-agent, whose rows are merged in by time;
//! - `program`: in the row of the session, if another program than opencode wrote it;
//! - `inherited`: a message that a fork copied from its origin. Copies have new ids
//!   but keep their times, so they are older than their session.
//!
//! - `reverted`: the session again, at its end, if its conversation was rolled back.
//!
//! A finished tool part becomes two rows: as it was when the call began, and as it
//! is now. The row of an assistant's message comes after its parts, when its tokens
//! were known.

mod document;
mod timing;

use std::collections::{BTreeMap, BTreeSet};

pub(in crate::gather) use document::{is_export, rows_of_export};
use timing::{MessageFacts, PartTimes, call_of};

use super::merge::{Merge, SessionThreads, Slot};
use super::scans::{every_row, one_row, sessions_in, text_of, write_row};
use super::{DatabaseSession, millis_of};
use crate::gather::row_writer::TableRow;
use crate::gather::{GatherError, RowWriter};
use crate::json::{Json, Object};
use crate::port::{Cell, Scan, Tables};

const SESSION: &str = "session";
const MESSAGE: &str = "message";
const PART: &str = "part";

const SESSION_COLUMNS: [&str; 13] = [
    "id",
    "project_id",
    "parent_id",
    "slug",
    "directory",
    "title",
    "version",
    "agent",
    "model",
    "revert",
    "time_created",
    "time_updated",
    "time_archived",
];

const MESSAGE_COLUMNS: [&str; 5] = ["id", "session_id", "time_created", "time_updated", "data"];

const PART_COLUMNS: [&str; 6] =
    ["id", "message_id", "session_id", "time_created", "time_updated", "data"];

/// Columns that hold JSON texts.
const JSON: [&str; 3] = ["model", "revert", "data"];

/// Whether these are opencode's tables.
pub(super) fn recognises(tables: &dyn Tables) -> Result<bool, GatherError> {
    Ok(tables.has_table(SESSION)?
        && tables.has_table(MESSAGE)?
        && tables.has_table(PART)?
        && tables.has_column(SESSION, "directory")?
        && tables.has_column(PART, "message_id")?)
}

/// The sessions.
pub(in crate::gather) fn sessions(
    tables: &dyn Tables,
) -> Result<Vec<DatabaseSession>, GatherError> {
    let columns = ["id", "parent_id", "title", "directory", "time_updated"];
    sessions_in(tables, &Scan::of(SESSION, &columns), |id, row| DatabaseSession {
        id,
        parent: text_of(row.get(1)),
        title: text_of(row.get(2)),
        workspace: text_of(row.get(3)),
        changed: row.get(4).and_then(millis_of),
    })
}

/// Writes the rows of a session and of its sub-agents. `program` is the one that
/// wrote them, if it is not opencode.
pub(in crate::gather) fn rows_of_session(
    program: Option<&'static str>,
    tables: &dyn Tables,
    all: &[DatabaseSession],
    session: &DatabaseSession,
    rows: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    let threads = SessionThreads::of(all, session);
    let mut messages = BTreeMap::new();
    let slots = threads.merged(|id, stream, merge| {
        messages.extend(collect(tables, id, stream, merge)?);
        Ok(())
    })?;
    for slot in &slots {
        let is_session = matches!(slot.kind, SESSION_ROW | REVERT_ROW);
        let message = messages.get(slot.parent.as_deref().unwrap_or(&slot.id));
        let mut members = threads.members_of(slot);
        members.push_some("program", program.filter(|_| slot.kind == SESSION_ROW));
        write(tables, slot, members, message.filter(|_| !is_session), rows)?;
    }
    Ok(())
}

/// The kinds of rows.
const SESSION_ROW: u8 = 0;
const MESSAGE_ROW: u8 = 1;
const PART_ROW: u8 = 2;
/// A tool part, as it was when its call began.
const CALL_ROW: u8 = 3;
/// The session again, if its conversation went back.
const REVERT_ROW: u8 = 4;

/// Collects the keys of the rows of one session, in order. Returns what is known
/// of its messages.
fn collect(
    tables: &dyn Tables,
    id: &str,
    stream: u32,
    merge: &mut Merge,
) -> Result<BTreeMap<String, MessageFacts>, GatherError> {
    let key = Cell::Text(id.to_owned());
    let described = [("id", &key)];
    let scan = Scan::of(SESSION, &["time_created", "revert"]).with(&described);
    let facts = |row: &[Cell]| (row.first().and_then(millis_of), text_of(row.get(1)).is_some());
    let (created, is_reverted) = one_row(tables, &scan, facts)?.unwrap_or_default();
    merge.push(Slot::new(stream, SESSION_ROW, id.to_owned(), created))?;
    let own = [("session_id", &key)];
    let mut messages = BTreeMap::new();
    let mut order = BTreeSet::new();
    every_row(tables, &Scan::of(MESSAGE, &["id", "time_created", "data"]).with(&own), |row| {
        if let Some(id) = text_of(row.first()) {
            let at = row.get(1).and_then(millis_of);
            order.insert((at, id.clone()));
            messages.insert(id, MessageFacts::of(row.get(2), at, created));
        }
    })?;
    let mut parts: BTreeMap<String, BTreeMap<String, PartTimes>> = BTreeMap::new();
    let columns = ["id", "message_id", "time_created", "data"];
    every_row(tables, &Scan::of(PART, &columns).with(&own), |row| {
        if let (Some(id), Some(message)) = (text_of(row.first()), text_of(row.get(1))) {
            let times = PartTimes::of(row.get(3), row.get(2).and_then(millis_of));
            parts.entry(message).or_default().insert(id, times);
        }
    })?;
    for (at, message) in order {
        let facts = messages.get(&message).copied().unwrap_or_default();
        let own = || Slot::new(stream, MESSAGE_ROW, message.clone(), at.max(facts.completed));
        if !facts.is_assistant {
            merge.push(own())?;
        }
        for (part, times) in parts.remove(&message).unwrap_or_default() {
            // Copies of a fork were written later than what they show.
            let written = if facts.is_inherited { at } else { times.written };
            let slot = |kind, at| Slot::new(stream, kind, part.clone(), at).part_of(&message);
            if let Some(ended) = times.ended {
                merge.push(slot(CALL_ROW, times.started.or(written)))?;
                merge.push(slot(PART_ROW, Some(ended)))?;
            } else {
                merge.push(slot(PART_ROW, times.started.or(written)))?;
            }
        }
        if facts.is_assistant {
            merge.push(own())?;
        }
    }
    if is_reverted {
        merge.push(Slot::new(stream, REVERT_ROW, id.to_owned(), None))?;
    }
    Ok(messages)
}

/// Writes the row of a slot. `members` are some that no column has.
fn write(
    tables: &dyn Tables,
    slot: &Slot,
    mut members: Object<'_>,
    message: Option<&MessageFacts>,
    rows: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    let key = Cell::Text(slot.id.clone());
    let own = [("id", &key)];
    let scan = match slot.kind {
        SESSION_ROW | REVERT_ROW => Scan::of(SESSION, &SESSION_COLUMNS),
        MESSAGE_ROW => Scan::of(MESSAGE, &MESSAGE_COLUMNS),
        _ => Scan::of(PART, &PART_COLUMNS),
    };
    if slot.kind == REVERT_ROW {
        members.push("reverted", true);
    }
    if let Some(message) = message {
        members.push("role", message.role());
        if message.is_inherited {
            members.push("inherited", true);
        }
    }
    write_row(tables, &scan.with(&own), |cells| {
        let began = (slot.kind == CALL_ROW).then(|| began_of(cells)).flatten();
        let cells = began.as_deref().unwrap_or(cells);
        let row = TableRow { table: scan.table, columns: scan.columns, cells, parsed: &JSON };
        rows.text(&row.to_line(&members))
    })
}

/// A tool part, as it was when its call began.
fn began_of(cells: &[Cell]) -> Option<Vec<Cell>> {
    let (data, others) = cells.split_last()?;
    let text = data.as_str()?;
    let began = call_of(&Json::parse(text).ok()?)?;
    let mut line = String::new();
    began.write_compact(&mut line);
    Some(others.iter().cloned().chain([Cell::Text(line)]).collect())
}
