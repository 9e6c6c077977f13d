//! Tail: the newest events of a session as one readable line each, live.
//!
//! [`TailEvent`] is the summary of one line of a sidecar or transcript, made
//! after an [`EventFilter`] has redacted the line. [`LastEvents`] finds the
//! newest events of a file from its end. [`Follow`] reads a file that grows, is
//! truncated, rewritten or replaced, without losing or repeating an event. Both
//! add durations. All of it is free of I/O and bounded in memory, whatever the
//! file contains.

mod event;
mod filter;
mod follow;
mod last;
mod seen;
mod summary;
mod timings;

pub use event::{Severity, TailEvent};
pub use filter::{EventFilter, KeepNothing};
pub use follow::{FileState, Follow, ReadRange};
pub use last::LastEvents;
pub use timings::FARTHEST_START;

#[cfg(test)]
mod tests;
