//! Reading a bundle, in any of its forms.

use std::fmt::Debug;

/// Why a bundle cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleSourceError {
    /// There is nothing of this name.
    #[error("bundle {name} does not exist")]
    NotFound {
        /// The bundle as it was asked for.
        name: String,
    },
    /// It is neither a directory nor an archive that we know.
    #[error("{name} is not a bundle")]
    NotABundle {
        /// The bundle as it was asked for.
        name: String,
    },
    /// It is a directory without a manifest.
    #[error("{name} has no manifest.json")]
    NoManifest {
        /// The bundle as it was asked for.
        name: String,
    },
    /// Something in the directory of a bundle is a link, a directory or a device, or
    /// has a name that no file of a bundle has.
    #[error("{name} in the bundle's directory is not a regular file with a plain name")]
    UnsafeFile {
        /// Its path in the directory.
        name: String,
    },
    /// An entry has a name that could lead out of the bundle, or is a link or
    /// device.
    #[error("entry {number} has an unsafe name or is not a regular file")]
    UnsafeEntry {
        /// Its place in the bundle, 1-based.
        number: usize,
    },
    /// Two entries have one name.
    #[error("entry {number} has the name of an earlier one")]
    RepeatedEntry {
        /// Its place in the bundle, 1-based.
        number: usize,
    },
    /// There are more entries than a bundle has.
    #[error("it has more than {limit} entries")]
    TooManyEntries {
        /// How many there may be.
        limit: usize,
    },
    /// It unpacks to far more than its manifest states.
    #[error("it unpacks to far more than its manifest states")]
    Bomb,
    /// The archive is cut or damaged.
    #[error("the archive is cut or damaged")]
    Damaged {
        /// The reader's cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Reading failed in a way that callers do not tell apart.
    #[error("cannot read the bundle {name}")]
    Storage {
        /// The bundle as it was asked for.
        name: String,
        /// The adapter's cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// A bundle, read in place: nothing is unpacked.
///
/// Implementations refuse entries that are not regular files directly in the
/// bundle or its `blobs` directory, repeated names (also those that differ only in
/// case), more entries than a bundle has, and archives that unpack to far more
/// than their manifest states (see [`StatedSizes`](super::StatedSizes)).
pub trait BundleSource: Debug {
    /// Shows every file, the manifest first where it can be found, until
    /// `visit` fails.
    ///
    /// # Errors
    /// As [`BundleSourceError`] says, and what `visit` fails with.
    fn visit(&self, visit: &mut BundleVisitor<'_>) -> Result<(), BundleSourceError>;
}

/// Is shown the path of a file in the bundle, and its content.
pub type BundleVisitor<'v> =
    dyn FnMut(&str, &mut dyn BundleContent) -> Result<(), BundleSourceError> + 'v;

/// The content of a file in a bundle, from start to end.
pub trait BundleContent: Send {
    /// Fills the front of `buffer`; returns how much, nothing at the end.
    ///
    /// # Errors
    /// When the content cannot be read or unpacked.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, BundleSourceError>;
}
