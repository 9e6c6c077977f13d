//! The run as Claude Code writes it: one row for each block of an answer, the
//! usage repeated on each of them, the output of a command twice in its row, and
//! sub-agents in files beside the session.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Call, Row, Thread, Tokens, WORKSPACE, instant};

pub(super) const SESSION: &str = "5f2c1d9e-0b7a-4c1e-9a55-0d6f3b8e7a10";

pub(super) struct ClaudeCode {
    agents: PathBuf,
    main: Chain,
    /// The sub-agent that is running, with its number.
    agent: Option<(usize, Chain)>,
    closed: usize,
    /// The call that started the running sub-agent.
    started_by: usize,
}

/// One file, whose rows name their parents.
struct Chain {
    file: BufWriter<File>,
    bytes: usize,
    rows: usize,
    prefix: usize,
    agent: Option<String>,
}

impl ClaudeCode {
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        let agents = folder.join(SESSION).join("subagents");
        std::fs::create_dir_all(&agents)?;
        let main = Chain::create(&folder.join(format!("{SESSION}.jsonl")), 0, None)?;
        Ok(Self { agents, main, agent: None, closed: 0, started_by: 0 })
    }

    /// The file of a thread; the one of a new sub-agent is created.
    fn chain(&mut self, thread: Thread, at_millis: u64) -> io::Result<&mut Chain> {
        let Thread::Agent(number) = thread else { return Ok(&mut self.main) };
        if self.agent.as_ref().is_none_or(|(open, _)| *open != number) {
            self.close_agent()?;
            let id = format!("a{number:016x}");
            let path = self.agents.join(format!("agent-{id}.jsonl"));
            let meta = json!({
                "agentType": "general-purpose",
                "description": format!("Look at part {number}"),
                "toolUseId": call_id(self.started_by),
                "spawnDepth": 1,
            });
            std::fs::write(self.agents.join(format!("agent-{id}.meta.json")), meta.to_string())?;
            let mut chain = Chain::create(&path, number, Some(id))?;
            let task = format!("Look at part {number} and report.");
            chain.write(
                "user",
                at_millis,
                json!({"message": {"role": "user", "content": task}}),
            )?;
            self.agent = Some((number, chain));
        }
        Ok(self.agent.as_mut().map_or(&mut self.main, |(_, chain)| chain))
    }

    fn close_agent(&mut self) -> io::Result<()> {
        let Some((_, chain)) = self.agent.take() else { return Ok(()) };
        self.closed += chain.bytes;
        chain.finish()
    }

    /// Writes one row of a thread.
    pub(super) fn row(&mut self, thread: Thread, at_millis: u64, row: &Row<'_>) -> io::Result<()> {
        if let Row::Answer { call: Call::Agent { number, .. }, .. } = row {
            self.started_by = *number;
        }
        let chain = self.chain(thread, at_millis)?;
        match row {
            Row::Prompt(text) => chain.write(
                "user",
                at_millis,
                json!({"message": {"role": "user", "content": text}}),
            ),
            Row::Answer { thinking, text, call, tokens } => {
                let (number, tool) = tool_use(call);
                let blocks = [
                    json!({"type": "thinking", "thinking": thinking, "signature": "c2lnbmVk"}),
                    json!({"type": "text", "text": text}),
                    tool,
                ];
                blocks.into_iter().try_for_each(|block| {
                    let message = json!({
                        "id": format!("msg_{number:024}"),
                        "type": "message",
                        "role": "assistant",
                        "model": "claude-opus-4-5-20251101",
                        "content": [block],
                        "stop_reason": "tool_use",
                        "usage": usage(*tokens),
                    });
                    let request = format!("req_{number:024}");
                    chain.write(
                        "assistant",
                        at_millis,
                        json!({"message": message, "requestId": request}),
                    )
                })
            }
            Row::Result { call, output, failed } => {
                let result = json!({
                    "tool_use_id": call_id(*call),
                    "type": "tool_result",
                    "content": output,
                    "is_error": failed,
                });
                let stored = if *failed {
                    json!(format!("Error: {output}"))
                } else {
                    json!({"stdout": output, "stderr": "", "interrupted": false, "isImage": false})
                };
                chain.write(
                    "user",
                    at_millis,
                    json!({
                        "message": {"role": "user", "content": [result]},
                        "toolUseResult": stored,
                    }),
                )
            }
        }
    }

    /// Bytes written so far.
    pub(super) fn bytes(&self) -> usize {
        let open = self.agent.as_ref().map_or(0, |(_, chain)| chain.bytes);
        self.main.bytes + self.closed + open
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.close_agent()?;
        self.main.finish()
    }
}

impl Chain {
    fn create(path: &Path, prefix: usize, agent: Option<String>) -> io::Result<Self> {
        let file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        Ok(Self { file, bytes: 0, rows: 0, prefix, agent })
    }

    fn uuid(&self, row: usize) -> String {
        format!("{:08x}-0000-4000-8000-{row:012x}", self.prefix)
    }

    fn write(&mut self, kind: &str, at_millis: u64, body: Value) -> io::Result<()> {
        let mut row = json!({
            "parentUuid": self.rows.checked_sub(1).map(|before| self.uuid(before)),
            "isSidechain": self.agent.is_some(),
            "userType": "external",
            "cwd": WORKSPACE,
            "sessionId": SESSION,
            "version": "2.1.197",
            "gitBranch": "main",
            "type": kind,
            "uuid": self.uuid(self.rows),
            "timestamp": instant(at_millis),
        });
        if let Some(members) = row.as_object_mut() {
            members.extend(self.agent.iter().map(|id| ("agentId".to_owned(), json!(id))));
            members.extend(
                body.as_object().into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())),
            );
        }
        let line = format!("{row}\n");
        self.rows += 1;
        self.bytes += line.len();
        self.file.write_all(line.as_bytes())
    }

    /// The measured programs must not wait for these bytes to reach the disk.
    fn finish(self) -> io::Result<()> {
        self.file.into_inner()?.sync_all()
    }
}

fn call_id(number: usize) -> String {
    format!("toolu_{number:024}")
}

fn tool_use(call: &Call<'_>) -> (usize, Value) {
    let (number, name, input) = match call {
        Call::Command { number, command } => {
            (*number, "Bash", json!({"command": command, "description": "Run the tests"}))
        }
        Call::Agent { number, agent } => (
            *number,
            "Task",
            json!({
                "description": format!("Look at part {agent}"),
                "prompt": format!("Look at part {agent} and report."),
                "subagent_type": "general-purpose",
            }),
        ),
    };
    (number, json!({"type": "tool_use", "id": call_id(number), "name": name, "input": input}))
}

fn usage(tokens: Tokens) -> Value {
    json!({
        "input_tokens": tokens.input,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "output_tokens": tokens.output,
        "service_tier": "standard",
    })
}
