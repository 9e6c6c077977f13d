//! Writes a bundle, completely or not at all.

use std::fmt::{self, Debug};

use super::{Scratch, ScratchError, Source};
use crate::capture::BlobDigest;
use crate::id::BundleName;
use crate::redaction::{Redacted, SpillError};

/// Why a bundle cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleSinkError {
    /// Something already has the bundle's name.
    #[error("a bundle called {name} already exists")]
    Exists {
        /// The bundle's name.
        name: String,
    },
    /// The bundle would be inside another bundle.
    #[error("the directory for {name} is itself a bundle")]
    InsideBundle {
        /// The bundle's name.
        name: String,
    },
    /// The name has a form that the sink reserves for its temporary files,
    /// which it deletes.
    #[error("{name} is reserved for unfinished bundles")]
    ReservedName {
        /// The bundle's name.
        name: String,
    },
    /// The directory for bundles is a link or is reached through one.
    #[error("the directory for {name} is a link or leads out of its root")]
    UnsafePlace {
        /// The bundle's name.
        name: String,
    },
    /// A file of this name was already written to the bundle.
    #[error("{file} was already written")]
    Repeated {
        /// The file in the bundle.
        file: BundleFile,
    },
    /// No space is left.
    #[error("no space left for the bundle {name}")]
    Full {
        /// The bundle's name.
        name: String,
    },
    /// A single string is longer than any file of a bundle may be.
    #[error("a single text is longer than 4 GiB")]
    TooLong,
    /// Scratch storage failed.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// The bundle is complete, but may be lost in a crash, and could not be
    /// removed either.
    #[error("the bundle {name} was written, but could not be synced to disk")]
    Unconfirmed {
        /// The bundle's name.
        name: String,
    },
    /// Writing failed for another reason.
    #[error("cannot write the bundle {name}")]
    Storage {
        /// The bundle's name.
        name: String,
        /// The adapter's cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl BundleSinkError {
    /// Whether more free space would help.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        matches!(self, Self::Full { .. } | Self::Scratch(ScratchError::Full))
    }
}

impl From<SpillError> for BundleSinkError {
    fn from(error: SpillError) -> Self {
        match error {
            SpillError::TooLong => Self::TooLong,
            SpillError::Scratch(error) => Self::Scratch(error),
        }
    }
}

/// A file of a bundle. Adapters never receive paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum BundleFile {
    /// `manifest.json`
    Manifest,
    /// `metadata.json`
    Metadata,
    /// `artifacts.json`
    Artifacts,
    /// `prompts.json`
    Prompts,
    /// `events.jsonl`
    Events,
    /// `session-branch.json`
    SessionBranch,
    /// `system-prompt.txt`
    SystemPrompt,
    /// `tools.json`
    Tools,
    /// `blobs/<sha256>.txt`: a long string, named after the digest in the
    /// recording.
    Blob([u8; 32]),
}

impl BundleFile {
    /// The most blobs in a bundle; archives with many more entries are
    /// rejected.
    pub const MOST_BLOBS: usize = 50_000;

    /// The files that every bundle has.
    pub const ALWAYS: [Self; 3] = [Self::Manifest, Self::Events, Self::SessionBranch];

    /// The directory of blobs.
    pub const BLOB_FOLDER: &str = "blobs";

    /// The files that a manifest lists a second time, if they exist.
    pub const SUPPLEMENTAL: [Self; 3] = [Self::Metadata, Self::Artifacts, Self::Prompts];

    /// The files that are not blobs, in the order of a manifest.
    pub const NAMED: [Self; 8] = [
        Self::Manifest,
        Self::Metadata,
        Self::Artifacts,
        Self::Prompts,
        Self::Events,
        Self::SessionBranch,
        Self::SystemPrompt,
        Self::Tools,
    ];

    /// The file of a blob.
    #[must_use]
    pub fn blob(digest: &BlobDigest) -> Self {
        // The name of a blob is always the digits of a digest.
        Self::Blob(parse_digest(digest.as_str()).unwrap_or_default())
    }

