//! Where binding records are kept.

use std::fmt::{self, Debug};

use crate::binding::{BindingRecord, RecordError};
use crate::id::ThreadId;

/// The adapter's cause.
type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Longest key in bytes, so that a suffix still fits into a file name.
const LONGEST_KEY: usize = 200;

/// The name under which a session's binding is kept: the name of its session file.
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

/// The state of a record when it was read. Writing needs the latest one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision(String);

impl Revision {
    /// A revision by the adapter's own naming.
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

/// A record as it was found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoadedBinding {
    /// The record.
    pub record: BindingRecord,
    /// The state it was read in; `None` for a record of another tool, which is not stored here yet.
    pub revision: Option<Revision>,
}

impl LoadedBinding {
    /// A record with the state it was read in.
    #[must_use]
    pub const fn new(record: BindingRecord, revision: Option<Revision>) -> Self {
        Self { record, revision }
    }
}

/// Why a record cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindingStoreError {
    /// Another process wrote in between; load and decide again.
    #[error("the binding of {key} was changed by another process")]
    Conflict {
        /// The session.
        key: BindingKey,
    },
    /// The stored record is unreadable. It is still there; see [`BindingStore::set_aside`].
    #[error("the binding of {key} cannot be read")]
    Unreadable {
        /// The session.
        key: BindingKey,
        /// What is wrong with it.
        #[source]
        reason: RecordError,
    },
    /// The records cannot be listed.
    #[error("the bindings cannot be listed")]
    Listing {
        /// The adapter's cause.
        source: Cause,
    },
    /// Storage failed for another reason.
    #[error("the binding of {key} cannot be stored or loaded")]
    Storage {
        /// The session.
        key: BindingKey,
        /// The adapter's cause.
        source: Cause,
    },
}

/// Keeps one binding record per session.
///
/// Implementations MUST keep these promises:
/// - a reader sees a whole record or none, even while another process writes or is killed;
/// - [`save`](Self::save) and [`clear`](Self::clear) compare and change in one step, also between
///   processes, and what they report done survives a crash of the machine;
/// - an unreadable record is an error, is never taken as absent, and is never overwritten.
pub trait BindingStore: Debug + Send + Sync {
    /// The record of a session; `None` when it was never bound or the binding was given up.
    ///
    /// # Errors
    /// The record is unreadable, or storage fails.
    fn load(&self, key: &BindingKey) -> Result<Option<LoadedBinding>, BindingStoreError>;

    /// Stores a whole record if the stored state is still `expected`; `None` means nothing is
    /// stored.
    ///
    /// # Errors
    /// Another process wrote in between, the stored record is unreadable, or storage fails.
    fn save(
        &self,
        key: &BindingKey,
        record: &BindingRecord,
        expected: Option<&Revision>,
    ) -> Result<Revision, BindingStoreError>;

    /// Gives the binding up if it is still to `thread`, and returns whether it was.
    /// [`decide_clear`](crate::binding::decide_clear) says how.
    ///
    /// # Errors
    /// The record is unreadable, or storage fails.
    fn clear(&self, key: &BindingKey, thread: &ThreadId) -> Result<bool, BindingStoreError>;

    /// Moves an unreadable record aside and returns the name it is kept under; `None` when the
    /// stored record is readable.
    ///
    /// # Errors
    /// Storage fails.
    fn set_aside(&self, key: &BindingKey) -> Result<Option<String>, BindingStoreError>;

    /// All sessions with a record, in order.
    ///
    /// # Errors
    /// Storage fails.
    fn list(&self) -> Result<Vec<BindingKey>, BindingStoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_can_be_a_trait_object() {
        fn takes(_store: Option<&dyn BindingStore>) {}
        takes(None);
    }

    #[test]
    fn keys_stay_in_their_folder() {
        for bad in ["", ".", "..", "a/b", r"a\b", "a\0b", ".hidden", &"x".repeat(201)] {
            assert_eq!(BindingKey::parse(bad), Err(BindingKeyError), "{bad:?}");
        }
        assert_eq!(
            BindingKey::parse("s.jsonl").map(|key| key.to_string()),
            Ok("s.jsonl".to_owned())
        );
    }
}
