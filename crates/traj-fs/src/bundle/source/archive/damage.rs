//! Why an archive is damaged.

use traj_core::port::BundleSourceError;

/// Why an archive that can be unpacked is still refused. Bytes outside its
/// entries would not be scanned, so there must not be any.
#[derive(Debug, thiserror::Error)]
pub(super) enum ArchiveDamage {
    #[error("it does not end with the list of its entries")]
    NoEnd,
    #[error("it has bytes outside its entries")]
    StrayBytes,
    #[error("entry {number} differs from the list of entries")]
    Differs { number: usize },
    #[error("entry {number} has a header with unexpected fields")]
    Header { number: usize },
    #[error("entry {number} is truncated")]
    Cut { number: usize },
}

impl From<ArchiveDamage> for BundleSourceError {
    fn from(damage: ArchiveDamage) -> Self {
        damaged(damage)
    }
}

/// The error for an archive that its decoder rejects.
pub(super) fn damaged(
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> BundleSourceError {
    BundleSourceError::Damaged { source: error.into() }
}
