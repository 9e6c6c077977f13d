//! Outcomes: of shipping a session, and of sending the files that waited.

/// The outcome of shipping a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionShipped {
    /// The session's id.
    pub session: String,
    /// Names the session across hosts.
    pub trace_id: String,
    /// How many events it has.
    pub events: u64,
    /// How many of its segments the dataset had already.
    pub unchanged: u64,
    /// How many segments were stored.
    pub stored: u64,
    /// How many of them are new revisions.
    pub revised: u64,
    /// How many bytes their files have.
    pub bytes: u64,
    /// How many segments wait because the dataset cannot be reached.
    pub waiting: u64,
    /// How many events wait until the session ends or is idle.
    pub held: u64,
    /// Whether it was removed from the dataset on purpose, and is not shipped.
    pub is_forgotten: bool,
}

/// What is known of a session that did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// The dataset has it as it is, or will have it once the spool is sent.
    Unchanged,
    /// It was removed from the dataset on purpose.
    Forgotten,
}

/// The outcome of sending the files that waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drained {
    /// How many segments were sent.
    pub sent: u64,
    /// How many were dropped, because the dataset has other rows under their
    /// names, or must not have the session. Their sessions are compared with
    /// the dataset the next time.
    pub outdated: u64,
}

/// What waits on this host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpoolState {
    /// How many segments wait.
    pub segments: u64,
    /// How many bytes their files have.
    pub bytes: u64,
    /// How many were ever dropped to stay below the limit. They are made again
    /// if their sessions still exist.
    pub dropped: u64,
}
