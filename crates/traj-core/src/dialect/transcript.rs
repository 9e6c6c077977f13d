//! Session transcripts: rows, old versions, the active branch, and the events
//! that represent its entries.
//!
//! A transcript is a JSON Lines file: a header row, then entries that name their
//! parent. It is an append-only tree; the *active branch* is the path from the
//! current leaf to its root. Nothing here reads a file: rows come in as parsed
//! values, and the tree as small [`Skeleton`]s of fixed size, so that a session
//! of any size is walked without holding its texts.

mod active;
mod branch;
mod entry_key;
mod event;
mod instant;
mod line;
mod migration;
mod skeleton;

pub use super::openclaw::unknown_type;
pub use active::{ActiveBranch, EntryTree};
pub use branch::{
    BranchNode, BranchTable, BranchWarning, LeafTracker, ParentLink, branches_left, walk_branch,
};
pub use entry_key::EntryKey;
pub use event::{
    EventFrame, EventParts, TranscriptEvents, gives_events, is_tool_call, tool_call_arguments,
};
pub use instant::entry_instant;
pub use line::{is_blank, trim};
pub use migration::{LegacyLinks, SessionVersion, migrate};
pub use skeleton::{RowKind, Skeleton};
