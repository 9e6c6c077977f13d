//! Trimming: replaces the text of a past tool result with a short one.
//!
//! An agent names one of its past tool calls and, optionally, a summary. The call
//! is *queued*, and *drained* when the agent's turn has ended, because a host
//! does not expect its session to change while the model is working. A drain
//! rewrites the result's text and shortens the trim call itself, which would
//! otherwise contain the summary a second time. The copies in the trajectory
//! sidecar and in its blobs are trimmed too. See `docs/format/trim-v1.md`.
//!
//! Everything here only decides; reading and writing is done through
//! [`SessionRewriter`](crate::port::SessionRewriter) and
//! [`LineLog`](crate::port::LineLog).
//!
//! ```
//! use traj_core::care::trim::{TrimEdit, TrimItem};
//! use traj_core::port::{LineEdit, LineVerdict};
//!
//! let item = TrimItem::parse("call-1", Some("nothing of interest"), None)?;
//! let mut edit = TrimEdit::new(&[item]);
//! let line = br#"{"type":"message","message":{"role":"toolResult","toolCallId":"call-1","content":[{"type":"text","text":"a long listing"}]}}"#;
//! let LineVerdict::Replace(trimmed) = edit.line(line) else { panic!("the line is trimmed") };
//! assert!(String::from_utf8(trimmed)?.contains("[trimmed by self] nothing of interest"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod auto;
mod drain;
mod edit;
mod item;
mod journal;
mod locate;
mod log_line;
mod queue;
mod undo;

pub use auto::{Age, AutoEdit, AutoPolicy, AutoReport, AutoSurvey, AutoTotals, auto_trim};
pub use drain::{DrainReport, DrainRequest, TrimError, TrimPorts, drain, has_tool_result};
pub use edit::{SidecarEdit, Tally, TrimEdit};
pub use item::{SENTINEL, TOOL_NAME, TrimItem, tool_definition};
pub use journal::{JournalWriter, TrimmedFile, UndoRecord, WithJournal, expire, journal_beside};
pub use locate::{SessionContext, SessionLookupError, host_session_file};
pub use queue::{
    PendingTrims, QueueEntry, QueueError, QueuedReply, enqueue, pending_trims, queue_beside,
    queued_session,
};
pub use undo::{UndoEdit, UndoReport, UndoSelection, UndoableTrim, undo, undoable};

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests;
