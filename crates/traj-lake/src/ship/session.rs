//! A redacted session, as it is read.

use std::error::Error;
use std::fmt::Debug;

use traj_core::capture::BlobDigest;
use traj_core::port::{BundleSource, BundleSourceError, Scratch};
use traj_core::run::Prices;
use traj_export::{LongTexts, RowVisitor, read_event_rows};

/// A session cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the session cannot be read")]
#[expect(clippy::exhaustive_structs, reason = "one cause, which others make too")]
pub struct SessionUnreadable {
    /// Why.
    pub source: Box<dyn Error + Send + Sync>,
}

impl From<BundleSourceError> for SessionUnreadable {
    fn from(error: BundleSourceError) -> Self {
        Self { source: error.into() }
    }
}

/// A session to ship. Its rows are redacted.
pub trait ShipSession: Debug {
    /// Passes its events to `visit`, in order, until it breaks.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read(&self, visit: &mut RowVisitor<'_>) -> Result<(), SessionUnreadable>;

    /// The bytes of a long text that a row names; `None` if they are not known.
    /// Redacted, as the rows are.
    ///
    /// # Errors
    /// If they cannot be read.
    fn long_text(&self, digest: &BlobDigest) -> Result<Option<Vec<u8>>, SessionUnreadable>;

    /// Whether what [`Self::read`] passes is what the session is at this moment.
    fn is_current(&self) -> bool;
}

/// A session as a bundle, which an export redacted.
pub struct BundleSession<'a> {
    bundle: &'a dyn BundleSource,
    prices: &'a Prices,
    texts: LongTexts,
    is_current: &'a dyn Fn() -> bool,
}

impl Debug for BundleSession<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("BundleSession").finish_non_exhaustive()
    }
}

impl<'a> BundleSession<'a> {
    /// A session whose cost is computed with these prices, and whose long texts are
    /// gathered in `scratch`. `is_current` says
    /// whether the session is still as it was when the bundle was made.
    #[must_use]
    pub fn new(
        bundle: &'a dyn BundleSource,
        prices: &'a Prices,
        scratch: Box<dyn Scratch>,
        is_current: &'a dyn Fn() -> bool,
    ) -> Self {
        Self { bundle, prices, texts: LongTexts::new(scratch), is_current }
    }
}

impl ShipSession for BundleSession<'_> {
    fn read(&self, visit: &mut RowVisitor<'_>) -> Result<(), SessionUnreadable> {
        Ok(read_event_rows(self.bundle, self.prices, &self.texts, visit)?)
    }

    fn long_text(&self, digest: &BlobDigest) -> Result<Option<Vec<u8>>, SessionUnreadable> {
        Ok(self.texts.whole(digest)?)
    }

    fn is_current(&self) -> bool {
        (self.is_current)()
    }
}
