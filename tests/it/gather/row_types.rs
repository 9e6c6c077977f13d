//! Every type of row that a program is known to write has a fixture, and each row of a fixture is
//! a fact or of a known type.

use std::collections::BTreeSet;

use traj_core::dialect::Dialect;
use traj_core::json::Json;
use traj_core::run::{Fact, Place};
use traj_tests::session_fixtures::agent_files::AGENT_FILES;

use crate::reading::run_law::{CLAUDE, ROLLOUTS};

/// The types of rows, and of what they contain, by dialect.
const TYPES: [(&str, &str); 12] = [
    (
        "claude-code",
        "user assistant system attachment api-request-shape api-request-blob api-request \
         queue-operation enqueue dequeue remove popAll last-prompt mode tools-used cost-state ai-title summary atis-latch \
         file-history-snapshot progress pr-link agent-setting \
         compact_boundary stop_hook_summary local_command api_error turn_duration \
         environment model date session_context skill_listing agent_listing_delta \
         deferred_tools_delta total_tokens_reminder prompt_snapshot hook_success \
         hook_blocking_error queued_command file text image tool_result thinking tool_use",
    ),
    (
        "codex-rollout",
        "session_meta turn_context response_item event_msg compacted token_usage_record \
         inter_agent_communication inter_agent_communication_metadata security_risk_score \
         world_state thread_settings_applied patch_apply_end DynamicToolCall \
         message reasoning function_call function_call_output custom_tool_call \
         custom_tool_call_output local_shell_call tool_search_call tool_search_output \
         additional_tools agent_message task_started task_complete turn_aborted user_message \
         agent_reasoning mcp_tool_call_end thread_rolled_back context_compacted token_count \
         item_completed UserMessage AgentMessage Reasoning CommandExecution FileChange \
         McpToolCall ImageView ContextCompaction SubAgentActivity CollabAgentToolCall \
         EnteredReviewMode ExitedReviewMode",
    ),
    (
        "copilot",
        "session.start session.resume session.shutdown session.error session.model_change \
         session.usage_record session.compaction_start session.compaction_complete \
         session.truncation user.message system.message assistant.message assistant.turn_start \
         assistant.turn_end tool.execution_start tool.execution_complete subagent.started \
         subagent.completed subagent.failed hook.start hook.end skill.invoked \
         permission.requested permission.completed abort",
    ),
    ("gemini-cli", "user gemini info warning error"),
    (
        "opencode",
        "session message part text reasoning file tool step-start step-finish snapshot patch \
         agent subtask retry compaction user assistant pending running completed error",
    ),
    (
        "pi",
        "session message model_change thinking_level_change usage compaction context_edit \
         branch_summary custom custom_message label session_info system user assistant toolResult \
         bashExecution branchSummary compactionSummary text thinking toolCall",
    ),
    (
        "qwen-code",
        "user assistant tool_result system ui_telemetry attribution_snapshot chat_compression",
    ),
    (
        "goose",
        "sessions messages text image toolRequest toolResponse thinking redactedThinking \
         toolConfirmationRequest actionRequired systemNotification",
    ),
    (
        "crush",
        "sessions messages files text reasoning tool_call tool_result image_url binary finish",
    ),
    (
        "openclaw",
        "session message compaction custom user assistant toolResult text thinking toolCall leaf",
    ),
    ("continue", "continue/session continue/item system user thinking assistant tool done errored"),
    ("aider", "aider/start aider/user aider/assistant aider/program"),
];

/// A row of each type that the schema of Copilot CLI 1.0.102 has.
const COPILOT: &str = include_str!("../../fixtures/copilot/every-type.jsonl");

/// How many types the schema has: it says 166, of which three are not events.
const COPILOT_TYPES: usize = 163;

