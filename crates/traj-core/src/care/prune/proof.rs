//! What proves that a sidecar may be removed.

use crate::location::SidecarHead;

/// The result of examining an artefact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Proof {
    /// Its name is proof enough.
    ByName,
    /// It begins with a trajectory event.
    FirstEvent,
    /// It begins with an event of the very session it claims to belong to.
    OwnFirstEvent,
    /// Like [`Self::OwnFirstEvent`], but nothing proves that the session was in
    /// this directory: it may still exist in another one.
    Elsewhere,
    /// It is empty.
    Empty,
    /// It does not begin like a sidecar.
    NotASidecar,
    /// It is a link, has several names, or is not a regular file.
    NotPlain,
    /// It cannot be examined.
    Unreadable,
}

impl Proof {
    /// What the first line of a sidecar proves.
    #[must_use]
    pub fn of_first_line(line: &[u8]) -> Self {
        match SidecarHead::of_lines(line) {
            SidecarHead::EventOf(_) => Self::FirstEvent,
            SidecarHead::Blank if line.trim_ascii().is_empty() => Self::Empty,
            _ => Self::NotASidecar,
        }
    }

    /// What the first line of a relocated sidecar proves about a session.
    #[must_use]
    pub fn of_relocated(line: &[u8], session_id: &str) -> Self {
        match SidecarHead::of_lines(line) {
            SidecarHead::EventOf(id) if id == session_id => Self::OwnFirstEvent,
            _ => Self::NotASidecar,
        }
    }
}
