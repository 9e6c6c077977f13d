//! Why rows cannot be gathered.

use crate::port::{ScratchError, SourceError, TablesError};

/// Why the rows of a session cannot be gathered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatherError {
    /// No known program keeps sessions in such a database.
    #[error("no known program keeps its sessions in this database")]
    UnknownProgram,
    /// The database has no session with this id.
    #[error("the database has no session {session}")]
    NoSession {
        /// The session's id.
        session: String,
    },
    /// The database has no session at all.
    #[error("the database has no sessions")]
    Empty,
    /// The database has several sessions, and none was named.
    #[error("the database has {count} sessions")]
    SeveralSessions {
        /// How many.
        count: usize,
    },
    /// The rows need more space than the limit allows.
    #[error("the session is too large")]
    TooLarge,
    /// The compressed data, or the document, are damaged.
    #[error("the file is damaged")]
    Damaged,
    /// The database cannot be read.
    #[error(transparent)]
    Tables(#[from] TablesError),
    /// The rows cannot be stored.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// A file cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
}

impl GatherError {
    /// The same error, as that of the source with this name.
    #[must_use]
    pub fn into_source_error(self, name: &str) -> SourceError {
        let name = name.to_owned();
        match self {
            Self::Source(error) => error,
            Self::NoSession { .. } => SourceError::NotFound { name },
            Self::SeveralSessions { count } => SourceError::SeveralSessions { name, count },
            Self::TooLarge | Self::Tables(TablesError::TooLarge) => SourceError::TooLarge { name },
            Self::Tables(TablesError::Busy) => SourceError::Changed { name },
            error => SourceError::Storage { name, source: error.into() },
        }
    }
}
