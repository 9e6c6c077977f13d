//! The indexing pass: what is where, as small records.

mod branch;
mod order;
pub(crate) mod record_store;
mod runtime;
mod session;
pub(crate) mod sorter;
mod visit;

pub(crate) use branch::{Branch, BranchStep, resolve};
pub(crate) use order::{EventOrigin, EventRecord};
pub(crate) use runtime::{RunEnding, RuntimeIndex, index_runtime};
pub(crate) use session::{EntryRecord, SessionIndex, SessionWriter, index_session, row_id};

use std::borrow::Cow;

use traj_core::dialect::transcript::trim;

/// A row as text, without the blanks around it, and whether bytes had to be
/// replaced.
pub(crate) fn row_text(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(trim(text)), false),
        Err(_) => (Cow::Owned(trim(&String::from_utf8_lossy(bytes)).to_owned()), true),
    }
}
