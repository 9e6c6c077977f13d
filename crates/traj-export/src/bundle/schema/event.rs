//! A line of `events.jsonl`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::any::{Any, AnyObject, TraceSchema, Version};

/// Where an event comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EventSource {
    /// The sidecar.
    Runtime,
    /// The session file.
    Transcript,
}

/// One event of a bundle. It keeps unknown members of its source.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "Event")]
#[expect(dead_code, reason = "members are read to be checked")]
pub(crate) struct BundleEvent {
    trace_schema: TraceSchema,
    /// The version of the trace format: 1.
    schema_version: Version,
    #[serde(default)]
    trace_id: Option<Any>,
    pub(crate) source: EventSource,
    /// The kind of event, such as `tool.call`.
    #[serde(rename = "type")]
    kind: String,
    /// When it happened, as its source wrote it.
    pub(crate) ts: String,
    /// Its position in the bundle, from 1.
    #[schemars(range(min = 1))]
    pub(crate) seq: u64,
    /// Its position in its source.
    #[serde(default)]
    source_seq: Option<Any>,
    /// The session of the bundle.
    pub(crate) session_id: String,
    #[serde(default)]
    session_key: Option<Any>,
    #[serde(default)]
    run_id: Option<Any>,
    #[serde(default)]
    workspace_dir: Option<Any>,
    #[serde(default)]
    provider: Option<Any>,
    #[serde(default)]
    model_id: Option<Any>,
    #[serde(default)]
    model_api: Option<Any>,
    /// The branch entry that the event comes from.
    #[serde(default)]
    entry_id: Option<Any>,
    /// The entry before that one on the branch.
    #[serde(default)]
    parent_entry_id: Option<Any>,
    #[serde(default, deserialize_with = "AnyObject::present")]
    #[schemars(with = "AnyObject")]
    data: Option<AnyObject>,
}
