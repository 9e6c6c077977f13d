//! Trimming by rule, over all documents of a session.

use super::{AutoEdit, AutoPolicy, AutoSurvey, AutoTotals};
use crate::care::trim::drain::{DrainReport, TrimError, TrimPorts, trim_copies, with_retries};
use crate::care::trim::journal::JournalWriter;
use crate::port::RewriteMode;

/// The result of a trim by rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AutoReport {
    /// Counts, as for any trim.
    pub drain: DrainReport,
    /// Totals by tool, and of images.
    pub totals: AutoTotals,
}

/// Applies `policy` to the session and every copy.
///
/// # Errors
/// See [`TrimError`].
pub fn auto_trim(
    ports: &TrimPorts<'_>,
    session_file: &str,
    policy: AutoPolicy,
    mut journal: Option<JournalWriter<'_>>,
    mode: RewriteMode,
) -> Result<AutoReport, TrimError> {
    let (_, survey) = with_retries(ports.session, RewriteMode::Preview, AutoSurvey::default, None)?;
    let make = || AutoEdit::new(policy, &survey);
    let (rewrite, edit) = with_retries(ports.session, mode, make, journal.as_mut())?;
    let (items, tally, totals) = edit.finish();
    let mut drain = DrainReport { session_file: session_file.to_owned(), ..DrainReport::default() };
    drain.session = tally;
    drain.rewrite = rewrite;
    if !items.is_empty() {
        trim_copies(ports, &items, journal.as_mut(), mode, &mut drain)?;
    }
    Ok(AutoReport { drain, totals })
}
