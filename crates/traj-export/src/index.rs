//! The indexing pass: reads both inputs once and keeps a small record for each
//! row.
//!
//! - `visit`: reads every row of a source once;
//! - `session`: the entries of a session file;
//! - `branch`: the active branch of a session;
//! - `runtime`: the events of a sidecar;
//! - `order`: the order of events in the bundle;
//! - `record_store`: millions of small records in bounded memory;
//! - `sorter`: sorts such records.

mod branch;
mod order;
pub(crate) mod record_store;
mod runtime;
mod session;
pub(crate) mod sorter;
mod visit;

pub(crate) use branch::{BranchEntries, BranchStep, resolve};
pub(crate) use order::{EventOrigin, EventRecord};
pub(crate) use runtime::{RunEnding, RuntimeIndex, index_runtime};
pub(crate) use session::{EntryRecord, SessionIndex, SessionWriter, index_session, row_id};

use std::borrow::Cow;

use traj_core::dialect::transcript::trim;

/// A row as text, trimmed, and whether invalid bytes were replaced.
pub(crate) fn row_text(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(trim(text)), false),
        Err(_) => (Cow::Owned(trim(&String::from_utf8_lossy(bytes)).to_owned()), true),
    }
}
