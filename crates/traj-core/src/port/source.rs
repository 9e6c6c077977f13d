//! Reading sessions, sidecars and other inputs by position.

use std::fmt::Debug;

/// Why an input cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The file does not exist.
    #[error("file {name} does not exist")]
    NotFound {
        /// The file as it was asked for.
        name: String,
    },
    /// The file, or a directory on the way to it, is a link, or the file is not
    /// a regular one.
    #[error("{name} is a link or not a regular file")]
    NotRegular {
        /// The file as it was asked for.
        name: String,
    },
    /// The file is outside every readable directory.
    #[error("{name} is outside the readable directories")]
    Outside {
        /// The file as it was asked for.
        name: String,
    },
    /// The file is larger than one of its kind can be.
    #[error("{name} is too large")]
    TooLarge {
        /// The file as it was asked for.
        name: String,
    },
    /// The file was cut or rewritten while it was read.
    #[error("{name} changed while it was read")]
    Changed {
        /// The file as it was asked for.
        name: String,
    },
    /// Reading failed in a way that callers do not tell apart.
    #[error("cannot read {name}")]
    Storage {
        /// The file as it was asked for.
        name: String,
        /// The adapter's cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl SourceError {
    /// Whether the file does not exist.
    #[must_use]
    pub const fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }
}

/// Opens inputs by name.
///
/// Implementations never follow a link to the file or on the way to it below
/// the directory they were given, never block on a file that is not regular, and
/// refuse names that lead out of their folders.
pub trait Sources: Debug + Send + Sync {
    /// Opens a file for reading, fixed at the length it has now.
    ///
    /// # Errors
    /// As [`SourceError`] says.
    fn open(&self, name: &str) -> Result<Box<dyn Source>, SourceError>;

    /// Opens a sidecar that a pointer leads to, or a blob of one, which may lie
    /// outside the directories if the implementation allows it. Callers have to
    /// make sure that it belongs to the session.
    ///
    /// # Errors
    /// As [`SourceError`] says.
    fn open_relocated(&self, name: &str) -> Result<Box<dyn Source>, SourceError> {
        self.open(name)
    }
}

/// One opened input: a snapshot of the length it had when it was opened.
pub trait Source: Debug + Send + Sync {
    /// The length at the time of opening; later growth is not seen.
    fn len(&self) -> u64;

    /// Whether the input was empty when it was opened.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `buffer` from `offset`.
    ///
    /// # Errors
    /// [`SourceError::Changed`] when the input has become shorter than the
    /// part asked for.
    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), SourceError>;

    /// Checks that the bytes read so far are unchanged: growth is fine, anything
    /// else is a change.
    ///
    /// # Errors
    /// [`SourceError::Changed`] when it does not.
    fn check_unchanged(&self) -> Result<(), SourceError>;
}
