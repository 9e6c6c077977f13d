//! The host's answers to Codex: one tool, and rules for approvals.

use std::sync::Arc;

use async_trait::async_trait;
use codex_binding::{AllowList, ApprovalAnswer, AskHandler};
use traj_core::json::{Json, ParseError};
use traj_core::port::{
    ApprovalDecision, HostAnswer, HostReply, RequestHandler, RequestKind, ServerRequest,
    ToolOutcome,
};

/// The tools that the model may call.
pub(crate) fn definitions() -> Result<Vec<Json<'static>>, ParseError> {
    let message = r#"{
        "type": "function", "name": "message", "description": "Sends a message to the user",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}
    }"#;
    Ok(vec![Json::parse(message)?.into_owned()])
}

/// Grants one command, asks about everything else, and answers calls of the
/// tool. All decisions are recorded with the turn.
pub(crate) fn handler() -> Arc<dyn RequestHandler> {
    let ask = AskHandler::new(|question| async move {
        // A real host asks a person here. This one is careful.
        println!("declined: {}", question.subject);
        ApprovalAnswer::from(ApprovalDecision::Decline)
            .named("the example")
            .because("only the list is allowed")
    });
    let rules = AllowList::new("rules of the example")
        .command("touch allowed.txt")
        .mcp_server("notes")
        .otherwise(Arc::new(ask.otherwise(Arc::new(MessageTool))));
    Arc::new(rules)
}

#[derive(Debug)]
struct MessageTool;

#[async_trait]
impl RequestHandler for MessageTool {
    async fn answer(&self, request: &ServerRequest) -> HostReply {
        if request.kind != RequestKind::ToolCall {
            return HostReply::none();
        }
        let text = request.params.get("arguments").and_then(|arguments| arguments.get("text"));
        println!("message: {}", text.and_then(Json::as_str).unwrap_or("(none)"));
        HostReply::from(HostAnswer::Tool(ToolOutcome::succeeded("delivered")))
    }
}
