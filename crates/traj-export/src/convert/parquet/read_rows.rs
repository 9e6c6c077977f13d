//! All rows of a bundle, each with the totals up to it.

use std::ops::ControlFlow;

use traj_core::port::{BundleSource, BundleSourceError};
use traj_core::run::{Fold, Prices};
use traj_core::timestamp::UnixMillis;

use super::event_row::{EventRow, EventRows};
use super::session_row::SessionRow;
use crate::inspect::run_events::read_facts;

/// The event that follows a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a number and a time")]
pub struct NextEvent {
    /// Its number.
    pub seq: u64,
    /// When it happened.
    pub at: Option<UnixMillis>,
}

/// The totals of a session up to one of its events, computed when they are asked
/// for.
pub trait StatedTotals {
    /// As a row of a segment that begins with the event `first_seq` and ends with
    /// the event `last_seq`, which is the one that was read last.
    fn up_to(&self, first_seq: u64, last_seq: u64) -> SessionRow;
}

impl StatedTotals for Fold {
    fn up_to(&self, first_seq: u64, last_seq: u64) -> SessionRow {
        SessionRow::of(&self.so_far(), first_seq, last_seq)
    }
}

/// Takes an event, the one that follows, and the totals up to it.
pub type RowVisitor<'v> =
    dyn FnMut(EventRow, Option<NextEvent>, &dyn StatedTotals) -> ControlFlow<()> + 'v;

/// Passes each event of a bundle to `visit`, with the event that follows and the
/// totals up to it, until `visit` breaks. Memory does not grow with the number of
/// events.
///
/// # Errors
/// If the bundle cannot be read.
pub fn read_event_rows(
    bundle: &dyn BundleSource,
    prices: &Prices,
    visit: &mut RowVisitor<'_>,
) -> Result<(), BundleSourceError> {
    // The first time, to learn what all rows have in common.
    let mut fold = Fold::new(prices.clone()).without_moments();
    read_facts(bundle, &mut |event| {
        fold.push(event);
        ControlFlow::Continue(())
    })?;
    let mut rows = EventRows::new(&fold.finish());
    let mut fold = Fold::new(prices.clone()).without_moments();
    let (mut line, mut flow) = (0, ControlFlow::Continue(()));
    read_facts(bundle, &mut |event| {
        let seq = event.place.line;
        if seq != line
            && let Some(row) = rows.end_event()
        {
            flow = visit(row, Some(NextEvent { seq, at: event.at }), &fold);
        }
        line = seq;
        let taken = fold.read(event);
        // Facts of a manifest are not on a line.
        if seq > 0 && flow.is_continue() {
            // The row before was taken when this event began.
            rows.take(event, &taken);
        }
        flow
    })?;
    if let (Some(row), ControlFlow::Continue(())) = (rows.finish(), flow) {
        // It is the last one: nothing is left to end.
        let _flow = visit(row, None, &fold);
    }
    Ok(())
}
