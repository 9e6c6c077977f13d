//! What every program's module reads: all rows of a scan, one row, its sessions.

use std::ops::ControlFlow;

use super::DatabaseSession;
use crate::gather::GatherError;
use crate::port::{Cell, Scan, Tables};

/// Reads every row that a scan finds.
pub(super) fn every_row(
    tables: &dyn Tables,
    scan: &Scan<'_>,
    mut read: impl FnMut(&[Cell]),
) -> Result<(), GatherError> {
    tables.scan(scan, &mut |row| {
        read(row);
        ControlFlow::Continue(())
    })?;
    Ok(())
}

/// Reads the one row that a scan finds.
pub(super) fn one_row<T>(
    tables: &dyn Tables,
    scan: &Scan<'_>,
    read: impl FnOnce(&[Cell]) -> T,
) -> Result<Option<T>, GatherError> {
    let (mut read, mut found) = (Some(read), None);
    tables.scan(scan, &mut |row| {
        found = read.take().map(|read| read(row));
        ControlFlow::Break(())
    })?;
    Ok(found)
}

/// Writes the one row that a scan finds.
pub(super) fn write_row(
    tables: &dyn Tables,
    scan: &Scan<'_>,
    write: impl FnOnce(&[Cell]) -> Result<(), GatherError>,
) -> Result<(), GatherError> {
    one_row(tables, scan, write)?.unwrap_or(Ok(()))
}

/// The sessions in a table. A row without an id, its first column, is not one.
pub(super) fn sessions_in(
    tables: &dyn Tables,
    scan: &Scan<'_>,
    session: impl Fn(String, &[Cell]) -> DatabaseSession,
) -> Result<Vec<DatabaseSession>, GatherError> {
    let mut sessions = Vec::new();
    every_row(tables, scan, |row| {
        sessions.extend(text_of(row.first()).map(|id| session(id, row)));
    })?;
    Ok(sessions)
}

/// A text cell that is not blank.
pub(super) fn text_of(cell: Option<&Cell>) -> Option<String> {
    let text = cell?.as_str()?;
    (!text.trim().is_empty()).then(|| text.to_owned())
}
