//! What proves that a sidecar may go.

use crate::event::RuntimeRow;
use crate::id::SessionId;
use crate::location::{Pointer, sidecar_candidates_in_folder};

/// What was found when an artefact was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Proof {
    /// Its name says enough.
    ByName,
    /// It begins with an event of a trajectory.
    FirstEvent,
    /// It begins with an event of the very session it is said to be of.
    OwnFirstEvent,
    /// It is empty.
    Empty,
    /// It does not begin like a sidecar.
    NotASidecar,
    /// It is a link, has several names, or is no regular file.
    NotPlain,
    /// It cannot be looked at.
    Unreadable,
}

impl Proof {
    /// What the first line of a sidecar proves.
    #[must_use]
    pub fn of_first_line(line: &[u8]) -> Self {
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        if text.is_empty() {
            return Self::Empty;
        }
        match RuntimeRow::parse(text) {
            Ok(_) => Self::FirstEvent,
            Err(_) => Self::NotASidecar,
        }
    }

    /// What the first line of a sidecar elsewhere proves about a session.
    #[must_use]
    pub fn of_relocated(line: &[u8], session_id: &str) -> Self {
        let text = String::from_utf8_lossy(line);
        match RuntimeRow::parse(text.trim()) {
            Ok(row) if row.session_id() == session_id => Self::OwnFirstEvent,
            _ => Self::NotASidecar,
        }
    }
}

/// Where a pointer beside a gone session leads, if what lies there may be
/// looked at: the pointer is marked as one, names the session, and its target
/// is absolute and carries the session's own file name.
#[must_use]
pub fn relocated_target<'p>(pointer: &'p Pointer, stem: &str) -> Option<&'p str> {
    let target = pointer.runtime_file.as_str();
    let session = SessionId::parse(pointer.session_id.as_str()).ok()?;
    let name = target.rsplit('/').next().unwrap_or_default();
    let has_own_name = sidecar_candidates_in_folder(&session).iter().any(|own| own == name);
    let is_beside = name == format!("{stem}.trajectory.jsonl");
    let is_clean = target.starts_with('/') && !target.split('/').any(|part| part == "..");
    (pointer.is_marked && is_clean && has_own_name && !is_beside).then_some(target)
}
