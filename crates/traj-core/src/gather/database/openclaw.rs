//! OpenClaw since 2026.9: a transcript and the runtime events of every session in
//! tables. Both hold the rows of former files, so these are written as they are;
//! long rows are compressed.
//!
//! Row numbers are those of the table: the numbers inside runtime events start
//! again with every run.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::scans::{every_row, one_row, text_of, write_row};
use super::{DatabaseSession, millis_of};
use crate::gather::{GatherError, RowWriter};
use crate::json::{Json, Object};
use crate::port::{Cell, Scan, Tables};

const TRANSCRIPT: &str = "transcript_events";
const RUNTIME: &str = "trajectory_runtime_events";
const WINDOWS: &str = "session_windows";
const NODES: &str = "session_nodes";
const ACTIVE: &str = "session_transcript_active_events";
const IDENTITIES: &str = "transcript_event_identities";

/// The most rows of a session: their numbers are held in memory.
const MOST_ROWS: usize = 4_000_000;

/// Whether these are OpenClaw's tables.
pub(super) fn recognises(tables: &dyn Tables) -> Result<bool, GatherError> {
    Ok(tables.has_table(TRANSCRIPT)?
        && tables.has_column(TRANSCRIPT, "event_json")?
        && tables.has_column(TRANSCRIPT, "seq")?)
}

/// The sessions.
pub(super) fn sessions(tables: &dyn Tables) -> Result<Vec<DatabaseSession>, GatherError> {
    let mut current = BTreeMap::new();
    if tables.has_table(NODES)? {
        let columns = ["session_key", "current_session_id"];
        every_row(tables, &Scan::of(NODES, &columns), |row| {
            current.extend(text_of(row.first()).zip(text_of(row.get(1))));
        })?;
    }
    let mut sessions = BTreeMap::new();
    if tables.has_table(WINDOWS)? {
        let columns =
            ["session_id", "display_name", "parent_session_key", "spawned_by", "updated_at"];
        every_row(tables, &Scan::of(WINDOWS, &columns), |row| {
            if let Some(id) = text_of(row.first()) {
                let parent = text_of(row.get(2)).or_else(|| text_of(row.get(3)));
                let parent = parent.map(|key| current.get(&key).cloned().unwrap_or(key));
                let title = text_of(row.get(1));
                let changed = row.get(4).and_then(millis_of);
                let workspace = None;
                let session = DatabaseSession { id: id.clone(), parent, title, workspace, changed };
                sessions.insert(id, session);
            }
        })?;
    }
    // A session without rows has nothing to read.
    let mut filled = BTreeSet::new();
    for table in [TRANSCRIPT, RUNTIME] {
        if tables.has_table(table)? {
            every_row(tables, &Scan::of(table, &["session_id"]), |row| {
                filled.extend(text_of(row.first()));
            })?;
        }
    }
    let known = |id| {
        let unknown = |id: String| DatabaseSession { id, ..DatabaseSession::default() };
        sessions.remove(&id).unwrap_or_else(|| unknown(id))
    };
    Ok(filled.into_iter().map(known).collect())
}

/// The rows of the transcript.
pub(super) fn transcript(
    tables: &dyn Tables,
    session: &DatabaseSession,
    rows: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    let id = Cell::Text(session.id.clone());
    let numbers = numbers_of(tables, TRANSCRIPT, &id)?;
    for number in &numbers {
        let columns = ["event_json", "event_zstd", "navigation_json"];
        let number = Cell::Integer(*number);
        let one = [("session_id", &id), ("seq", &number)];
        let scan = Scan { packed: &["event_zstd"], ..Scan::of(TRANSCRIPT, &columns).with(&one) };
        write_row(tables, &scan, |row| match (row.first(), row.get(1)) {
            (Some(Cell::Text(event)), _) => rows.text(event),
            (_, Some(Cell::Blob(event))) => rows.text(&String::from_utf8_lossy(event)),
            (event, packed) => {
                let lost = [event, packed].into_iter().flatten().find_map(|cell| match cell {
                    Cell::TooLong(bytes) => Some(*bytes),
                    _ => None,
                });
                rows.row(&stand_in(row.get(2), lost))
            }
        })?;
    }
    match leaf(tables, &id, numbers.last().copied())? {
        Some(leaf) => rows.row(&leaf),
        None => Ok(()),
    }
}

