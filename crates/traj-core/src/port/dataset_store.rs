//! The files of a dataset: each is stored once, under a name that states its position.

use std::error::Error;
use std::fmt::{self, Debug};
use std::ops::ControlFlow;
use std::time::Duration;

/// A key is at most this long, so that it fits every object store.
const LONGEST_KEY: usize = 900;

/// The name of a file in a dataset, relative to the dataset's root: parts of
/// letters, digits, `.`, `_`, `=` and `-`, separated by slashes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DatasetKey(String);

/// A text that is not a [`DatasetKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the name of a file in a dataset has an empty part, a part of dots or a character that is not allowed"
)]
#[non_exhaustive]
pub struct DatasetKeyError;

impl DatasetKey {
    /// Checks a key.
    ///
    /// # Errors
    /// If it is too long, has an empty part, a part that begins with a dot, or
    /// other characters.
    pub fn parse(key: impl Into<String>) -> Result<Self, DatasetKeyError> {
        let key = key.into();
        let fits = key.len() <= LONGEST_KEY && key.split('/').all(is_part);
        if fits { Ok(Self(key)) } else { Err(DatasetKeyError) }
    }

    /// The key as a text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DatasetKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn is_part(part: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._=-".contains(&byte);
    !part.is_empty() && !part.starts_with('.') && part.bytes().all(is_plain)
}

/// The outcome of storing a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a file has its name, or something else has")]
pub enum Stored {
    /// It is stored, completely.
    New,
    /// The name exists. What it holds was not touched.
    Exists,
}

/// A file of a dataset, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a name and a size")]
pub struct DatasetFile {
    /// Its name.
    pub key: DatasetKey,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Why a dataset could not be used. A caller may try again after
/// [`Self::Busy`], and after nothing else.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetStoreError {
    /// The store does not answer, is overloaded, or somebody else is writing the
    /// same name. It is not known whether the file was stored.
    #[error("the dataset cannot be reached at the moment")]
    Busy {
        /// How long the store asks to wait.
        retry_after: Option<Duration>,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The store refuses these credentials, or has no bucket of this name.
    #[error("the dataset cannot be used with these credentials or under this name")]
    Denied {
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Anything else: a full disk, a link in place of a directory.
    #[error("the dataset cannot be used")]
    Failed {
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl DatasetStoreError {
    /// A temporary failure.
    #[must_use]
    pub fn busy(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Busy { retry_after: None, source: source.into() }
    }

    /// A permanent failure.
    #[must_use]
    pub fn failed(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed { source: source.into() }
    }

    /// Whether a caller may try again.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        matches!(self, Self::Busy { .. })
    }
}

/// Stores the files of one dataset.
///
/// A file that has a name is complete, and stays as it is until it is deleted.
/// Of several writers of one name, one stores its file; the others get an error.
pub trait DatasetStore: Debug + Send + Sync {
    /// Stores a file, unless the name exists.
    ///
    /// # Errors
    /// After an error it is not known whether the file was stored; it was stored
    /// completely or not at all.
    fn put_if_absent(&self, key: &DatasetKey, content: &[u8]) -> Result<Stored, DatasetStoreError>;

    /// The content of a file; `None` if there is no such file.
    ///
    /// # Errors
    /// If it cannot be read.
    fn get(&self, key: &DatasetKey) -> Result<Option<Vec<u8>>, DatasetStoreError>;

    /// Passes the files whose name begins with `prefix` to `visit`, each once
    /// and in no particular order, until `visit` breaks. What other programs
    /// keep at the same place, under a name that is not a [`DatasetKey`], is
    /// skipped.
    ///
    /// # Errors
    /// If they cannot be listed; a missing directory has no files.
    fn list(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(DatasetFile) -> ControlFlow<()>,
    ) -> Result<(), DatasetStoreError>;

    /// Removes a file, if it exists.
    ///
    /// # Errors
    /// If it cannot be removed.
    fn delete(&self, key: &DatasetKey) -> Result<(), DatasetStoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_cannot_leave_the_dataset() {
        for good in ["a", "traj/v1/events/date=2026-01-02/agent=x/0a-1b-1-r1.parquet"] {
            assert_eq!(DatasetKey::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "/", "/a", "a/", "a//b", ".", "../a", "a/../b", "a/.b", "a b", "a\\b", "ä"]
        {
            assert_eq!(DatasetKey::parse(bad), Err(DatasetKeyError), "{bad}");
        }
        assert!(DatasetKey::parse("a".repeat(LONGEST_KEY + 1)).is_err());
    }
}
