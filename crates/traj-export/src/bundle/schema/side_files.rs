//! `metadata.json`, `artifacts.json`, `prompts.json`, `tools.json`

use schemars::JsonSchema;
use serde::Deserialize;

use super::any::{Any, AnyText, TraceSchema, Version};

/// The setup of the run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "Metadata")]
#[expect(dead_code, reason = "members are read to be checked")]
pub(crate) struct Metadata {
    trace_schema: TraceSchema,
    schema_version: Version,
    generated_at: String,
    trace_id: String,
    session_id: String,
    #[serde(default)]
    session_key: Option<String>,
    #[serde(default)]
    harness: Option<Any>,
    #[serde(default)]
    model: Option<Any>,
    #[serde(default)]
    config: Option<Any>,
    #[serde(default)]
    plugins: Option<Any>,
    /// The skills of the run. Each object states whether it was invoked.
    #[serde(default)]
    skills: Option<Any>,
    #[serde(default)]
    prompting: Option<Any>,
    #[serde(default)]
    redaction: Option<Any>,
    #[serde(default)]
    metadata: Option<Any>,
}

/// How the latest run ended.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "Artifacts")]
#[expect(dead_code, reason = "members are read to be checked")]
pub(crate) struct Artifacts {
    trace_schema: TraceSchema,
    schema_version: Version,
    generated_at: String,
    trace_id: String,
    session_id: String,
    #[serde(default)]
    session_key: Option<String>,
    #[serde(default)]
    final_status: Option<Any>,
    #[serde(default)]
    aborted: Option<Any>,
    #[serde(default)]
    external_abort: Option<Any>,
    #[serde(default)]
    timed_out: Option<Any>,
    #[serde(default)]
    idle_timed_out: Option<Any>,
    #[serde(default)]
    timed_out_during_compaction: Option<Any>,
    #[serde(default)]
    timed_out_during_tool_execution: Option<Any>,
    #[serde(default)]
    prompt_error: Option<Any>,
    #[serde(default)]
    prompt_error_source: Option<Any>,
    #[serde(default)]
    terminal_error: Option<Any>,
    #[serde(default)]
    usage: Option<Any>,
    #[serde(default)]
    prompt_cache: Option<Any>,
    #[serde(default)]
    compaction_count: Option<Any>,
    #[serde(default)]
    assistant_texts: Option<Any>,
    #[serde(default)]
    final_prompt_text: Option<Any>,
    #[serde(default)]
    item_lifecycle: Option<Any>,
    #[serde(default)]
    tool_metas: Option<Any>,
    #[serde(default)]
    did_send_via_messaging_tool: Option<Any>,
    #[serde(default)]
    successful_cron_adds: Option<Any>,
    #[serde(default)]
    messaging_tool_sent_texts: Option<Any>,
    #[serde(default)]
    messaging_tool_sent_media_urls: Option<Any>,
    #[serde(default)]
    messaging_tool_sent_targets: Option<Any>,
    #[serde(default)]
    last_tool_error: Option<Any>,
}

/// The prompts that the model received.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "Prompts")]
#[expect(dead_code, reason = "members are read to be checked")]
pub(crate) struct Prompts {
    trace_schema: TraceSchema,
    schema_version: Version,
    generated_at: String,
    trace_id: String,
    session_id: String,
    #[serde(default)]
    session_key: Option<String>,
    /// The system prompt, or a note on the file that holds it.
    #[serde(default)]
    system: Option<AnyText>,
    /// Submitted prompts, in the order of the sidecar.
    submitted_prompts: Vec<AnyText>,
    #[serde(default)]
    latest_submitted_prompt: Option<AnyText>,
    #[serde(default)]
    skills_prompt: Option<AnyText>,
    #[serde(default)]
    user_prompt_prefix_text: Option<AnyText>,
    #[serde(default)]
    system_prompt_report: Option<Any>,
}

/// The tools of the last compiled context.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(title = "Tools")]
#[expect(dead_code, reason = "members are read to be checked")]
pub(crate) struct Tools(Vec<Any>);
