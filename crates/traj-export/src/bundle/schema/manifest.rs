//! `manifest.json`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::any::{Nullable, TraceSchema, Version, nullable};
use crate::warning::Warning;

/// The bundle's files, their sources and the redaction counts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "Manifest")]
#[expect(dead_code, reason = "some members are read to be checked only")]
pub(crate) struct Manifest {
    trace_schema: TraceSchema,
    schema_version: Version,
    pub(crate) generated_at: String,
    /// The same as `sessionId`.
    pub(crate) trace_id: String,
    pub(crate) session_id: String,
    #[serde(default)]
    pub(crate) session_key: Option<String>,
    workspace_dir: String,
    #[serde(deserialize_with = "nullable")]
    #[schemars(with = "Nullable<String>")]
    pub(crate) leaf_id: Option<String>,
    pub(crate) event_count: u64,
    pub(crate) runtime_event_count: u64,
    pub(crate) transcript_event_count: u64,
    pub(crate) source_files: SourceFiles,
    /// Rows that were skipped, and defects of the branch.
    #[serde(default)]
    pub(crate) warnings: Vec<Warning>,
    /// Those of `metadata.json`, `artifacts.json` and `prompts.json` that
    /// exist.
    #[serde(default)]
    pub(crate) supplemental_files: Vec<String>,
    /// Every file except this one.
    pub(crate) contents: Vec<ManifestContent>,
    /// Other notes on the export.
    #[serde(default)]
    pub(crate) notices: Vec<Warning>,
    #[schemars(required)]
    pub(crate) tool: Option<ManifestTool>,
    /// The program that wrote the session file.
    #[serde(default)]
    pub(crate) agent: Option<String>,
    /// The format of that file; `sidecar` if there is only a sidecar.
    #[serde(default)]
    pub(crate) dialect: Option<String>,
    /// The branches that were not exported, if there are any.
    #[serde(default)]
    pub(crate) other_branches: Option<OtherBranches>,
    /// Branch entries of unknown types, which produce no event.
    #[serde(default)]
    pub(crate) unknown_entries: Option<UnknownEntries>,
    #[schemars(required)]
    pub(crate) redaction: Option<ManifestSummary>,
    /// The input files.
    #[schemars(required, length(min = 1, max = 2))]
    pub(crate) sources: Option<Vec<ManifestSource>>,
    /// SHA-256 of this manifest on one line, without this member.
    #[schemars(required, regex(pattern = r"^sha256:[0-9a-f]{64}$"))]
    pub(crate) digest: Option<String>,
}

/// Branches of the session that were not exported.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OtherBranches {
    /// The number of branches that start at an entry of the exported branch, or
    /// have no parent.
    pub(crate) count: u64,
    /// The number of entries on all of them.
    pub(crate) entries: u64,
}

/// The number of entries of unknown types.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct UnknownEntries {
    /// How many there are.
    pub(crate) count: u64,
    /// The number of entries of each type, for the first 200 types.
    pub(crate) types: Vec<UnknownType>,
}

/// The number of entries of one unknown type.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct UnknownType {
    /// The type, cut to 100 characters.
    #[serde(rename = "type")]
    #[expect(dead_code, reason = "members are read to be checked")]
    name: String,
    /// How many there are.
    pub(crate) count: u64,
}

/// The paths of the inputs.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "members are read to be checked")]
pub(crate) struct SourceFiles {
    session: String,
    #[serde(default)]
    pub(crate) runtime: Option<String>,
}

/// A file of the bundle.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ManifestContent {
    /// Its path in the bundle.
    pub path: String,
    /// Its media type.
    pub media_type: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// SHA-256 of its content, in hexadecimal.
    #[schemars(required, regex(pattern = r"^[0-9a-f]{64}$"))]
    pub sha256: Option<String>,
}

/// The program that wrote the bundle.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Tool")]
#[expect(dead_code, reason = "members are read to be checked")]
pub(crate) struct ManifestTool {
    name: String,
    version: String,
}

/// How much was redacted.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ManifestSummary {
    /// The number of secrets.
    pub total: u64,
    /// The number of secrets by rule.
    pub rules: Vec<RuleCount>,
    /// The number of media values replaced by a digest.
    #[serde(default)]
    pub media: u64,
    /// The number of host paths and names replaced by a label.
    #[serde(default)]
    pub paths: u64,
}

/// How often a rule matched.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct RuleCount {
    /// The rule's id.
    pub rule: String,
    /// How often.
    pub count: u64,
}

/// The role of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SourceRole {
    /// The transcript.
    Session,
    /// The sidecar.
    Runtime,
}

/// An input file.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ManifestSource {
    /// Its role.
    pub role: SourceRole,
    /// Its path.
    pub path: String,
    /// The number of bytes that were read.
    pub bytes: u64,
    /// The number of rows that were read.
    pub rows: u64,
    /// SHA-256 of those bytes, in hexadecimal.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub sha256: String,
}
