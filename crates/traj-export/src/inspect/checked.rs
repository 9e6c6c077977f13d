//! Inspects an untrusted bundle: verifies it before anything is shown.

use std::num::NonZeroUsize;

use traj_core::port::{BundleSource, BundleSourceError};
use traj_core::redaction::Redactor;
use traj_core::run::Prices;

use super::{Summary, look_through};
use crate::error::RemainingSecret;
use crate::verify::{BundleProblem, VerifyReport, verify};

/// Why a bundle is not shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InspectError {
    /// The bundle cannot be read, or is an archive that is not safe to read.
    #[error(transparent)]
    Source(#[from] BundleSourceError),
    /// The bundle contains a secret that a summary could repeat.
    #[error("this bundle still contains a secret; nothing is shown")]
    SecretsRemain {
        /// Where, and which rule matched.
        findings: Vec<RemainingSecret>,
    },
}

/// Checks an untrusted bundle as [`verify`] does, before anything is shown. Its
/// events may be read if the report [has scanned
/// them](VerifyReport::has_scanned_events).
///
/// # Errors
/// If the bundle cannot be read, or the rules find a secret in it.
pub fn check_before_reading(
    bundle: &dyn BundleSource,
    redactor: &Redactor,
    workers: NonZeroUsize,
) -> Result<VerifyReport, InspectError> {
    let checked = verify(bundle, redactor, workers)?;
    if checked.findings.is_empty() {
        Ok(checked)
    } else {
        Err(InspectError::SecretsRemain { findings: checked.findings })
    }
}

/// Checks a bundle as [`verify`] does, then summarises it as
/// [`inspect`](super::inspect) does. Damage is reported with the summary.
///
/// # Errors
/// If the bundle cannot be read, or the rules find a secret in it.
pub fn inspect_checked(
    bundle: &dyn BundleSource,
    redactor: &Redactor,
    workers: NonZeroUsize,
    prices: Prices,
) -> Result<Summary, InspectError> {
    let checked = check_before_reading(bundle, redactor, workers)?;
    // Events that were not scanned must not be shown.
    let (mut summary, _) = look_through(bundle, prices, checked.has_scanned_events())?;
    let seen = summary.problems.len();
    for problem in checked.problems {
        // Problems that the summary already has are not repeated.
        let is_same =
            |other: &BundleProblem| other.file == problem.file && other.line == problem.line;
        let is_told = match problem.line {
            Some(_) => summary.problems.iter().take(seen).any(is_same),
            // A whole file can have several problems.
            None => summary.problems.contains(&problem),
        };
        if !is_told {
            summary.problems.push(problem);
        }
    }
    summary.problems_omitted = checked.problems_omitted;
    Ok(summary)
}