/// Stands for an entry that cannot be read, so that the entries below it stay on
/// their branch.
fn stand_in(navigation: Option<&Cell>, bytes: Option<u64>) -> Json<'static> {
    let text = navigation.and_then(Cell::as_str).unwrap_or_default();
    let navigation = Json::parse(text).unwrap_or_default();
    let entry = navigation.get("report").and_then(|report| report.get("entry"));
    let mut row = Object::new();
    row.push("type", "unreadable");
    for name in ["id", "parentId", "timestamp"] {
        row.push_some(name, entry.and_then(|entry| entry.get(name)).cloned());
    }
    row.push_some("lostBytes", bytes);
    Json::from(row).into_owned()
}

/// A row that says where the active branch ends, if that is not the last row.
fn leaf(
    tables: &dyn Tables,
    session: &Cell,
    last: Option<i64>,
) -> Result<Option<Json<'static>>, GatherError> {
    if !tables.has_table(ACTIVE)? || !tables.has_table(IDENTITIES)? {
        return Ok(None);
    }
    let own = [("session_id", session)];
    let mut end: Option<(i64, i64)> = None;
    let columns = ["active_position", "event_seq"];
    every_row(tables, &Scan::of(ACTIVE, &columns).with(&own), |row| {
        let place = row.first().and_then(Cell::as_i64).zip(row.get(1).and_then(Cell::as_i64));
        end = end.max(place);
    })?;
    let Some((_, number)) = end.filter(|(_, number)| Some(*number) != last) else {
        return Ok(None);
    };
    let number = Cell::Integer(number);
    let one = [("session_id", session), ("seq", &number)];
    let scan = Scan::of(IDENTITIES, &["event_id"]).with(&one);
    let target = one_row(tables, &scan, |row| text_of(row.first()))?.flatten();
    Ok(target.map(|target| {
        let id = format!("leaf-{target}");
        let target = Json::from(target);
        Json::from(Object::from_iter([
            ("type", Json::from("leaf")),
            ("id", Json::from(id)),
            ("parentId", target.clone()),
            ("targetId", target),
        ]))
    }))
}

/// The runtime events, as a sidecar has them.
pub(super) fn runtime(
    tables: &dyn Tables,
    session: &DatabaseSession,
    rows: &mut RowWriter<'_>,
) -> Result<(), GatherError> {
    let no_events = || GatherError::NoSession { session: session.id.clone() };
    if !tables.has_table(RUNTIME)? {
        return Err(no_events());
    }
    let id = Cell::Text(session.id.clone());
    let numbers = numbers_of(tables, RUNTIME, &id)?;
    if numbers.is_empty() {
        return Err(no_events());
    }
    for number in numbers {
        let number = Cell::Integer(number);
        let one = [("session_id", &id), ("seq", &number)];
        write_row(tables, &Scan::of(RUNTIME, &["event_json"]).with(&one), |row| {
            // A row that cannot be read is a torn line, which readers count.
            rows.text(row.first().and_then(Cell::as_str).unwrap_or("{"))
        })?;
    }
    Ok(())
}

/// The numbers of a session's rows, in order.
fn numbers_of(tables: &dyn Tables, table: &str, session: &Cell) -> Result<Vec<i64>, GatherError> {
    let mut numbers = Vec::new();
    tables.scan(&Scan::of(table, &["seq"]).with(&[("session_id", session)]), &mut |row| {
        numbers.extend(row.first().and_then(Cell::as_i64));
        if numbers.len() > MOST_ROWS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if numbers.len() > MOST_ROWS {
        return Err(GatherError::TooLarge);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}
