//! What proves that a sidecar may go.

use crate::location::SidecarHead;

/// The result of examining an artefact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Proof {
    /// Its name says enough.
    ByName,
    /// It begins with an event of a trajectory.
    FirstEvent,
    /// It begins with an event of exactly the session it claims to belong to.
    OwnFirstEvent,
    /// As [`Self::OwnFirstEvent`], but nothing proves that the session was in
    /// this directory: it may well be there in another one.
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

    /// What the first line of a sidecar elsewhere proves about a session.
    #[must_use]
    pub fn of_relocated(line: &[u8], session_id: &str) -> Self {
        match SidecarHead::of_lines(line) {
            SidecarHead::EventOf(id) if id == session_id => Self::OwnFirstEvent,
            _ => Self::NotASidecar,
        }
    }
}
