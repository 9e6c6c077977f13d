//! What an export did.

use std::collections::BTreeMap;

use serde::Serialize;
use traj_core::redaction::RedactionReport;

use crate::warning::Warning;

/// What an export did.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExportReport {
    /// The name the bundle got, below its root.
    pub name: String,
    /// The session.
    pub session_id: String,
    /// All events in the bundle.
    pub event_count: u64,
    /// Those from the sidecar.
    pub runtime_event_count: u64,
    /// Those from the session file.
    pub transcript_event_count: u64,
    /// The files that were really written, the manifest first.
    pub files: Vec<String>,
    /// The sidecar that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_file: Option<String>,
    /// What had to be skipped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// What else is worth knowing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Warning>,
    /// How many values were hidden, by rule.
    pub redactions: BTreeMap<String, u64>,
    /// The digest of the whole bundle, as its manifest states it.
    pub digest: String,
}

/// How many values were hidden, by rule.
pub(crate) fn redactions(report: &RedactionReport) -> BTreeMap<String, u64> {
    report.by_rule().into_iter().map(|(rule, count)| (rule.to_owned(), count)).collect()
}
