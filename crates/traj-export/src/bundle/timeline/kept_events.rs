//! Transcript events whose position among the others is not known yet.

use traj_core::dialect::transcript::TranscriptEvents;
use traj_core::port::{BundleSinkError, Scratch};
use traj_core::redaction::{RedactedSpill, SpillSlot};

use super::work::BatchOutput;
use crate::index::record_store::Spool;
use crate::index::sorter::Sorter;
use crate::index::{EventOrigin, EventRecord};

/// Events in the order of their entries, each complete except for its numbers.
pub(super) struct KeptEvents {
    spill: RedactedSpill,
    count: u64,
}

impl KeptEvents {
    pub(super) fn new(scratch: Box<dyn Scratch>) -> Self {
        Self { spill: RedactedSpill::new(scratch), count: 0 }
    }

    /// How many events there are.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// The spill to read them back from.
    pub(super) const fn spill(&mut self) -> &mut RedactedSpill {
        &mut self.spill
    }

    /// Sets the events of a batch aside, and adds their records to `order`.
    pub(super) fn add(
        &mut self,
        done: &mut BatchOutput,
        order: &mut Sorter<EventRecord>,
        spool: &dyn Spool,
    ) -> Result<(), BundleSinkError> {
        let (text, parts) = std::mem::take(&mut done.transcript).into_parts();
        let mut offset = self.spill.push(&text)?.offset;
        done.transcript = TranscriptEvents::in_buffers(text.into_inner(), parts);
        for line in done.lines.drain(..) {
            let (head_length, tail_length) = (length(line.head)?, length(line.tail)?);
            let head = SpillSlot::new(offset, head_length);
            offset += u64::from(head_length) + u64::from(tail_length);
            let origin = EventOrigin::Transcript { head, tail_length, is_seen: line.is_seen };
            let (instant, position) = (line.instant, self.count);
            order.push(EventRecord { instant, rank: position, position, origin }, spool)?;
            self.count += 1;
        }
        Ok(())
    }
}

fn length(part: usize) -> Result<u32, BundleSinkError> {
    u32::try_from(part).map_err(|_| BundleSinkError::TooLong)
}
