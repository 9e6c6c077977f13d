//! Merges entries, runtime events and kept events into batches, in chronological
//! order.

use std::ops::Range;

use traj_core::redaction::{RedactedSpill, RedactedText, SpillSlot};

use super::entries::{BranchEntry, EntryRows};
use crate::error::ExportError;
use crate::index::sorter::Sorted;
use crate::index::{EventOrigin, EventRecord};
use crate::json_stream::row_fetcher::RowFetcher;
use crate::parallel::ordered::BatchFill;
use crate::parallel::reusable::Reusable;

/// Batches have about this many bytes.
const GROUP_BYTES: usize = 256 * 1024;

/// Items that one worker processes together.
#[derive(Default)]
pub(super) struct TimelineBatch {
    pub(super) items: Vec<BatchItem>,
    /// The rows of the items, concatenated.
    pub(super) rows: Vec<u8>,
    /// The events that were set aside, concatenated.
    pub(super) kept: RedactedText,
}

impl Reusable for TimelineBatch {
    fn room(&self) -> usize {
        self.items.room() + self.rows.room() + self.kept.capacity()
    }

    fn empty(&mut self) {
        self.items.clear();
        self.rows.clear();
        self.kept.clear();
    }
}

/// An item of a batch.
pub(super) enum BatchItem {
    Entry(BranchEntry),
    /// A sidecar row, as a range of `rows`.
    Runtime {
        place: Range<usize>,
        position: u64,
    },
    /// An event that was set aside: the lengths of its two parts, and its
    /// number among the transcript's events.
    Kept {
        head: usize,
        tail: usize,
        number: u64,
        is_seen: bool,
    },
}

/// The source of batches.
pub(super) struct Feed<'f, 's> {
    entries: Option<&'f mut EntryRows<'s>>,
    order: Option<Sorted<EventRecord>>,
    /// The next record in order.
    record: Option<EventRecord>,
    runtime: Option<&'f mut RowFetcher<'s>>,
    kept: Option<&'f mut RedactedSpill>,
}

impl<'f, 's> Feed<'f, 's> {
    /// Entries, which must be in chronological order, and runtime events.
    pub(super) const fn of_all(
        entries: Option<&'f mut EntryRows<'s>>,
        order: Sorted<EventRecord>,
        runtime: Option<&'f mut RowFetcher<'s>>,
    ) -> Self {
        Self { entries, order: Some(order), record: None, runtime, kept: None }
    }

    /// Entries alone.
    pub(super) const fn of_entries(entries: Option<&'f mut EntryRows<'s>>) -> Self {
        Self { entries, order: None, record: None, runtime: None, kept: None }
    }

    /// Runtime events and those that were set aside.
    pub(super) const fn of_events(
        order: Sorted<EventRecord>,
        runtime: Option<&'f mut RowFetcher<'s>>,
        kept: &'f mut RedactedSpill,
    ) -> Self {
        Self { entries: None, order: Some(order), record: None, runtime, kept: Some(kept) }
    }

    /// Fills an empty batch with the next items.
    pub(super) fn fill(&mut self, group: &mut TimelineBatch) -> Result<BatchFill, ExportError> {
        while group.rows.len() + group.kept.len() < GROUP_BYTES {
            let entry_at = match &mut self.entries {
                Some(entries) => entries.next_instant()?,
                None => None,
            };
            // At the same instant, runtime events come first.
            let is_before = |event: &EventRecord| entry_at.is_none_or(|at| event.instant <= at);
            match (self.peek_event()?.filter(is_before), &mut self.entries) {
                (Some(event), _) => {
                    self.record = None;
                    self.add_event(event, group)?;
                }
                (None, Some(entries)) if entry_at.is_some() => {
                    let entry = entries.next(&mut group.rows)?;
                    group.items.extend(entry.map(BatchItem::Entry));
                }
                (None, _) => break,
            }
        }
        let is_empty = group.items.is_empty();
        let bytes = group.rows.len() + group.kept.len();
        Ok(if is_empty { BatchFill::Done } else { BatchFill::of(bytes) })
    }

    fn peek_event(&mut self) -> Result<Option<EventRecord>, ExportError> {
        if self.record.is_none()
            && let Some(order) = &mut self.order
        {
            self.record = order.next()?;
        }
        Ok(self.record)
    }

    fn add_event(
        &mut self,
        event: EventRecord,
        group: &mut TimelineBatch,
    ) -> Result<(), ExportError> {
        let position = event.position;
        match event.origin {
            EventOrigin::Transcript { head, tail_length, is_seen } => {
                let Some(kept) = &mut self.kept else { return Ok(()) };
                // The tail comes directly after the head.
                let tail = SpillSlot::new(head.offset + u64::from(head.length), tail_length);
                let start = group.kept.len();
                kept.read_into(head, &mut group.kept)?;
                let gap = group.kept.len();
                kept.read_into(tail, &mut group.kept)?;
                let (head, tail) = (gap - start, group.kept.len() - gap);
                group.items.push(BatchItem::Kept { head, tail, number: position + 1, is_seen });
            }
            EventOrigin::Runtime(place) => {
                let Some(runtime) = &mut self.runtime else { return Ok(()) };
                let place = runtime.fetch_into(place, &mut group.rows)?.unwrap_or_default();
                group.items.push(BatchItem::Runtime { place, position });
            }
        }
        Ok(())
    }
}
