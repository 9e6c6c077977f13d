//! Storage for binding records.

use std::fmt::{self, Debug};

use crate::binding::{BindingRecord, RecordError};
use crate::id::ThreadId;

/// The adapter's cause.
type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The longest key in bytes; a suffix must still fit into a file name.
const LONGEST_KEY: usize = 200;

/// The key of a session's binding: the name of its session file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BindingKey(String);

impl BindingKey {
    /// Checks a name.
    ///
    /// # Errors
    /// The name is empty, too long, hidden, or could lead out of its directory.
    pub fn parse(name: &str) -> Result<Self, BindingKeyError> {
        let is_bad = name.is_empty()
            || name.len() > LONGEST_KEY
            || name.starts_with('.')
            || name.chars().any(|character| character.is_control() || "/\\".contains(character));
        if is_bad { Err(BindingKeyError) } else { Ok(Self(name.to_owned())) }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BindingKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A name that cannot be the key of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("a session file's name must be a plain name of at most {LONGEST_KEY} bytes")]
pub struct BindingKeyError;

/// The state of a record when it was read. Writing requires the latest one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision(String);

impl Revision {
    /// A revision with the adapter's own name for it.
    #[must_use]
    pub const fn new(name: String) -> Self {
        Self(name)
    }

    /// The adapter's name for it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A record as it was loaded.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoadedBinding {
    /// The record.
    pub record: BindingRecord,
    /// The state it was read in; `None` for another tool's record, which is not stored here yet.
    pub revision: Option<Revision>,
}

impl LoadedBinding {
    /// A record with its revision.
    #[must_use]
    pub const fn new(record: BindingRecord, revision: Option<Revision>) -> Self {
        Self { record, revision }
    }
}

/// Why a record cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindingStoreError {
    /// Another process wrote in the meantime; load and decide again.
    #[error("the binding of {key} was changed by another process")]
    Conflict {
        /// The session.
        key: BindingKey,
    },
    /// The stored record is unreadable. It was not removed; see [`BindingStore::set_aside`].
    #[error("cannot read the binding of {key}")]
    Unreadable {
        /// The session.
        key: BindingKey,
        /// What is wrong with it.
        #[source]
        reason: RecordError,
    },
    /// The records cannot be listed.
    #[error("cannot list the bindings")]
    Listing {
        /// The adapter's cause.
        source: Cause,
    },
    /// Storage failed for another reason.
    #[error("cannot store or load the binding of {key}")]
    Storage {
        /// The session.
        key: BindingKey,
        /// The adapter's cause.
        source: Cause,
    },
}

/// Stores one binding record per session.
///
/// Implementations MUST guarantee:
/// - a reader sees a complete record or none, even while another process writes or is killed;
/// - [`save`](Self::save) and [`clear`](Self::clear) compare and change atomically, also across
///   processes, and completed changes survive a crash of the machine;
/// - an unreadable record is an error; it is never treated as absent and never overwritten.
pub trait BindingStore: Debug + Send + Sync {
    /// The record of a session; `None` if it was never bound or the binding was removed.
    ///
    /// # Errors
    /// The record is unreadable, or storage fails.
    fn load(&self, key: &BindingKey) -> Result<Option<LoadedBinding>, BindingStoreError>;

    /// Stores a complete record if the stored state is still `expected`; `None` means that nothing
    /// is stored.
    ///
    /// # Errors
    /// Another process wrote in the meantime, the stored record is unreadable, or storage fails.
    fn save(
        &self,
        key: &BindingKey,
        record: &BindingRecord,
        expected: Option<&Revision>,
    ) -> Result<Revision, BindingStoreError>;

    /// Removes the binding if it is still to `thread`; returns whether it was.
    /// [`decide_clear`](crate::binding::decide_clear) decides how.
    ///
    /// # Errors
    /// The record is unreadable, or storage fails.
    fn clear(&self, key: &BindingKey, thread: &ThreadId) -> Result<bool, BindingStoreError>;

    /// Renames an unreadable record and returns its new name; `None` if the stored record is
    /// readable.
    ///
    /// # Errors
    /// Storage fails.
    fn set_aside(&self, key: &BindingKey) -> Result<Option<String>, BindingStoreError>;

    /// All sessions with a record, sorted.
    ///
    /// # Errors
    /// Storage fails.
    fn list(&self) -> Result<Vec<BindingKey>, BindingStoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_object_safe() {
        fn takes(_store: Option<&dyn BindingStore>) {}
        takes(None);
    }

    #[test]
    fn keys_stay_in_their_directory() {
        for bad in ["", ".", "..", "a/b", r"a\b", "a\0b", ".hidden", &"x".repeat(201)] {
            assert_eq!(BindingKey::parse(bad), Err(BindingKeyError), "{bad:?}");
        }
        assert_eq!(
            BindingKey::parse("s.jsonl").map(|key| key.to_string()),
            Ok("s.jsonl".to_owned())
        );
    }
}
