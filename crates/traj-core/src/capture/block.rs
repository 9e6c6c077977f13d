//! Lines of several events in one allocation. Separate allocations would
//! dominate the cost of small events.

use std::sync::Arc;

use super::heading::LastTime;
use super::pending_line::{LineSpan, UnnumberedLine};
use super::{Capture, CutEvent, NUMBER_DIGITS, Prepared};
use crate::event::Event;
use crate::json::Json;
use crate::redaction::{Redacted, RedactedText};
use crate::timestamp::UnixMillis;

/// The most bytes that a line's two sequence numbers and their names take.
const NUMBERS_BYTES: usize = 64 + 2 * NUMBER_DIGITS;

/// Redacted, cut and encoded events, in order.
#[derive(Debug)]
pub struct LineBlock<'c> {
    capture: &'c Capture,
    text: RedactedText,
    /// The end of the last complete line.
    complete: usize,
    events: Vec<BlockEntry<'c>>,
    /// Data of events that are already written. It is freed where the block is
    /// finished: if worker threads freed what the host allocated, they would
    /// contend for its allocator.
    spent: Vec<Redacted<Json<'static>>>,
    last_time: LastTime,
}

/// An event of a block.
#[derive(Debug)]
enum BlockEntry<'c> {
    Line(LineSpan),
    Apart(Box<Prepared<'c>>),
    Nothing,
}

/// The result of adding an event to a block.
#[derive(Debug)]
#[non_exhaustive]
pub enum Captured<'c> {
    /// A line that only lacks its sequence numbers.
    Line(UnnumberedLine),
    /// An event with blobs to store before its line, or one that may not fit.
    Apart(Box<Prepared<'c>>),
    /// The event was lost to a defect.
    Nothing,
}

impl<'c> LineBlock<'c> {
    /// An empty block for about `events` events that reuses the memory of
    /// `text`.
    #[must_use]
    pub fn new(capture: &'c Capture, text: String, events: usize) -> Self {
        Self {
            capture,
            text: RedactedText::in_buffer(text),
            complete: 0,
            events: Vec::with_capacity(events),
            spent: Vec::with_capacity(events),
            last_time: LastTime::default(),
        }
    }

    /// Redacts an event, cuts it to the limits and adds its line.
    pub fn add(&mut self, event: Event, now: UnixMillis) {
        let entry = self.capture_event(event, now);
        if matches!(entry, BlockEntry::Line(_)) {
            self.complete = self.text.len();
        }
        self.events.push(entry);
    }

    /// Records that an event was lost to a defect, possibly inside
    /// [`Self::add`]. The event keeps its position but has no line.
    pub fn add_nothing(&mut self) {
        self.events.push(BlockEntry::Nothing);
    }

    fn capture_event(&mut self, event: Event, now: UnixMillis) -> BlockEntry<'c> {
        let text = &mut self.text;
        // Removes the remains of an event that has no line.
        text.truncate(self.complete);
        let line = self.capture.begin_line(text);
        let CutEvent { data, blobs, report } =
            self.capture.redact_and_cut(event, now, &mut self.last_time, text);
        let numbers_at = text.len();
        let span = self.capture.end_line(&line, data.as_ref(), text);
        if blobs.is_empty()
            && span.end - span.start + NUMBERS_BYTES <= self.capture.limits.line_bytes
        {
            self.spent.extend(data);
            return BlockEntry::Line(span);
        }
        let heading = text.part(line.heading_at..numbers_at);
        let capture = self.capture;
        BlockEntry::Apart(Box::new(Prepared { capture, heading, data, blobs, report }))
    }

    /// The events in order, and the memory that their lines share.
    pub fn finish(self) -> (BlockMemory, impl Iterator<Item = Captured<'c>>) {
        let block = Arc::new(self.text);
        let memory = BlockMemory(Arc::clone(&block));
        let captured = self.events.into_iter().map(move |entry| match entry {
            BlockEntry::Line(span) => Captured::Line(UnnumberedLine::new(Arc::clone(&block), span)),
            BlockEntry::Apart(prepared) => Captured::Apart(prepared),
            BlockEntry::Nothing => Captured::Nothing,
        });
        (memory, captured)
    }
}

/// The memory that the lines of a block share.
#[derive(Debug)]
pub struct BlockMemory(Arc<RedactedText>);

impl BlockMemory {
    /// Its capacity in bytes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// The memory for another block; `None` while lines still use it.
    #[must_use]
    pub fn reclaim(self) -> Option<String> {
        Arc::into_inner(self.0).map(|text| text.finish().into_inner())
    }
}
