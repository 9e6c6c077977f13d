//! Writing a bundle: all of it, or nothing.

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
    /// The sink itself uses names of this form, and removes what has them.
    #[error("{name} is reserved for unfinished bundles")]
    ReservedName {
        /// The bundle's name.
        name: String,
    },
    /// The place for bundles is, or leads through, a link.
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
    /// A single text is longer than any file of a bundle may hold.
    #[error("a single text is longer than 4 GiB")]
    TooLong,
    /// Intermediate results cannot be kept.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// The bundle is there and complete, but may be gone after a crash, and it
    /// cannot be taken back either.
    #[error("the bundle {name} was written, but could not be synced to disk")]
    Unconfirmed {
        /// The bundle's name.
        name: String,
    },
    /// Writing failed in a way that callers do not tell apart.
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

/// A file of a bundle. No path reaches an adapter.
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
    /// `blobs/<sha256>.txt`: a long text, named after what the recorder stored.
    Blob([u8; 32]),
}

impl BundleFile {
    /// A bundle has at most this many blobs; archives with far more entries
    /// are not read.
    pub const MOST_BLOBS: usize = 50_000;

    /// The files that every bundle has.
    pub const ALWAYS: [Self; 3] = [Self::Manifest, Self::Events, Self::SessionBranch];

    /// The directory of blobs.
    pub const BLOB_FOLDER: &str = "blobs";

    /// Those that a manifest lists once more, as far as they are there.
    pub const SUPPLEMENTAL: [Self; 3] = [Self::Metadata, Self::Artifacts, Self::Prompts];

    /// The files that are not blobs, in the order a manifest lists them.
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
        // The name of a blob is the digits of a digest.
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

    /// The kind of content.
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

/// Reads 64 lower-case hex digits.
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
    /// The bundle is refused: its name was chosen.
    Refuse,
    /// The next free number is appended to the bundle's name.
    Renumber,
}

/// A place where bundles appear.
pub trait BundleSink: Debug + Send + Sync {
    /// Starts a bundle under `name`, out of sight.
    ///
    /// # Errors
    /// [`BundleSinkError::Exists`] when the name is taken and must be this one.
    fn begin(
        &self,
        name: &BundleName,
        taken: NameTaken,
    ) -> Result<Box<dyn BundleWriter>, BundleSinkError>;
}

/// A bundle in the making. Dropped without [`BundleWriter::commit`], it leaves
/// nothing behind.
pub trait BundleWriter: Debug + Send + Sync {
    /// Starts a file of the bundle, empty. Several may be written at a time.
    ///
    /// # Errors
    /// [`BundleSinkError::Repeated`] when it was already started.
    fn create(&mut self, file: BundleFile) -> Result<Box<dyn BundleFileWriter>, BundleSinkError>;

    /// Opens a finished file of this bundle to read it back.
    ///
    /// # Errors
    /// When it was not written, or cannot be read.
    fn read_back(&self, file: BundleFile) -> Result<Box<dyn Source>, BundleSinkError>;

    /// A nameless file for intermediate results, gone when it is dropped.
    ///
    /// # Errors
    /// When no space is left for one.
    fn scratch(&self) -> Result<Box<dyn Scratch>, BundleSinkError>;

    /// Makes the bundle visible under its name, completely and durably.
    /// Returns the name it got.
    ///
    /// # Errors
    /// [`BundleSinkError::Exists`] when the name was taken meanwhile and must be
    /// this one. Nothing is left behind then.
    fn commit(self: Box<Self>) -> Result<String, BundleSinkError>;
}

/// One file of a bundle in the making.
pub trait BundleFileWriter: Debug + Send {
    /// Appends text.
    ///
    /// # Errors
    /// When it cannot be written.
    fn append(&mut self, text: &Redacted<String>) -> Result<(), BundleSinkError>;

    /// Makes sure that everything appended can be read back.
    ///
    /// # Errors
    /// When it cannot.
    fn finish(self: Box<Self>) -> Result<(), BundleSinkError>;
}

#[cfg(test)]
mod tests {
    use super::BundleFile;

    #[test]
    fn names_and_files_go_both_ways() {
        let files = BundleFile::NAMED.into_iter().chain([BundleFile::Blob([0xab; 32])]);
        for file in files {
            assert_eq!(BundleFile::parse(&file.to_string()), Some(file));
        }
        for path in ["blobs/../x.txt", "blobs/AB.txt", "manifest.json/", "", "/events.jsonl"] {
            assert_eq!(BundleFile::parse(path), None, "{path}");
        }
    }
}
