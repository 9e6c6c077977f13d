//! Calls to a dataset that may not respond.

use std::time::Duration;

use traj_core::port::{DatasetStore, DatasetStoreError};
use traj_export::{Attempts, GaveUp, Pace, RetryLimits};

use super::ShipError;

/// How often a call is made, and how long the pauses are.
const LIMITS: RetryLimits = RetryLimits { attempts: 5, longest_pause: Duration::from_secs(300) };

/// Why a dataset could not be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// It does not respond, or is always busy.
    #[error("the dataset cannot be reached")]
    Away(#[source] DatasetStoreError),
    /// It cannot be used at all.
    #[error(transparent)]
    Failed(#[from] DatasetStoreError),
    /// Somebody asked to stop.
    #[error("asked to stop")]
    Stopped,
}

/// Why a call has no result.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// The dataset cannot be reached, and is not called again until
    /// [`Reach::ask_again`].
    Away,
    /// The dataset cannot be used at all, or somebody asked to stop.
    Failed(ShipError),
}

impl<E: Into<ShipError>> From<E> for NoAnswer {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Why and for how long a dataset cannot be reached.
#[derive(Debug)]
#[non_exhaustive]
pub struct DatasetAway {
    /// How long it asks to wait, if it does.
    pub retry_after: Option<Duration>,
    /// Why the last call failed.
    pub error: DatasetStoreError,
}

/// A dataset whose calls are retried. Once every attempt has failed, it is not
/// called any more.
#[derive(Debug)]
pub(crate) struct Reach<'a> {
    dataset: &'a dyn DatasetStore,
    away: Option<DatasetAway>,
    /// How many calls were repeated.
    pub(super) repeated: u64,
}

impl<'a> Reach<'a> {
    pub(crate) const fn new(dataset: &'a dyn DatasetStore) -> Self {
        Self { dataset, away: None, repeated: 0 }
    }

    /// Why the dataset cannot be reached; `None` if it can, as far as is known.
    pub(super) const fn away(&self) -> Option<&DatasetAway> {
        self.away.as_ref()
    }

    /// Lets the dataset be called again.
    pub(super) fn ask_again(&mut self) {
        self.away = None;
    }

    /// Makes a call until it succeeds, within the limits.
    pub(super) fn call<T>(
        &mut self,
        pace: &mut dyn Pace,
        mut call: impl FnMut(&dyn DatasetStore) -> Result<T, DatasetStoreError>,
    ) -> Result<T, NoAnswer> {
        if self.away.is_some() {
            return Err(NoAnswer::Away);
        }
        let mut attempts = Attempts::new(LIMITS);
        loop {
            let error = match call(self.dataset) {
                Ok(answer) => return Ok(answer),
                Err(error) if error.is_busy() => error,
                Err(error) => return Err(ShipError::Dataset(error).into()),
            };
            let asked = match &error {
                DatasetStoreError::Busy { retry_after, .. } => *retry_after,
                _ => None,
            };
            match attempts.wait_after_failure(asked, pace) {
                Ok(()) => self.repeated += 1,
                Err(GaveUp::Stopped) => return Err(ShipError::Stopped.into()),
                Err(_) => {
                    self.away = Some(DatasetAway { retry_after: asked, error });
                    return Err(NoAnswer::Away);
                }
            }
        }
    }

    /// Like [`Self::call`], for callers that cannot continue without the
    /// dataset.
    pub(crate) fn ask<T>(
        &mut self,
        pace: &mut dyn Pace,
        call: impl FnMut(&dyn DatasetStore) -> Result<T, DatasetStoreError>,
    ) -> Result<T, DatasetError> {
        self.call(pace, call).map_err(|error| match error {
            NoAnswer::Failed(ShipError::Dataset(error)) => DatasetError::Failed(error),
            NoAnswer::Failed(_) => DatasetError::Stopped,
            NoAnswer::Away => match self.away.take() {
                Some(away) => DatasetError::Away(away.error),
                None => DatasetError::Stopped,
            },
        })
    }
}
