//! Events as agents produce them: mostly tool traffic, some long texts, a few secrets.

use serde_json::{Value, json};

/// The mix, by position: half of all events are tool calls and results.
const KINDS: [&str; 8] = [
    "tool.call",
    "tool.result",
    "tool.call",
    "tool.result",
    "prompt.submitted",
    "model.completed",
    "tool.call",
    "tool.result",
];

/// The event at a position, `(type, data)`; the same position gives the same event.
pub(crate) fn event(position: usize) -> (&'static str, Value) {
    let kind = KINDS.get(position % KINDS.len()).copied().unwrap_or("tool.call");
    let call = format!("call_{position:08}");
    let data = match kind {
        "tool.call" => json!({
            "threadId": "thread-1", "turnId": "turn-1", "toolCallId": call, "name": "shell",
            "arguments": {
                "command": ["bash", "-lc", format!("rg -n 'fn main' src | head -{}", position % 40)],
                "workdir": "/home/dev/project", "timeoutMs": 120_000,
            },
        }),
        "tool.result" => json!({
            "threadId": "thread-1", "turnId": "turn-1", "toolCallId": call, "name": "shell",
            "success": !position.is_multiple_of(13),
            "contentItems": [{ "type": "text", "text": listing(position) }],
        }),
        "prompt.submitted" => json!({
            "threadId": "thread-1", "turnId": "turn-1", "imagesCount": 0,
            "prompt": format!("Find out why the build fails and fix it.\n{}", listing(position)),
        }),
        _ => json!({
            "threadId": "thread-1", "turnId": "turn-1", "timedOut": false, "aborted": false,
            "usage": { "inputTokens": 5120 + position % 900, "outputTokens": 410, "totalTokens": 5530 },
            "assistantTexts": ["The build fails because the lock file is stale; I updated it."],
        }),
    };
    (kind, data)
}

/// A small event at a position: a line of about 300 bytes, mostly envelope.
pub(crate) fn small_event(position: usize) -> (&'static str, Value) {
    let (call, line) = (format!("call_{position:08}"), position % 997);
    let data = json!({ "toolCallId": call, "name": "read", "arguments": { "path": "src/lib.rs", "line": line } });
    ("tool.call", data)
}

/// A kilobyte of output: paths, numbers and sometimes a credential, which must be redacted. All
/// listings differ, so that no cache helps.
fn listing(position: usize) -> String {
    let mut text = String::new();
    for line in 0..16 {
        let number = 100 + (position.wrapping_mul(31) + line * 7) % 1_000_003;
        text.push_str("src/module_");
        text.push_str(&number.to_string());
        text.push_str(".rs:42:    let value = compute(&input, options)?;\n");
    }
    if position.is_multiple_of(16) {
        // Assembled here, so that no scanner reports this file.
        text.push_str("export GITHUB_TOKEN=ghp");
        text.push_str("_0123456789abcdefghijklmnopqrstuvwxyz\n");
    }
    text
}