    /// The file with this path in a bundle.
    #[must_use]
    pub fn parse(path: &str) -> Option<Self> {
        if let Some(named) = Self::NAMED.into_iter().find(|file| file.to_string() == path) {
            return Some(named);
        }
        let digest = path.strip_prefix("blobs/")?.strip_suffix(".txt")?;
        parse_digest(digest).map(Self::Blob)
    }

    /// The media type of the content.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Events => "application/x-ndjson",
            Self::SystemPrompt | Self::Blob(_) => "text/plain; charset=utf-8",
            _ => "application/json",
        }
    }
}

impl fmt::Display for BundleFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Manifest => "manifest.json",
            Self::Metadata => "metadata.json",
            Self::Artifacts => "artifacts.json",
            Self::Prompts => "prompts.json",
            Self::Events => "events.jsonl",
            Self::SessionBranch => "session-branch.json",
            Self::SystemPrompt => "system-prompt.txt",
            Self::Tools => "tools.json",
            Self::Blob(digest) => {
                formatter.write_str("blobs/")?;
                digest.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))?;
                ".txt"
            }
        };
        formatter.write_str(name)
    }
}

/// Parses 64 lower-case hex digits.
fn parse_digest(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let digit = |at: usize| match pair[at] {
            value @ b'0'..=b'9' => Some(value - b'0'),
            value @ b'a'..=b'f' => Some(value - b'a' + 10),
            _ => None,
        };
        *byte = (digit(0)? << 4) | digit(1)?;
    }
    Some(digest)
}

/// What to do when a bundle's name is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameTaken {
    /// Fail: the user chose the name.
    Refuse,
    /// Append the next free number to the name.
    Renumber,
}

/// Creates bundles.
pub trait BundleSink: Debug + Send + Sync {
    /// Starts a bundle called `name`, which stays hidden until it is committed.
    ///
    /// # Errors
    /// [`BundleSinkError::Exists`] if the name is taken and must not be
    /// changed.
    fn begin(
        &self,
        name: &BundleName,
        taken: NameTaken,
    ) -> Result<Box<dyn BundleWriter>, BundleSinkError>;
}

/// An unfinished bundle. If it is dropped without [`BundleWriter::commit`],
/// nothing remains.
pub trait BundleWriter: Debug + Send + Sync {
    /// Creates an empty file in the bundle. Several may be written at the same
    /// time.
    ///
    /// # Errors
    /// [`BundleSinkError::Repeated`] if the file was already created.
    fn create(&mut self, file: BundleFile) -> Result<Box<dyn BundleFileWriter>, BundleSinkError>;

    /// Opens a finished file of this bundle for reading.
    ///
    /// # Errors
    /// When it was not written, or cannot be read.
    fn read_back(&self, file: BundleFile) -> Result<Box<dyn Source>, BundleSinkError>;

    /// An unnamed file for intermediate results, deleted when dropped.
    ///
    /// # Errors
    /// When no space is left for one.
    fn scratch(&self) -> Result<Box<dyn Scratch>, BundleSinkError>;

    /// Makes the bundle visible under its name, completely and durably. Returns
    /// its final name.
    ///
    /// # Errors
    /// [`BundleSinkError::Exists`] if the name was taken in the meantime and
    /// must not be changed. Nothing remains then.
    fn commit(self: Box<Self>) -> Result<String, BundleSinkError>;
}

/// A file of an unfinished bundle.
pub trait BundleFileWriter: Debug + Send {
    /// Appends text.
    ///
    /// # Errors
    /// When it cannot be written.
    fn append(&mut self, text: &Redacted<String>) -> Result<(), BundleSinkError>;

    /// Ensures that everything appended can be read back.
    ///
    /// # Errors
    /// When that is not possible.
    fn finish(self: Box<Self>) -> Result<(), BundleSinkError>;
}

#[cfg(test)]
mod tests {
    use super::BundleFile;

    #[test]
    fn names_and_files_round_trip() {
        let files = BundleFile::NAMED.into_iter().chain([BundleFile::Blob([0xab; 32])]);
        for file in files {
            assert_eq!(BundleFile::parse(&file.to_string()), Some(file));
        }
        for path in ["blobs/../x.txt", "blobs/AB.txt", "manifest.json/", "", "/events.jsonl"] {
            assert_eq!(BundleFile::parse(path), None, "{path}");
        }
    }
}
