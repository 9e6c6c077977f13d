//! opencode, and Kilo with the same tables: `session`, `message` and `part`, with
//! JSON in the column `data`.
//!
//! Parts do not say who wrote them, and a finished tool part does not show when
//! its call began among the other rows. So each row also gets:
//!
//! - `timestamp`: when it happened;
//! - `role`: whose message a part is of; `summary` if it replaces the conversation;
//! - `thread`: the session of a sub-agent, whose rows are merged in by time;
//! - `inherited`: a message that a fork copied from its origin. Copies have new ids
//!   but keep their times, so they are older than their session.
//!
//! - `reverted`: the session once more, at its end, if its conversation went back.
//!
//! A finished tool part becomes two rows: as it was when the call began, and as it
//! is now. The row of an assistant's message comes after its parts, when its tokens
//! were known.

mod document;
mod timing;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

pub(in crate::gather) use document::{is_export, rows_of_export};
use timing::{MessageFacts, PartTimes, call_of};

use super::merge::{Merge, Slot};
use super::{DatabaseSession, millis_of, said};
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
pub(super) fn sessions(tables: &dyn Tables) -> Result<Vec<DatabaseSession>, GatherError> {
    let mut sessions = Vec::new();
    let columns = ["id", "parent_id", "title", "directory", "time_updated"];
    tables.scan(&Scan::of(SESSION, &columns), &mut |row| {
        if let Some(id) = said(row.first()) {
            sessions.push(DatabaseSession {
                id,
                parent: said(row.get(1)),
                title: said(row.get(2)),
                workspace: said(row.get(3)),
                changed: row.get(4).and_then(millis_of),
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
    let threads = super::merge::with_sub_agents(all, session);
    let mut merge = Merge::default();
    let mut messages = BTreeMap::new();
    for (stream, id) in threads.iter().enumerate() {
        let stream = u32::try_from(stream).map_err(|_| GatherError::TooLarge)?;
        messages.extend(collect(tables, id, stream, &mut merge)?);
    }
    for slot in merge.into_order() {
        let thread = threads.get(slot.stream as usize).filter(|_| slot.stream > 0);
        let key = Cell::Text(slot.id.clone());
        let is_session = matches!(slot.kind, SESSION_ROW | REVERT_ROW);
        let message = messages.get(slot.parent.as_deref().unwrap_or(&slot.id));
        let message = message.filter(|_| !is_session);
        write(tables, &slot, &key, thread.copied(), message, rows)?;
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
    let (mut created, mut is_reverted) = (None, false);
    let columns = ["time_created", "revert"];
    tables.scan(&Scan::of(SESSION, &columns).with(&[("id", &key)]), &mut |row| {
        created = row.first().and_then(millis_of);
        is_reverted = said(row.get(1)).is_some();
        ControlFlow::Break(())
    })?;
    merge.push(Slot::new(stream, SESSION_ROW, id.to_owned(), created))?;
    let own = [("session_id", &key)];
    let mut messages = BTreeMap::new();
    let mut order = BTreeSet::new();
    tables.scan(&Scan::of(MESSAGE, &["id", "time_created", "data"]).with(&own), &mut |row| {
        if let Some(id) = said(row.first()) {
            let at = row.get(1).and_then(millis_of);
            order.insert((at, id.clone()));
            messages.insert(id, MessageFacts::of(row.get(2), at, created));
        }
        ControlFlow::Continue(())
    })?;
    let mut parts: BTreeMap<String, BTreeMap<String, PartTimes>> = BTreeMap::new();
    let columns = ["id", "message_id", "time_created", "data"];
    tables.scan(&Scan::of(PART, &columns).with(&own), &mut |row| {
        if let (Some(id), Some(message)) = (said(row.first()), said(row.get(1))) {
            let times = PartTimes::of(row.get(3), row.get(2).and_then(millis_of));
            parts.entry(message).or_default().insert(id, times);
        }
        ControlFlow::Continue(())
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

/// Writes the row of a slot.
fn write(
    tables: &dyn Tables,
    slot: &Slot,
    key: &Cell,
    thread: Option<&str>,
    message: Option<&MessageFacts>,
    rows: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    let own = [("id", key)];
    let scan = match slot.kind {
        SESSION_ROW | REVERT_ROW => Scan::of(SESSION, &SESSION_COLUMNS),
        MESSAGE_ROW => Scan::of(MESSAGE, &MESSAGE_COLUMNS),
        _ => Scan::of(PART, &PART_COLUMNS),
    };
    let mut members = Object::new();
    members.push_some("timestamp", slot.at);
    members.push_some("thread", thread);
    if slot.kind == REVERT_ROW {
        members.push("reverted", true);
    }
    if let Some(message) = message {
        members.push("role", message.role());
        if message.is_inherited {
            members.push("inherited", true);
        }
    }
    let mut written = Ok(());
    tables.scan(&scan.with(&own), &mut |cells| {
        let began = (slot.kind == CALL_ROW).then(|| began_of(cells)).flatten();
        let cells = began.as_deref().unwrap_or(cells);
        let row = TableRow { table: scan.table, columns: scan.columns, cells, parsed: &JSON };
        written = rows.text(&row.to_line(&members));
        ControlFlow::Break(())
    })?;
    written
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
