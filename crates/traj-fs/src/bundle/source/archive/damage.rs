//! Why an archive is not what it should be.

use traj_core::port::BundleSourceError;

/// What is wrong with an archive that can be taken apart all the same. Nobody
/// scans what lies beside its entries, so nothing may lie there.
#[derive(Debug, thiserror::Error)]
pub(super) enum ArchiveDamage {
    #[error("it does not end with the list of its entries")]
    NoEnd,
    #[error("it has bytes that belong to no entry")]
    StrayBytes,
    #[error("entry {number} is not what the list of entries says")]
    Differs { number: usize },
    #[error("entry {number} has a header that says more than it needs to")]
    Header { number: usize },
    #[error("entry {number} is cut")]
    Cut { number: usize },
}

impl From<ArchiveDamage> for BundleSourceError {
    fn from(damage: ArchiveDamage) -> Self {
        damaged(damage)
    }
}

/// An archive that its reader could not make sense of.
pub(super) fn damaged(
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> BundleSourceError {
    BundleSourceError::Damaged { source: error.into() }
}
