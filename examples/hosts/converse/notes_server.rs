//! An MCP server with one tool, which Codex starts as a child process: this
//! program with the argument `--notes-server`.
//!
//! A real server would use an MCP library. This one answers the three requests
//! that it needs, so that the example works without one.

use std::io::{BufRead as _, Write as _};

use codex_binding::ThreadPlan;
use serde_json::{Value, json};
use traj_core::json::{Json, Object};

pub(crate) const ARGUMENT: &str = "--notes-server";

/// The plan with this server.
pub(crate) fn add_to(plan: ThreadPlan) -> anyhow::Result<ThreadPlan> {
    let program = std::env::current_exe()?;
    let server = Json::from_serialize(&json!({"command": program, "args": [ARGUMENT]}))?;
    Ok(plan.with_user_mcp(Object::from_iter([("notes", server)])))
}

/// Answers requests from standard input until it ends.
pub(crate) fn serve() -> anyhow::Result<()> {
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        // A message without an id is a notification.
        let Some(id) = request.get("id") else { continue };
        let result = match request.get("method").and_then(Value::as_str) {
            Some("initialize") => json!({
                "protocolVersion": request.pointer("/params/protocolVersion"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes", "version": "1"},
            }),
            Some("tools/list") => json!({"tools": [{
                "name": "read_note", "description": "Reads the note",
                "inputSchema": {"type": "object", "properties": {}},
            }]}),
            Some("tools/call") => {
                json!({"content": [{"type": "text", "text": "water the violets"}]})
            }
            _ => json!({}),
        };
        writeln!(output, "{}", json!({"jsonrpc": "2.0", "id": id, "result": result}))?;
        output.flush()?;
    }
    Ok(())
}
