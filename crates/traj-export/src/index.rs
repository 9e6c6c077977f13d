//! The indexing pass: what is where, as small records.

mod branch;
mod order;
mod runtime;
mod session;
mod visit;

pub(crate) use branch::{Branch, BranchStep, resolve};
pub(crate) use order::{EventOrigin, EventRecord};
pub(crate) use runtime::{Outcome, RuntimeIndex, index_runtime};
pub(crate) use session::{EntryRecord, SessionIndex, Writer, index_session, row_id};

use std::borrow::Cow;

use traj_core::dialect::Dialect;
use traj_core::dialect::transcript::{RowKind, Skeleton, trim};
use traj_core::event::RuntimeRow;
use traj_core::json::Json;
use traj_core::port::{Source, SourceError};

use crate::rows::RowReader;

/// A row as text, without the blanks around it, and whether bytes had to be
/// replaced.
pub(crate) fn row_text(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(trim(text)), false),
        Err(_) => (Cow::Owned(trim(&String::from_utf8_lossy(bytes)).to_owned()), true),
    }
}

/// How many rows are looked at for an id before giving up.
const ROWS_FOR_ID: u64 = 1_000;

/// The session id that a session file states in its header.
pub(crate) fn stated_by_session(source: &dyn Source) -> Result<Option<String>, SourceError> {
    let foreign = Writer::of(source)?.foreign();
    first_id(source, |row, text| {
        if foreign.is_some() {
            return Dialect::stated_session(text.as_bytes());
        }
        let is_header = Skeleton::read(row).is_some_and(|row| row.kind == RowKind::Header);
        if is_header { row.get("id").and_then(Json::as_str).map(str::to_owned) } else { None }
    })
}

/// The session id of the first event in a sidecar.
pub(crate) fn stated_by_runtime(source: &dyn Source) -> Result<Option<String>, SourceError> {
    first_id(source, |row, _| {
        RuntimeRow::from_json(row.clone()).ok().map(|event| event.session_id().to_owned())
    })
}

fn first_id(
    source: &dyn Source,
    id_of: impl Fn(&Json<'_>, &str) -> Option<String>,
) -> Result<Option<String>, SourceError> {
    let mut reader = RowReader::new(source);
    while let Some(row) = reader.next()? {
        let (text, _) = row_text(row.bytes.unwrap_or_default());
        let id = Json::parse_shallow(&text, 1).ok().and_then(|row| id_of(&row, &text));
        if id.as_ref().is_some_and(|id| !id.is_empty()) {
            return Ok(id);
        }
        if row.number >= ROWS_FOR_ID {
            break;
        }
    }
    Ok(None)
}
