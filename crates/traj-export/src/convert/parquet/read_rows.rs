//! All rows of a bundle, each with the totals up to it.

use std::ops::ControlFlow;

use traj_core::port::{BundleSource, BundleSourceError};
use traj_core::run::{Fold, Prices, Run};
use traj_core::timestamp::UnixMillis;

use super::event_row::{EventRow, EventRows, session_id, trace_id};
use super::long_texts::LongTexts;
use super::session_row::SessionRow;
use crate::inspect::run_events::{RowTexts, read_facts_with};

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

/// The totals so far, with the names of the whole session: its first events may not
/// state them.
struct Totals<'f> {
    fold: &'f Fold,
    whole: &'f Run,
}

impl StatedTotals for Totals<'_> {
    fn up_to(&self, first_seq: u64, last_seq: u64) -> SessionRow {
        let mut row = SessionRow::of(&self.fold.so_far(), first_seq, last_seq);
        row.agent.clone_from(&self.whole.agent);
        row.session_id = session_id(self.whole);
        row.trace_id = trace_id(self.whole.agent.as_deref(), &row.session_id);
        row
    }
}

/// Takes an event, the one that follows, and the totals up to it.
pub type RowVisitor<'v> =
    dyn FnMut(EventRow, Option<NextEvent>, &dyn StatedTotals) -> ControlFlow<()> + 'v;

/// Passes each event of a bundle to `visit`, with the event that follows and the
/// totals up to it, until `visit` breaks. Long texts of the bundle are gathered in
/// `texts`; rows have their beginnings, and name their files. Memory does not grow with the number of
/// events.
///
/// # Errors
/// If the bundle cannot be read.
pub fn read_event_rows(
    bundle: &dyn BundleSource,
    prices: &Prices,
    texts: &LongTexts,
    visit: &mut RowVisitor<'_>,
) -> Result<(), BundleSourceError> {
    // The first time, to learn what all rows have in common.
    let mut fold = Fold::new(prices.clone()).without_moments();
    let counts = read_facts_with(bundle, None, &mut |event| {
        fold.push(event);
        ControlFlow::Continue(())
    })?;
    let mut texts = (counts.with_long_texts > 0).then_some(texts);
    if let Some(texts) = texts {
        texts.gather(bundle)?;
    }
    let whole = fold.finish();
    let mut rows = EventRows::new(&whole);
    let mut fold = Fold::new(prices.clone()).without_moments();
    let (mut line, mut flow) = (0, ControlFlow::Continue(()));
    let texts = texts.as_mut().map(|texts| texts as &mut dyn RowTexts);
    read_facts_with(bundle, texts, &mut |event| {
        let seq = event.place.line;
        if seq != line
            && let Some(row) = rows.end_event()
        {
            let totals = Totals { fold: &fold, whole: &whole };
            flow = visit(row, Some(NextEvent { seq, at: event.at }), &totals);
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
        let _flow = visit(row, None, &Totals { fold: &fold, whole: &whole });
    }
    Ok(())
}
