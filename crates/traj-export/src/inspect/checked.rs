//! A look at a bundle from elsewhere: checked before anything of it is shown.

use std::num::NonZeroUsize;

use traj_core::port::{BundleFile, BundleSource, BundleSourceError};
use traj_core::redaction::Redactor;
use traj_core::run::Prices;

use super::{Summary, look_through};
use crate::error::Finding;
use crate::verify::{Problem, verify};

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
        findings: Vec<Finding>,
    },
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
    let checked = verify(bundle, redactor, workers)?;
    if !checked.findings.is_empty() {
        return Err(InspectError::SecretsRemain { findings: checked.findings });
    }
    // A summary could repeat what was not scanned either.
    let shows_events = !checked.unfinished.contains(&BundleFile::Events);
    let mut summary = look_through(bundle, prices, shows_events)?;
    let seen = summary.problems.len();
    for problem in checked.problems {
        // What a look has seen already is told once, in its words.
        let is_same = |told: &Problem| told.file == problem.file && told.line == problem.line;
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
