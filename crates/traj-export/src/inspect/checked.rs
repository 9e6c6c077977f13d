//! A look at a bundle from elsewhere: checked before anything of it is shown.

use std::num::NonZeroUsize;

use traj_core::port::{BundleSource, BundleSourceError};
use traj_core::redaction::Redactor;
use traj_core::run::Prices;

use super::{Summary, look_through};
use crate::error::RemainingSecret;
use crate::verify::{BundleProblem, VerifyReport, verify};

/// Why nothing of a bundle is shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InspectError {
    /// It cannot be read, or is an archive that is not safe to read.
    #[error(transparent)]
    Source(#[from] BundleSourceError),
    /// A summary could repeat what was not hidden.
    #[error("a secret is left in this bundle; nothing of it is shown")]
    SecretsRemain {
        /// Where, and by which rule.
        findings: Vec<RemainingSecret>,
    },
}

/// Checks a bundle from elsewhere as [`verify`] does, before anything of it is
/// shown. Its events may be read if the report
/// [has scanned them](VerifyReport::has_scanned_events).
///
/// # Errors
/// When it cannot be read, or the rules find something in it.
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

/// Checks a bundle as [`verify`] does, then looks through it as
/// [`inspect`](super::inspect) does. What is damaged is told with the summary.
///
/// # Errors
/// When it cannot be read, or the rules find something in it.
pub fn inspect_checked(
    bundle: &dyn BundleSource,
    redactor: &Redactor,
    workers: NonZeroUsize,
    prices: Prices,
) -> Result<Summary, InspectError> {
    let checked = check_before_reading(bundle, redactor, workers)?;
    // A summary could repeat what was not scanned either.
    let mut summary = look_through(bundle, prices, checked.has_scanned_events())?;
    let seen = summary.problems.len();
    for problem in checked.problems {
        // What a look has seen already is told once, in its words.
        let is_same = |told: &BundleProblem| told.file == problem.file && told.line == problem.line;
        let is_told = match problem.line {
            Some(_) => summary.problems.iter().take(seen).any(is_same),
            // Of a whole file, several things can be wrong.
            None => summary.problems.contains(&problem),
        };
        if !is_told {
            summary.problems.push(problem);
        }
    }
    summary.problems_omitted = checked.problems_omitted;
    Ok(summary)
}
