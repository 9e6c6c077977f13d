//! Reads the events of a bundle.

mod lines;

use std::ops::ControlFlow;

use traj_core::dialect::Dialect;
use traj_core::json::Json;
use traj_core::json::lines::Line;
use traj_core::port::{BundleContent, BundleFile, BundleSource, BundleSourceError};
use traj_core::run::{Place, RunEvent};

use crate::json_stream::long_rows;
use lines::for_each_line;

/// A row of `events.jsonl`.
#[derive(Debug)]
pub(crate) enum EventRow<'l> {
    /// An event.
    Event(&'l Json<'l>),
    /// An event that is too long to read.
    TooLong,
    /// A row that is not an event, and why.
    Damaged(&'static str),
}

/// Passes every row with its 1-based number to `visit`, until that returns a
/// break.
pub(crate) fn for_each_row(
    content: &mut dyn BundleContent,
    visit: &mut dyn FnMut(u64, EventRow<'_>) -> ControlFlow<()>,
) -> Result<(), BundleSourceError> {
    let mut number = 0;
    for_each_line(content, &mut |line| {
        number += 1;
        match line {
            Line::Whole(line) if long_rows::is_bomb(line) => {
                visit(number, EventRow::Damaged(NOT_AN_EVENT))
            }
            Line::Whole(line) => {
                let text = String::from_utf8_lossy(line);
                match Json::parse(&text) {
                    Ok(row) if Dialect::Bundle.type_name(&row).is_some() => {
                        visit(number, EventRow::Event(&row))
                    }
                    _ => visit(number, EventRow::Damaged(NOT_AN_EVENT)),
                }
            }
            Line::TooLong { is_cut: false, .. } => visit(number, EventRow::TooLong),
            Line::TooLong { .. } | Line::Cut(_) => visit(number, EventRow::Damaged("is cut")),
        }
    })
}

const NOT_AN_EVENT: &str = "is not an event";

/// Reads the events of a bundle as facts, in order, until `visit` has seen
/// enough. Returns how many rows are too long to read. Rows that are not events
/// are skipped: [`verify`](crate::verify()) reports them.
///
/// # Errors
/// If the bundle cannot be read, or is an archive that is not safe to read.
pub fn read_run_events(
    bundle: &dyn BundleSource,
    visit: &mut dyn FnMut(&RunEvent<'_>) -> ControlFlow<()>,
) -> Result<u64, BundleSourceError> {
    let mut too_long = 0;
    let mut flow = ControlFlow::Continue(());
    bundle.visit(&mut |path, content| {
        if BundleFile::parse(path) != Some(BundleFile::Events) || flow.is_break() {
            return Ok(());
        }
        for_each_row(content, &mut |number, row| {
            match row {
                EventRow::Event(row) => {
                    Dialect::Bundle.decode(row, Place::line(number), &mut |event| {
                        if flow.is_continue() {
                            flow = visit(&event);
                        }
                    });
                }
                EventRow::TooLong => too_long += 1,
                EventRow::Damaged(_) => {}
            }
            flow
        })
    })?;
    Ok(too_long)
}
