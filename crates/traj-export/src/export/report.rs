//! The result of an export.

use std::collections::BTreeMap;

use serde::Serialize;
use traj_core::redaction::RedactionReport;

use crate::warning::Warning;

/// The result of an export.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExportReport {
    /// The bundle's name below its root.
    pub name: String,
    /// The session.
    pub session_id: String,
    /// The number of events in the bundle.
    pub event_count: u64,
    /// The number of events from the sidecar.
    pub runtime_event_count: u64,
    /// The number of events from the session file.
    pub transcript_event_count: u64,
    /// The files that were written, the manifest first.
    pub files: Vec<String>,
    /// The sidecar that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_file: Option<String>,
    /// Rows that were skipped, and defects of the branch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Other notes on the export.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Warning>,
    /// How many values were redacted, by rule.
    pub redactions: BTreeMap<String, u64>,
    /// The digest of the whole bundle, as its manifest states it.
    pub digest: String,
}

/// How many values were redacted, by rule.
pub(crate) fn redactions(report: &RedactionReport) -> BTreeMap<String, u64> {
    report.by_rule().into_iter().map(|(rule, count)| (rule.to_owned(), count)).collect()
}
