//! Lines of several events in one piece of memory: what a line costs in
//! allocations is most of what a small event costs.

use std::sync::Arc;

use super::pending_line::{BlockText, Place, UnnumberedLine};
use super::{Capture, NUMBER_DIGITS, Prepared, cut, write_behind_numbers};
use crate::event::Event;
use crate::json::Json;
use crate::redaction::{Redacted, RedactionReport};
use crate::timestamp::UnixMillis;

/// Bytes that both numbers of a line and their names take at most.
const NUMBERS_BYTES: usize = 64 + 2 * NUMBER_DIGITS;

/// Redacted, cut and encoded events, in order.
#[derive(Debug)]
pub struct LineBlock<'c> {
    capture: &'c Capture,
    text: String,
    /// How far the text holds complete lines.
    complete: usize,
    events: Vec<Slot<'c>>,
    /// Data that was written. It is freed where the block is finished: threads
    /// that free what the host allocated stop each other at its allocator.
    spent: Vec<Redacted<Json<'static>>>,
    /// The time of the last event and how it is written: the next one is
    /// likely to have the same.
    stamp: Option<(UnixMillis, String)>,
}

/// An event of a block.
#[derive(Debug)]
enum Slot<'c> {
    Line(Place),
    Apart(Box<Prepared<'c>>),
    Nothing,
}

/// What became of an event that was added to a block.
#[derive(Debug)]
#[non_exhaustive]
pub enum Captured<'c> {
    /// A line that wants its numbers and nothing else.
    Line(UnnumberedLine),
    /// An event with texts to store before its line, or one that may not fit.
    Apart(Box<Prepared<'c>>),
    /// The event was lost to a defect.
    Nothing,
}

impl<'c> LineBlock<'c> {
    /// An empty block for about `events` events that uses the memory of
    /// `text`.
    #[must_use]
    pub fn new(capture: &'c Capture, mut text: String, events: usize) -> Self {
        text.clear();
        Self {
            capture,
            text,
            complete: 0,
            events: Vec::with_capacity(events),
            spent: Vec::with_capacity(events),
            stamp: None,
        }
    }

    /// Redacts an event, cuts it to the limits and adds its line.
    pub fn add(&mut self, event: Event, now: UnixMillis) {
        let slot = self.capture_event(event, now);
        if matches!(slot, Slot::Line(_)) {
            self.complete = self.text.len();
        }
        self.events.push(slot);
    }

    /// Takes note of an event that met a defect, perhaps within
    /// [`Self::add`]: it keeps its place and has no line.
    pub fn add_nothing(&mut self) {
        self.events.push(Slot::Nothing);
    }

    fn capture_event(&mut self, event: Event, now: UnixMillis) -> Slot<'c> {
        let Capture { redactor, limits, opening, context, kinds } = self.capture;
        let text = &mut self.text;
        // What an event without a line left.
        text.truncate(self.complete);
        let start = text.len();
        text.push_str(opening.as_ref());
        text.push(',');
        let frame_at = text.len();
        let mut report = RedactionReport::default();
        let at = event.at.unwrap_or(now);
        let stamp = match self.stamp.take() {
            Some((known, stamp)) if known == at => stamp,
            _ => at.to_iso(),
        };
        kinds.write_frame(redactor, &event.kind, &stamp, &mut report, text);
        self.stamp = Some((at, stamp));
        let numbers_at = text.len();
        let mut blobs = Vec::new();
        let data = event.into_data().map(|data| {
            let whole = redactor.json(Json::Object(data), &mut report);
            cut::to_limits(whole, limits, &mut blobs)
        });
        write_behind_numbers(context, data.as_ref(), text);
        if blobs.is_empty() && text.len() - start + NUMBERS_BYTES <= limits.line_bytes {
            self.spent.extend(data);
            return Slot::Line(Place { start, numbers_at, end: text.len() });
        }
        let frame = text.get(frame_at..numbers_at).unwrap_or_default().to_owned();
        let frame = Redacted::part_of_redacted(frame);
        Slot::Apart(Box::new(Prepared { capture: self.capture, frame, data, blobs, report }))
    }

    /// The events in their order, and the memory that their lines share.
    pub fn finish(self) -> (BlockMemory, impl Iterator<Item = Captured<'c>>) {
        let block = Arc::new(BlockText(self.text));
        let memory = BlockMemory(Arc::clone(&block));
        let captured = self.events.into_iter().map(move |slot| match slot {
            Slot::Line(place) => Captured::Line(UnnumberedLine::new(Arc::clone(&block), place)),
            Slot::Apart(prepared) => Captured::Apart(prepared),
            Slot::Nothing => Captured::Nothing,
        });
        (memory, captured)
    }
}

/// The memory that the lines of a block share.
#[derive(Debug)]
pub struct BlockMemory(Arc<BlockText>);

impl BlockMemory {
    /// Bytes that it can hold.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.0.0.capacity()
    }

    /// The memory, to be used again; `None` while there are lines in it.
    #[must_use]
    pub fn reclaim(self) -> Option<String> {
        Arc::into_inner(self.0).map(|text| text.0)
    }
}
