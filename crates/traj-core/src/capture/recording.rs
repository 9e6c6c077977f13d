//! What a recorder decides: when to try again, when to try fewer lines, when
//! to give up, and what it reports as missing.
//!
//! Nothing here waits or writes. Whoever executes a [`Recording`] asks for the
//! next [`WriteStep`], carries it out, and reports how that went.
//!
//! In reading order:
//!
//! - `dropped`: events that were not written, by reason;
//! - `retries`: how long to leave a failed storage alone;
//! - `plan`: the lines that wait, and the steps that write them;
//! - this file: the state of one recording, which ties those together.

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
use self::retries::Backoff;
pub use self::retries::FinalRetries;

/// The state of one recording, between events and over failures.
#[derive(Debug)]
pub struct Recording {
    options: SidecarOptions,
    /// The number of the last event of this run that was written.
    last_number: u64,
    plan: WritePlan,
    /// Drops that a `trace.truncated` event has reported.
    reported: Dropped,
    /// The sidecar takes nothing but reports of drops any more.
    is_full: bool,
    backoff: Backoff,
}

/// What to do next with the lines that wait.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteStep<'l> {
    /// Append these lines to the ordinary room of the sidecar. Then call
    /// [`Recording::appended`] or [`Recording::append_failed`].
    Append(&'l [PendingLine]),
    /// The sidecar is full. These events are dropped; report them once, in the
    /// reserve of the sidecar. They count as reported even if that fails.
    Close(Dropped),
    /// No line is left to write.
    Done,
}

/// Whether there will be another chance to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// The recording goes on.
    Running,
    /// The recording ends: what cannot be written now is given up.
    Ending,
}

/// What becomes of the lines after their steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AfterWrite {
    /// They are written, or dropped and counted: forget them.
    Settled,
    /// They wait. Try again after this time.
    Retry(Duration),
    /// They are given up: the storage will not take them. Count these drops.
    GivenUp(Dropped),
}

impl Recording {
    /// A recording of which nothing is written yet.
    #[must_use]
    pub fn new(options: SidecarOptions) -> Self {
        Self {
            options,
            last_number: 0,
            plan: WritePlan::default(),
            reported: Dropped::default(),
            is_full: false,
            backoff: Backoff::default(),
        }
    }

    /// The number that the next event has in its run.
    #[must_use]
    pub fn next_number(&self) -> u64 {
        self.last_number + self.plan.len() as u64 + 1
    }

    /// Lines that wait to be written.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.plan.len()
    }

    /// Whether the sidecar is full: events that come now are dropped.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.is_full
    }

    /// How long the storage is left alone, if it failed.
    #[must_use]
    pub const fn pause(&self) -> Option<Duration> {
        self.backoff.pause()
    }

    /// Adds a line to those that wait.
    ///
    /// # Errors
    /// When the line fits no sidecar that rolls on. Such a sidecar has no end at
    /// which the loss could be reported, so it is known now.
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

    /// The next step for the lines that wait.
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
    /// Breaks when no further step can help now; [`Self::after_write`] then says
    /// what becomes of the lines.
    pub fn append_failed(&mut self, error: &SidecarError) -> ControlFlow<()> {
        match error {
            _ if self.may_take_half(error) && self.plan.halve() => ControlFlow::Continue(()),
            SidecarError::Full { room, .. } => self.plan.fit_into(*room),
            _ => ControlFlow::Break(()),
        }
    }

    /// Whether fewer lines could work: more than the sidecar holds at once makes
    /// it roll on twice, and a full disk may have room for some.
    fn may_take_half(&self, error: &SidecarError) -> bool {
        match error {
            SidecarError::Full { .. } => self.options.when_full == WhenFull::Roll,
            SidecarError::NoSpace { .. } => true,
            _ => false,
        }
    }

    /// What becomes of the lines after the last step, with the error that ended
    /// the steps if there was one. A storage that may recover keeps them
    /// waiting, unless the recording ends.
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

    /// Forgets the lines that wait, because writing them met a defect. Returns
    /// how many they were.
    pub fn abandon(&mut self) -> u64 {
        self.backoff.reset();
        self.plan.abandon().0
    }

    /// The drops that no event has reported yet, if there are any, out of all
    /// that were counted so far.
    #[must_use]
    pub fn unreported(&self, dropped: &Dropped) -> Option<Dropped> {
        Some(dropped.since(&self.reported)).filter(|unreported| unreported.total() > 0)
    }

    /// All that was counted so far is reported.
    pub fn mark_reported(&mut self, dropped: &Dropped) {
        self.reported = Dropped {
            // A sidecar that just filled up is reported before it is counted.
            sidecar_full: self.reported.sidecar_full.max(dropped.sidecar_full),
            bytes: self.reported.bytes.max(dropped.bytes),
            ..*dropped
        };
    }

    /// The event that reports drops, and the room it may use.
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

    /// The number that a report has in its run.
    #[must_use]
    pub const fn report_number(&self) -> u64 {
        self.last_number + 1
    }

    /// The report is in the sidecar.
    pub const fn report_written(&mut self) {
        self.last_number += 1;
    }
}
