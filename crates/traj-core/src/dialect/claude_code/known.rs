//! Which types of rows, notices and attachments Claude Code writes. Those that
//! state no fact are kept as other rows.

/// Rows without a place in the conversation, which state no fact.
const SESSION_ROWS: [&str; 44] = [
    "agent-color",
    "agent-metadata",
    "agent-name",
    "agent-setting",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "artifact-autoreact-ledger",
    "artifact-comment-monitor",
    "atis-latch",
    "attribution-snapshot",
    "branches-left",
    "bridge-session",
    "content-replacement",
    "cost-state",
    "custom-title",
    "data-flow-incomplete",
    "data-flow-records",
    "derived-from",
    "file-history-delta",
    "file-history-snapshot",
    "frame-link",
    "isolation-latch",
    "last-prompt",
    "memory-mode",
    "mode",
    "observer-ref",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "relocated",
    "repl-mode",
    "resume-head-vouch",
    "rows-not-sorted",
    "session-owner",
    "speculation-accept",
    "summary",
    "tag",
    "task-summary",
    "tools-used",
    "unattended-consent",
    "worktree-state",
];

/// Notices of the harness that state no fact.
const NOTICES: [&str; 36] = [
    "agents_killed",
    "away_summary",
    "background_tasks_changed",
    "bridge_status",
    "checkpoint_done",
    "code_change_published",
    "commands_changed",
    "dev_intent",
    "elicitation_complete",
    "file_attachments_missing",
    "file_snapshot",
    "informational",
    "inherited_asks_settled",
    "init",
    "instruction_size_warning",
    "memory_recall",
    "memory_saved",
    "microcompact_boundary",
    "model_consent_fallback",
    "notification",
    "peer_message_hold",
    "per_turn_effort_changed",
    "permission_denied",
    "permission_retry",
    "post_turn_summary",
    "rewind_stand_in",
    "scheduled_task_fire",
    "session_title_changed",
    "session_writes_lost",
    "status",
    "task_notification",
    "task_summary",
    "thinking_tokens",
    "turn_duration",
    "turn_preempted",
    "vcs_state_changed",
];

/// Attachments that the harness adds for the model by itself.
const REMINDERS: [&str; 40] = [
    "agent_listing_delta",
    "agent_mention",
    "async_hook_response",
    "auto_mode",
    "auto_mode_exit",
    "batching_nudge",
    "budget_usd",
    "command_permissions",
    "compact_file_reference",
    "compaction_reminder",
    "context_efficiency",
    "critical_system_reminder",
    "current_session_memory",
    "date",
    "date_change",
    "deferred_tools_delta",
    "diagnostics",
    "dynamic_skill",
    "environment",
    "hook_permission_decision",
    "invoked_skills",
    "mcp_instructions_delta",
    "memory_update",
    "model",
    "output_style",
    "output_token_usage",
    "plan_mode",
    "plan_mode_exit",
    "plan_mode_reentry",
    "remote_session_change",
    "session_context",
    "skill_discovery",
    "skill_listing",
    "structured_output",
    "task_reminder",
    "task_status",
    "todo_reminder",
    "token_usage",
    "total_tokens_reminder",
    "ultrathink_effort",
];

/// Attachments that people, or what they opened, add.
const FILES: [&str; 14] = [
    "already_read_file",
    "directory",
    "edited_image_file",
    "edited_text_file",
    "file",
    "image",
    "mcp_resource",
    "nested_memory",
    "opened_file_in_ide",
    "pdf_reference",
    "plan_file_reference",
    "relevant_memories",
    "selected_lines_in_ide",
    "todo",
];

/// Whether this is the type of a row beside the conversation.
pub(super) fn is_session_row(kind: &str) -> bool {
    SESSION_ROWS.contains(&kind)
}

/// Whether this is the subtype of a notice that states no fact.
pub(super) fn is_notice(kind: &str) -> bool {
    NOTICES.contains(&kind)
}

/// Whether this is the type of an attachment that states no fact.
pub(super) fn is_reminder(kind: &str) -> bool {
    REMINDERS.contains(&kind)
}

/// Whether this is the type of an attachment that somebody added.
pub(super) fn is_file(kind: &str) -> bool {
    FILES.contains(&kind)
}
