//! Reads sessions, sidecars and other inputs by position.

use std::fmt::Debug;

/// Why an input cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The file does not exist.
    #[error("file {name} does not exist")]
    NotFound {
        /// The file's name, as given.
        name: String,
    },
    /// The file or a directory on its path is a link, or the file is not a
    /// regular file.
    #[error("{name} is a link or not a regular file")]
    NotRegular {
        /// The file's name, as given.
        name: String,
    },
    /// The file is outside the readable directories.
    #[error("{name} is outside the readable directories")]
    Outside {
        /// The file's name, as given.
        name: String,
    },
    /// The file is larger than files of its kind can be.
    #[error("{name} is too large")]
    TooLarge {
        /// The file's name, as given.
        name: String,
    },
    /// The file holds several sessions, and the name does not say which one.
    #[error("{name} holds {count} sessions")]
    SeveralSessions {
        /// The file's name, as given.
        name: String,
        /// How many there are.
        count: usize,
    },
    /// The file was truncated or rewritten while it was read.
    #[error("{name} changed while it was read")]
    Changed {
        /// The file's name, as given.
        name: String,
    },
    /// Reading failed for another reason.
    #[error("cannot read {name}")]
    Storage {
        /// The file's name, as given.
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
/// Implementations never follow links below the directories they were given,
/// never block on a file that is not regular, and refuse names that lead out of
/// those directories.
pub trait Sources: Debug + Send + Sync {
    /// Opens a file for reading, limited to its current length.
    ///
    /// # Errors
    /// See [`SourceError`].
    fn open(&self, name: &str) -> Result<Box<dyn Source>, SourceError>;

    /// The names of the regular files directly inside a directory, in no order;
    /// none if it does not exist. At most 20,000 are listed.
    ///
    /// # Errors
    /// See [`SourceError`].
    fn list(&self, folder: &str) -> Result<Vec<String>, SourceError> {
        let _nothing = folder;
        Ok(Vec::new())
    }

    /// Opens a sidecar that a pointer names, or one of its blobs, which may be
    /// outside the directories if the implementation allows it. Callers must
    /// make sure that it belongs to the session.
    ///
    /// # Errors
    /// See [`SourceError`].
    fn open_relocated(&self, name: &str) -> Result<Box<dyn Source>, SourceError> {
        self.open(name)
    }
}

/// An open input, limited to the length it had when it was opened.
pub trait Source: Debug + Send + Sync {
    /// The length at the time of opening; later growth is ignored.
    fn len(&self) -> u64;

    /// Whether the input was empty when it was opened.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `buffer` from `offset`.
    ///
    /// # Errors
    /// [`SourceError::Changed`] if the input is now shorter than the requested
    /// range.
    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), SourceError>;

    /// Checks that the bytes read so far are unchanged; growth is allowed.
    ///
    /// # Errors
    /// [`SourceError::Changed`] if they changed.
    fn check_unchanged(&self) -> Result<(), SourceError>;
}
