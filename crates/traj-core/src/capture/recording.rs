//! A recorder's decisions: when to retry, when to write fewer lines, when to
//! give up, and which losses to report.
//!
//! Nothing here waits or writes. The caller asks a [`Recording`] for the next
//! [`WriteStep`], executes it, and reports the result.
//!
//! In reading order:
//!
//! - `dropped`: events that were not written, by reason;
//! - `retries`: how long to pause after the storage failed;
//! - `plan`: the pending lines, and the steps that write them;
//! - this file: the state of one recording, which ties the others together.

mod dropped;
mod plan;
mod retries;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::time::Duration;

use crate::capture::{EventTooLarge, PendingLine};
use crate::event::{Event, TraceTruncated};
use crate::port::{Room, SidecarError, SidecarOptions};
use crate::settings::WhenFull;

pub use self::dropped::Dropped;
use self::plan::{WritePlan, bytes_in_file};
pub use self::retries::FinalRetries;
use self::retries::RetryBackoff;

/// The state of one recording, across events and failures.
#[derive(Debug)]
pub struct Recording {
    options: SidecarOptions,
    /// The number of the last event written in this run.
    last_number: u64,
    plan: WritePlan,
    /// Drops that a `trace.truncated` event has reported.
    reported: Dropped,
    /// The sidecar accepts only reports of drops from now on.
    is_full: bool,
    backoff: RetryBackoff,
}

/// What to do next with the pending lines.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteStep<'l> {
    /// Append these lines to the sidecar's ordinary room. Then call
    /// [`Recording::appended`] or [`Recording::append_failed`].
    Append(&'l [PendingLine]),
    /// The sidecar is full. These events are dropped; report them once, in the
    /// sidecar's reserve. They count as reported even if that fails.
    Close(Dropped),
    /// No lines are left to write.
    Done,
}

/// Whether there will be another chance to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// The recording goes on.
    Running,
    /// The recording ends: lines that cannot be written now are given up.
    Ending,
}

/// What happens to the lines after their steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AfterWrite {
    /// They are written, or dropped and counted: discard them.
    Settled,
    /// They stay pending. Try again after this time.
    Retry(Duration),
    /// They are given up, because the storage does not accept them. Count these
    /// drops.
    GivenUp(Dropped),
}

impl Recording {
    /// A recording that has written nothing yet.
    #[must_use]
    pub fn new(options: SidecarOptions) -> Self {
        Self {
            options,
            last_number: 0,
            plan: WritePlan::default(),
            reported: Dropped::default(),
            is_full: false,
            backoff: RetryBackoff::default(),
        }
    }

    /// The number of the next event in its run.
    #[must_use]
    pub fn next_number(&self) -> u64 {
        self.last_number + self.plan.len() as u64 + 1
    }

    /// The number of pending lines.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.plan.len()
    }

    /// Whether the sidecar is full: further events are dropped.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.is_full
    }

    /// How long to pause before the next try, if the storage failed.
    #[must_use]
    pub const fn pause(&self) -> Option<Duration> {
        self.backoff.pause()
    }

    /// Adds a pending line.
    ///
    /// # Errors
    /// When the line does not fit into a rolling sidecar at all. Such a sidecar
    /// is never closed, so the loss must be reported now.
    pub fn push(&mut self, line: PendingLine) -> Result<(), EventTooLarge> {
        let bytes = bytes_in_file(&line);
        let capacity = self.options.capacity(Room::Ordinary);
        if self.options.when_full == WhenFull::Roll && bytes as u64 > capacity {
            let limit = usize::try_from(capacity).unwrap_or(usize::MAX);
            return Err(EventTooLarge::new(bytes, limit));
        }
        self.plan.push(line);
        Ok(())
    }

    /// The next step for the pending lines.
    #[must_use]
    pub fn next_step(&mut self) -> WriteStep<'_> {
        if let Some(dropped) = self.plan.take_beyond() {
            self.is_full = true;
            self.reported.sidecar_full += dropped.sidecar_full;
            self.reported.bytes += dropped.bytes;
            return WriteStep::Close(dropped);
        }
        match self.plan.next() {
            [] => WriteStep::Done,
            lines => WriteStep::Append(lines),
        }
    }

    /// The lines of the last [`WriteStep::Append`] are in the sidecar.
    pub fn appended(&mut self) {
        self.last_number += self.plan.appended();
    }

    /// The lines of the last [`WriteStep::Append`] are not in the sidecar.
    /// Breaks if no further step can help now; [`Self::after_write`] then
    /// decides what happens to the lines.
    pub fn append_failed(&mut self, error: &SidecarError) -> ControlFlow<()> {
        match error {
            _ if self.may_take_half(error) && self.plan.halve() => ControlFlow::Continue(()),
            SidecarError::Full { room, .. } => self.plan.fit_into(*room),
            _ => ControlFlow::Break(()),
        }
    }

    /// Whether fewer lines could work: a full disk may have room for some, and
    /// a rolling sidecar cannot hold more than its capacity at once.
    fn may_take_half(&self, error: &SidecarError) -> bool {
        match error {
            SidecarError::Full { .. } => self.options.when_full == WhenFull::Roll,
            SidecarError::NoSpace { .. } => true,
            _ => false,
        }
    }

    /// What happens to the lines after the last step, given the error that
    /// ended the steps, if any. If the storage may recover, they stay pending,
    /// unless the recording ends.
    #[must_use]
    pub fn after_write(&mut self, error: Option<&SidecarError>, phase: Phase) -> AfterWrite {
        self.plan.end();
        let Some(error) = error else {
            self.backoff.reset();
            return AfterWrite::Settled;
        };
        if error.is_temporary() && phase == Phase::Running {
            return AfterWrite::Retry(self.backoff.failed());
        }
        self.backoff.reset();
        let (storage, bytes) = self.plan.abandon();
        AfterWrite::GivenUp(Dropped { storage, bytes, ..Dropped::default() })
    }

    /// Discards the pending lines, because writing them hit a defect. Returns
    /// how many there were.
    pub fn abandon(&mut self) -> u64 {
        self.backoff.reset();
        self.plan.abandon().0
    }

    /// The part of `dropped`, the total so far, that no event has reported yet;
    /// `None` if there is none.
    #[must_use]
    pub fn unreported(&self, dropped: &Dropped) -> Option<Dropped> {
        Some(dropped.since(&self.reported)).filter(|unreported| unreported.total() > 0)
    }

    /// Marks all drops counted so far as reported.
    pub fn mark_reported(&mut self, dropped: &Dropped) {
        self.reported = Dropped {
            // When a sidecar fills up, its drops are reported before they are
            // counted.
            sidecar_full: self.reported.sidecar_full.max(dropped.sidecar_full),
            bytes: self.reported.bytes.max(dropped.bytes),
            ..*dropped
        };
    }

    /// The event that reports drops, and the room that it may use.
    #[must_use]
    pub fn report_of(&self, dropped: &Dropped) -> (Event, Room) {
        let event = TraceTruncated {
            reason: dropped.reason(),
            dropped_events: dropped.total(),
            dropped_event_bytes: dropped.bytes,
            limit_bytes: self.options.limit_bytes,
        };
        (event.event(), if self.is_full { Room::Reserve } else { Room::Ordinary })
    }

    /// The number of a report in its run.
    #[must_use]
    pub const fn report_number(&self) -> u64 {
        self.last_number + 1
    }

    /// Call this once the report is in the sidecar.
    pub const fn report_written(&mut self) {
        self.last_number += 1;
    }
}
