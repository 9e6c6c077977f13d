//! Why an archive is not what it should be.

use traj_core::port::BundleSourceError;

/// An archive that its reader could not make sense of.
pub(super) fn damaged(
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> BundleSourceError {
    BundleSourceError::Damaged { source: error.into() }
}