/// Rows that no fixture has otherwise.
const MORE: [(&str, &str); 9] = [
    (
        "codex-rollout",
        r#"{"timestamp":"2026-06-01T10:00:00.000Z","type":"event_msg","payload":{"type":"patch_apply_end","call_id":"c2","success":true,"stdout":"","stderr":"","changes":{}}}"#,
    ),
    (
        "codex-rollout",
        r#"{"timestamp":"2026-06-01T10:00:00.000Z","type":"event_msg","payload":{"type":"item_completed","turn_id":"u","item":{"type":"DynamicToolCall","id":"c3","tool":"look","arguments":{},"status":"completed"}}}"#,
    ),
    (
        "openclaw",
        r#"{"type":"session","version":4,"id":"s1","timestamp":"2026-06-01T10:00:00.000Z","cwd":"/srv/app"}"#,
    ),
    (
        "openclaw",
        r#"{"type":"message","id":"0a-1","parentId":null,"timestamp":"2026-06-01T10:00:01.000Z","message":{"role":"user","content":"fix the import","__openclaw":{},"idempotencyKey":"k"}}"#,
    ),
    (
        "openclaw",
        r#"{"type":"message","id":"0a-2","parentId":"0a-1","timestamp":"2026-06-01T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"First make."},{"type":"text","text":"I run make."},{"type":"toolCall","id":"t1","name":"exec","arguments":{"command":"make"}}]}}
{"type":"message","id":"0a-3","parentId":"0a-2","timestamp":"2026-06-01T10:00:03.000Z","message":{"role":"toolResult","toolCallId":"t1","toolName":"exec","content":[{"type":"text","text":"no rule"}]}}
{"type":"custom","id":"0a-4","parentId":"0a-3","timestamp":"2026-06-01T10:00:04.000Z","customType":"openclaw.cache-ttl","data":{}}"#,
    ),
    (
        "openclaw",
        r#"{"type":"compaction","id":"0a-5","parentId":"0a-4","timestamp":"2026-06-01T10:00:05.000Z","summary":"The import.","firstKeptEntryId":"0a-2","tokensBefore":9}"#,
    ),
    ("openclaw", r#"{"type":"leaf","id":"leaf-0a-5","parentId":"0a-5","targetId":"0a-5"}"#),
    (
        "codex-rollout",
        r#"{"timestamp":"2026-06-01T10:00:00.000Z","type":"event_msg","payload":{"type":"mcp_tool_call_end","call_id":"c1","invocation":{"server":"s","tool":"t","arguments":{}},"duration":{"secs":1,"nanos":0},"result":{"Ok":{"content":[{"type":"text","text":"done"}],"isError":false}}}}"#,
    ),
    (
        "opencode",
        r#"{"table":"part","timestamp":1780308003500,"role":"assistant","id":"p","message_id":"m","session_id":"s","data":{"type":"tool","tool":"bash","callID":"t","state":{"status":"pending","input":{},"raw":""}}}"#,
    ),
];

/// The members that state a type.
const NAMES: [&str; 6] = ["type", "subtype", "table", "role", "status", "operation"];

/// The rows of a dialect.
fn rows_of(dialect: &str) -> Vec<&'static str> {
    let files = AGENT_FILES.iter().filter(|file| file.dialect == dialect);
    let mut rows: Vec<&str> = files.flat_map(|file| file.content.lines()).collect();
    let others = match dialect {
        "claude-code" => &CLAUDE[..],
        "codex-rollout" => &ROLLOUTS[..],
        _ => &[],
    };
    rows.extend(others.iter().flat_map(|(_, content)| content.lines()));
    let more = MORE.iter().filter(|(of, _)| *of == dialect);
    rows.extend(more.flat_map(|(_, rows)| rows.lines()));
    if dialect == "copilot" {
        rows.extend(COPILOT.lines());
    }
    rows
}

fn types_in(json: &Json<'_>, found: &mut BTreeSet<String>) {
    match json {
        Json::Object(object) => {
            for (name, value) in object.iter() {
                if let Some(kind) = value.as_str().filter(|_| NAMES.contains(&name)) {
                    found.insert(kind.to_owned());
                }
                types_in(value, found);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| types_in(item, found)),
        _ => {}
    }
}

#[test]
fn every_type_has_a_fixture_and_no_row_is_unknown() {
    for (name, types) in TYPES {
        let dialect = Dialect::parse(name).unwrap();
        let mut found = BTreeSet::new();
        for row in rows_of(name) {
            let json = Json::parse(row).unwrap();
            types_in(&json, &mut found);
            dialect.decode(&json, Place::line(1), &mut |event| {
                let is_unknown = matches!(event.fact, Fact::Other { is_known: false, .. });
                assert!(!is_unknown, "{name}: {row}");
            });
        }
        let missing: Vec<_> = types.split(' ').filter(|kind| !found.contains(*kind)).collect();
        assert_eq!(missing, [""; 0], "{name}");
    }
}

#[test]
fn no_type_of_the_schema_of_copilot_is_unknown() {
    let mut types = BTreeSet::new();
    for row in COPILOT.lines() {
        let json = Json::parse(row).unwrap();
        types.insert(json.get("type").and_then(Json::as_str).unwrap().to_owned());
        let mut facts = 0;
        Dialect::Copilot.decode(&json, Place::line(1), &mut |_| facts += 1);
        assert!(facts > 0, "{row}");
    }
    assert_eq!(types.len(), COPILOT_TYPES);
}
