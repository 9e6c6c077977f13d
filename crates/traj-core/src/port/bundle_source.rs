//! Reads a bundle, as a directory or an archive.

use std::fmt::Debug;

/// Why a bundle cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleSourceError {
    /// The bundle does not exist.
    #[error("bundle {name} does not exist")]
    NotFound {
        /// The bundle's name, as given.
        name: String,
    },
    /// It is neither a directory nor a known kind of archive.
    #[error("{name} is not a bundle")]
    NotABundle {
        /// The bundle's name, as given.
        name: String,
    },
    /// It is a directory without a manifest.
    #[error("{name} has no manifest.json")]
    NoManifest {
        /// The bundle's name, as given.
        name: String,
    },
    /// Something in a bundle's directory is a link, a directory or a device, or has a name that no
    /// file of a bundle has.
    #[error("{name} in the bundle's directory is not a regular file with a plain name")]
    UnsafeFile {
        /// Its path in the directory.
        name: String,
    },
    /// An entry has a name that could lead out of the bundle, or is a link or a device.
    #[error("entry {number} has an unsafe name or is not a regular file")]
    UnsafeEntry {
        /// Its position in the bundle, counted from one.
        number: usize,
    },
    /// Two entries have the same name.
    #[error("entry {number} has the same name as an earlier entry")]
    RepeatedEntry {
        /// Its position in the bundle, counted from one.
        number: usize,
    },
    /// There are more entries than any bundle has.
    #[error("it has more than {limit} entries")]
    TooManyEntries {
        /// The most entries allowed.
        limit: usize,
    },
    /// It unpacks to far more than its manifest states.
    #[error("it unpacks to far more than its manifest states")]
    Bomb,
    /// The archive is truncated or damaged.
    #[error("the archive is truncated or damaged")]
    Damaged {
        /// The reader's cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Reading failed for another reason.
    #[error("cannot read the bundle {name}")]
    Storage {
        /// The bundle's name, as given.
        name: String,
        /// The adapter's cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// A bundle, read in place without unpacking it to disk.
///
/// Implementations reject entries that are not regular files directly in the bundle or its `blobs`
/// directory, duplicate names (even if they differ only in case), more entries than a bundle may
/// have, and archives that unpack to far more than their manifest states (see
/// [`StatedSizes`](super::StatedSizes)).
pub trait BundleSource: Debug {
    /// Passes every file to `visit` until it fails, starting with the manifest if possible.
    ///
    /// # Errors
    /// See [`BundleSourceError`]; also any error of `visit`.
    fn visit(&self, visit: &mut BundleVisitor<'_>) -> Result<(), BundleSourceError>;
}

impl<B: BundleSource + ?Sized> BundleSource for &B {
    fn visit(&self, visit: &mut BundleVisitor<'_>) -> Result<(), BundleSourceError> {
        (**self).visit(visit)
    }
}

/// Receives the path and the content of a file in the bundle.
pub type BundleVisitor<'v> =
    dyn FnMut(&str, &mut dyn BundleContent) -> Result<(), BundleSourceError> + 'v;

/// The content of a file in a bundle, from start to end.
pub trait BundleContent: Send {
    /// Fills the start of `buffer`; returns the number of bytes, 0 at the end.
    ///
    /// # Errors
    /// When the content cannot be read or unpacked.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, BundleSourceError>;
}
