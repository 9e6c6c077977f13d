//! Rows that repeat a `response_item`, or that no reader needs.

/// The types of events for clients that are known and state no fact.
const SHOWN: &[&str] = &[
    "agent_message",
    "agent_message_content_delta",
    "agent_message_delta",
    "agent_reasoning",
    "agent_reasoning_delta",
    "agent_reasoning_raw_content",
    "agent_reasoning_raw_content_delta",
    "agent_reasoning_section_break",
    "background_event",
    "collab_agent_interaction_begin",
    "collab_agent_interaction_end",
    "collab_agent_spawn_begin",
    "collab_agent_spawn_end",
    "collab_close_begin",
    "collab_close_end",
    "collab_resume_begin",
    "collab_resume_end",
    "collab_waiting_begin",
    "collab_waiting_end",
    "context_compacted",
    "deprecation_notice",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "elicitation_request",
    "entered_review_mode",
    "exec_command_begin",
    "exec_command_output_delta",
    "exited_review_mode",
    "get_history_entry_response",
    "guardian_assessment",
    "hook_completed",
    "hook_started",
    "image_generation_begin",
    "image_generation_end",
    "item_started",
    "list_skills_response",
    "mcp_list_tools_response",
    "mcp_startup_complete",
    "mcp_startup_update",
    "mcp_tool_call_begin",
    "model_reroute",
    "patch_apply_begin",
    "patch_apply_end",
    "plan_delta",
    "plan_update",
    "raw_response_item",
    "reasoning_content_delta",
    "reasoning_raw_content_delta",
    "request_permissions",
    "request_user_input",
    "session_configured",
    "shutdown_complete",
    "skills_update_available",
    "terminal_interaction",
    "thread_goal_updated",
    "thread_name_updated",
    "thread_settings_applied",
    "turn_diff",
    "undo_completed",
    "undo_started",
    "view_image_tool_call",
    "web_search_begin",
    "web_search_end",
];

/// Whether an event is known and states no fact.
pub(super) fn is_shown(kind: &str) -> bool {
    SHOWN.binary_search(&kind).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(SHOWN.is_sorted());
        assert!(is_shown("turn_diff") && !is_shown("brand_new"));
    }
}
