//! Errors of an export.

use traj_core::care::session_store::SessionStoreError;
use traj_core::port::{BundleFile, BundleSinkError, SourceError};

/// Why an export failed. A failed export leaves nothing in the sink, unless
/// [`BundleSinkError::Unconfirmed`] says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The session, a sidecar or the store cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The bundle cannot be written.
    #[error(transparent)]
    Sink(#[from] BundleSinkError),
    /// The session store cannot be read, or does not contain the session.
    #[error(transparent)]
    Store(#[from] SessionStoreError),
    /// The format of the session file is unknown, or none of its rows is an
    /// event.
    #[error("cannot read events from the session file: {why}")]
    NoEvents {
        /// Why.
        why: &'static str,
    },
    /// No session id was given, and the files do not state one.
    #[error("the session id is unknown")]
    UnknownSession,
    /// A limit of other exporters was exceeded, and limits are strict.
    #[error("{what} is {actual}, above the limit of {limit}")]
    Limit {
        /// What is limited.
        what: &'static str,
        /// The actual value.
        actual: u64,
        /// The limit.
        limit: u64,
    },
    /// The finished bundle still contains something that the rules redact.
    #[error("secrets remain in the finished bundle: {}{}", findings.len(), first_of(findings))]
    SecretsRemain {
        /// The findings, without the values; at least one.
        findings: Vec<RemainingSecret>,
    },
    /// The finished bundle is not valid when it is read back.
    #[error("{file} is not valid at line {line} when read back")]
    NotReadable {
        /// The file concerned.
        file: BundleFile,
        /// The line concerned, 1-based.
        line: u64,
    },
}

/// The position of the first finding.
fn first_of(findings: &[RemainingSecret]) -> String {
    findings.first().map_or_else(String::new, |first| {
        format!(
            " found; the first matches rule {} in {}, line {}",
            first.rule, first.file, first.line
        )
    })
}

/// A secret that the rules find in a finished bundle.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(rename = "Finding")]
#[non_exhaustive]
pub struct RemainingSecret {
    /// The rule that matches.
    pub rule: String,
    /// The file of the bundle.
    pub file: String,
    /// The line in it, 1-based; 0 for a finding in the file's name.
    pub line: u64,
}

impl RemainingSecret {
    pub(crate) const fn new(rule: String, file: String, line: u64) -> Self {
        Self { rule, file, line }
    }
}

impl From<traj_core::redaction::SpillError> for ExportError {
    fn from(error: traj_core::redaction::SpillError) -> Self {
        Self::Sink(error.into())
    }
}
