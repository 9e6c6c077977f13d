//! `manifest.json`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::any::{Nullable, TraceSchema, Version, nullable};
use crate::warning::Warning;

/// What the bundle holds, where it came from, what was hidden.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "Manifest")]
#[expect(dead_code, reason = "some members are read to be checked only")]
pub(crate) struct Manifest {
    trace_schema: TraceSchema,
    schema_version: Version,
    pub(crate) generated_at: String,
    /// The same as the session.
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
    /// Rows that had to be skipped.
    #[serde(default)]
    pub(crate) warnings: Vec<Warning>,
    /// Those of `metadata.json`, `artifacts.json` and `prompts.json` that are there.
    #[serde(default)]
    pub(crate) supplemental_files: Vec<String>,
    /// Every file but this one.
    pub(crate) contents: Vec<ManifestContent>,
    /// What else is worth knowing.
    #[serde(default)]
    pub(crate) notices: Vec<Warning>,
    #[schemars(required)]
    pub(crate) tool: Option<ManifestTool>,
    /// The program that wrote the session file.
    #[serde(default)]
    pub(crate) agent: Option<String>,
    /// The format of that file; `sidecar` where there is none but a sidecar.
    #[serde(default)]
    pub(crate) dialect: Option<String>,
    /// What of the session is not on the branch, if anything is.
    #[serde(default)]
    pub(crate) other_branches: Option<OtherBranches>,
    /// Entries of the branch whose type is not known; they give no event.
    #[serde(default)]
    pub(crate) unknown_entries: Option<UnknownEntries>,
    #[schemars(required)]
    pub(crate) redaction: Option<ManifestSummary>,
    /// The files that were read.
    #[schemars(required, length(min = 1, max = 2))]
    pub(crate) sources: Option<Vec<ManifestSource>>,
    /// SHA-256 of this manifest on one line, without this member.
    #[schemars(required, regex(pattern = r"^sha256:[0-9a-f]{64}$"))]
    pub(crate) digest: Option<String>,
}

/// Branches that the session has beside the one that was exported.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OtherBranches {
    /// How many begin at an entry of the exported branch, or at none.
    pub(crate) count: u64,
    /// How many entries they have together.
    pub(crate) entries: u64,
}

/// Entries of types that are not known, counted.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct UnknownEntries {
    /// How many there are.
    pub(crate) count: u64,
    /// How many there are of each type, of the first 200 types.
    pub(crate) types: Vec<UnknownType>,
}

/// Entries of one type that is not known.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct UnknownType {
    /// The type, or its first 100 characters.
    #[serde(rename = "type")]
    #[expect(dead_code, reason = "members are read to be checked")]
    name: String,
    /// How many there are.
    pub(crate) count: u64,
}

/// The inputs by path.
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
    /// The kind of content.
    pub media_type: String,
    /// Its size.
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

/// What was hidden, counted.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ManifestSummary {
    /// All secrets.
    pub total: u64,
    /// Secrets by rule.
    pub rules: Vec<RuleCount>,
    /// Media replaced by a digest.
    #[serde(default)]
    pub media: u64,
    /// Host paths and names replaced by a label.
    #[serde(default)]
    pub paths: u64,
}

/// How often one rule hid something.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct RuleCount {
    /// The rule's id.
    pub rule: String,
    /// How often.
    pub count: u64,
}

/// What a file that was read was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SourceRole {
    /// The transcript.
    Session,
    /// The sidecar.
    Runtime,
}

/// A file that was read.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ManifestSource {
    /// What it was.
    pub role: SourceRole,
    /// Where it was.
    pub path: String,
    /// How much of it was read.
    pub bytes: u64,
    /// How many rows that was.
    pub rows: u64,
    /// SHA-256 of what was read, in hexadecimal.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub sha256: String,
}
