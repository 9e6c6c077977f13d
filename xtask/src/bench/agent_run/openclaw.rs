//! The main thread of the run as OpenClaw writes it.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use serde_json::{Value, json};

use super::{Call, Form, Row, Thread, WORKSPACE, instant};

pub(super) struct OpenClaw {
    file: BufWriter<File>,
    bytes: usize,
    rows: usize,
}

impl OpenClaw {
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let file = BufWriter::with_capacity(1 << 20, File::create(folder.join("s.jsonl"))?);
        let mut form = Self { file, bytes: 0, rows: 0 };
        form.write(&json!({
            "type": "session", "version": 3, "id": "s", "timestamp": instant(0), "cwd": WORKSPACE,
        }))?;
        Ok(form)
    }

    fn write(&mut self, row: &Value) -> io::Result<()> {
        let line = format!("{row}\n");
        self.bytes += line.len();
        self.file.write_all(line.as_bytes())
    }
}

impl Form for OpenClaw {
    fn row(&mut self, thread: Thread, at_millis: u64, row: &Row<'_>) -> io::Result<()> {
        if thread != Thread::Main {
            return Ok(());
        }
        let message = match row {
            Row::Prompt(text) => {
                json!({"role": "user", "content": [{"type": "text", "text": text}]})
            }
            Row::Answer { thinking, text, call, tokens } => {
                let (number, name, arguments) = match call {
                    Call::Command { number, command } => {
                        (number, "exec", json!({"command": command}))
                    }
                    Call::Agent { number, agent } => {
                        (number, "sessions_spawn", json!({"task": format!("Look at part {agent}")}))
                    }
                };
                json!({
                    "role": "assistant",
                    "provider": "anthropic",
                    "model": "claude-opus-4-5",
                    "stopReason": "toolUse",
                    "content": [
                        {"type": "thinking", "thinking": thinking},
                        {"type": "text", "text": text},
                        {"type": "toolCall", "id": format!("call_{number}"), "name": name, "arguments": arguments},
                    ],
                    "usage": {
                        "input": tokens.input, "output": tokens.output,
                        "cacheRead": tokens.cache_read, "cacheWrite": tokens.cache_write,
                    },
                })
            }
            Row::Result { call, output, failed } => json!({
                "role": "toolResult",
                "toolCallId": format!("call_{call}"),
                "toolName": "exec",
                "content": [{"type": "text", "text": output}],
                "details": {"status": "completed", "exitCode": i32::from(*failed), "aggregated": output},
                "isError": failed,
            }),
        };
        let parent = self.rows.checked_sub(1).map(|before| format!("{before:08x}"));
        let id = format!("{:08x}", self.rows);
        self.rows += 1;
        self.write(&json!({
            "type": "message", "id": id, "parentId": parent, "timestamp": instant(at_millis),
            "message": message,
        }))
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.file.into_inner()?.sync_all()
    }
}
