//! Small sessions of every dialect, for tests that compare readers; and, in
//! [`gathered`], the rows of files that cannot be read directly.

pub mod agent_files;
pub mod databases;
pub mod gathered;

use self::agent_files::AGENT_FILES;
use crate::rows::{self, HEADER, ROLLOUT_CALL, ROLLOUT_RESULT, message, rollout};

/// The files of a session with the id `s1`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionFixture {
    /// What is special about it.
    pub name: &'static str,
    /// The rows of the transcript or rollout.
    pub transcript: Vec<String>,
    /// The events of the sidecar, if there is one.
    pub sidecar: Vec<String>,
    /// Whether every row counts. In a transcript with branches, `tail` shows
    /// rows that other readers leave out.
    pub is_straight: bool,
}

impl SessionFixture {
    fn new(name: &'static str, transcript: Vec<String>, sidecar: Vec<String>) -> Self {
        Self { name, transcript, sidecar, is_straight: true }
    }
}

const PROMPT: &str = r#"{"role":"user","content":"fix the import"}"#;

/// An assistant's message that calls a tool.
fn call(id: &str, command: &str) -> String {
    format!(
        r#"{{"role":"assistant","content":[{{"type":"text","text":"Let me run {command}."}},{{"type":"toolCall","id":"{id}","name":"shell","arguments":{{"command":"{command}"}}}}],"provider":"openai","model":"gpt-5.4","usage":{{"input":100,"cacheRead":40,"output":7}},"stopReason":"toolUse"}}"#
    )
}

fn result(id: &str, details: &str) -> String {
    format!(
        r#"{{"role":"toolResult","toolCallId":"{id}","toolName":"shell","isError":false,"details":{details},"content":[{{"type":"text","text":"some output"}}]}}"#
    )
}

const ANSWER: &str = r#"{"role":"assistant","content":[{"type":"text","text":"Done."}],"provider":"openai","model":"gpt-5.4","usage":{"input":120,"cacheRead":100,"output":9},"stopReason":"stop"}"#;

/// Two calls, of which the first exits with 3 although no flag says so.
fn exits_with_three() -> Vec<String> {
    vec![
        HEADER.to_owned(),
        message("a", None, 1, PROMPT),
        message("b", Some("a"), 2, call("c1", "make")),
        message("c", Some("b"), 5, result("c1", r#"{"exitCode":3}"#)),
        message("d", Some("c"), 6, call("c2", "make test")),
        message("e", Some("d"), 9, result("c2", r#"{"exitCode":0}"#)),
        message("f", Some("e"), 11, ANSWER),
    ]
}

fn at(second: u32) -> String {
    format!("2026-06-01T10:00:{second:02}.500Z")
}

fn event(kind: &str, second: u32, number: u32, data: &str) -> String {
    rows::event(kind, &at(second), number)
        .text("runId", "r1")
        .text("provider", "openai")
        .text("modelId", "gpt-5.4")
        .with("data", data)
        .json()
}

/// The same session as a recorder saw it; it has no exit codes.
fn recorded() -> Vec<String> {
    vec![
        event("session.started", 0, 1, "{}"),
        event("prompt.submitted", 1, 2, r#"{"prompt":"fix the import"}"#),
        event(
            "tool.call",
            2,
            3,
            r#"{"toolCallId":"c1","name":"shell","arguments":{"command":"make"}}"#,
        ),
        event("tool.result", 4, 4, r#"{"toolCallId":"c1","name":"shell","success":true}"#),
        event(
            "tool.call",
            6,
            5,
            r#"{"toolCallId":"c2","name":"shell","arguments":{"command":"make test"}}"#,
        ),
        event("tool.result", 8, 6, r#"{"toolCallId":"c2","name":"shell","success":true}"#),
        event(
            "model.completed",
            11,
            7,
            r#"{"usage":{"input":320,"cacheRead":180,"output":23},"assistantTexts":["Done."]}"#,
        ),
        event("session.ended", 12, 8, r#"{"status":"success"}"#),
    ]
}

/// The same rows as old versions wrote them.
fn older(rows: &[String], version: u32) -> Vec<String> {
    let rows =
        rows.iter().map(|row| row.replace("\"version\":3", &format!("\"version\":{version}")));
    if version > 1 {
        return rows.collect();
    }
    // The first version has neither ids nor parents.
    let without = |row: String| {
        let parts = row.split_once(r#""id":"#).zip(row.split_once(r#""timestamp":"#));
        match parts.filter(|_| !row.contains(r#""type":"session""#)) {
            Some(((before, _), (_, after))) => format!("{before}\"timestamp\":{after}"),
            None => row,
        }
    };
    rows.map(without).collect()
}

const OLD_ROLLOUT: &[(&str, &str)] = &[
    (
        "session_meta",
        r#"{"id":"s1","cwd":"/home/ann/shop","cli_version":"0.135.0","model_provider":"openai"}"#,
    ),
    ("event_msg", r#"{"type":"task_started","turn_id":"u1"}"#),
    ("turn_context", r#"{"cwd":"/home/ann/shop","model":"gpt-5.4","approval_policy":"never"}"#),
    ("event_msg", r#"{"type":"user_message","message":"list files","images":[]}"#),
    ROLLOUT_CALL,
    ROLLOUT_RESULT,
    (
        "event_msg",
        r#"{"type":"token_count","info":{"total_token_usage":{"input_tokens":9,"cached_input_tokens":4,"output_tokens":2},"last_token_usage":{"input_tokens":9,"cached_input_tokens":4,"output_tokens":2}}}"#,
    ),
    (
        "event_msg",
        r#"{"type":"token_count","info":{"total_token_usage":{"input_tokens":30,"cached_input_tokens":12,"output_tokens":5},"last_token_usage":{"input_tokens":21,"cached_input_tokens":8,"output_tokens":3}}}"#,
    ),
    (
        "response_item",
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"None."}]}"#,
    ),
    ("event_msg", r#"{"type":"task_complete","turn_id":"u1","last_agent_message":"None."}"#),
];

const NEW_ROLLOUT: &[(&str, &str)] = &[
    ("session_meta", r#"{"id":"s1","history_mode":"paginated","cwd":"/home/ann/shop"}"#),
    ("event_msg", r#"{"type":"task_started","turn_id":"u1"}"#),
    (
        "event_msg",
        r#"{"type":"item_completed","turn_id":"u1","item":{"type":"UserMessage","id":"i","content":[{"type":"text","text":"list files"}]}}"#,
    ),
    (
        "response_item",
        r#"{"type":"function_call","id":"fc_1","name":"exec_command","arguments":"{}","call_id":"c1"}"#,
    ),
    (
        "event_msg",
        r#"{"type":"item_completed","item":{"type":"CommandExecution","id":"c1","exit_code":2,"status":"failed","aggregated_output":"no"}}"#,
    ),
    ("token_usage_record", r#"{"response_id":"r1","usage":{"input_tokens":9,"output_tokens":2}}"#),
    ("token_usage_record", r#"{"response_id":"r1","usage":{"input_tokens":9,"output_tokens":2}}"#),
    ("token_usage_record", r#"{"response_id":"r2","usage":{"input_tokens":11,"output_tokens":3}}"#),
    (
        "event_msg",
        r#"{"type":"task_complete","turn_id":"u1","error":{"message":"429 too many requests"}}"#,
    ),
];

/// A session of Claude Code, whose rows repeat the usage of their message.
fn claude_code() -> Vec<String> {
    let row = |kind: &str, number: u32, members: &str| {
        let parent = match number {
            1 => "null".to_owned(),
            _ => format!(r#""u{}""#, number - 1),
        };
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"cwd":"/home/ann/shop","sessionId":"s1","version":"2.1.197","type":"{kind}",{members},"uuid":"u{number}","timestamp":"{}"}}"#,
            at(number)
        )
    };
    let said = |number, id: &str, block: &str, output: u32, stop: &str| {
        row(
            "assistant",
            number,
            &format!(
                r#""message":{{"id":"{id}","role":"assistant","model":"claude-sonnet-4-5","content":[{block}],"stop_reason":"{stop}","usage":{{"input_tokens":10,"cache_read_input_tokens":40,"output_tokens":{output}}}}}"#
            ),
        )
    };
    let call = r#"{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"make"}}"#;
    vec![
        row("user", 1, r#""message":{"role":"user","content":"run make"}"#),
        said(2, "m1", r#"{"type":"text","text":"I run it."}"#, 8, "tool_use"),
        said(3, "m1", call, 8, "tool_use"),
        row(
            "user",
            4,
            r#""message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"Exit code 2\nno"}]}"#,
        ),
        row("attachment", 5, r#""attachment":{"type":"date","date":"2026-06-01"}"#),
        said(6, "m2", r#"{"type":"text","text":"It failed."}"#, 9, "end_turn"),
        r#"{"type":"last-prompt","lastPrompt":"run make","leafUuid":"u6","sessionId":"s1"}"#.into(),
    ]
}

/// The same rows with entries of unknown types between and after them.
fn with_unknown_entries(mut rows: Vec<String>) -> Vec<String> {
    let unknown = |kind: &str, id: &str, parent: &str, second: u32| {
        rows::entry(kind, id, Some(parent), second).text("role", "user").json()
    };
    rows.insert(2, unknown("mystery", "a2", "a", 2));
    for row in &mut rows {
        *row = row.replace(r#""id":"b","parentId":"a""#, r#""id":"b","parentId":"a2""#);
    }
    rows.extend([unknown("mystery", "u", "f", 11), unknown("riddle", "v", "u", 11)]);
    rows
}

/// Sessions without branches, and one with them.
pub fn all() -> Vec<SessionFixture> {
    let rows = exits_with_three();
    let killed = [
        recorded(),
        vec![
            event("session.started", 20, 9, "{}").replace("\"r1\"", "\"r2\""),
            event("prompt.submitted", 21, 10, r#"{"prompt":"and again"}"#),
            event(
                "tool.call",
                22,
                11,
                r#"{"toolCallId":"c3","name":"shell","arguments":{"command":"sleep 9"}}"#,
            ),
        ],
    ]
    .concat();
    let refused = vec![
        event("session.started", 0, 1, "{}"),
        event("prompt.submitted", 1, 2, r#"{"prompt":"fix the import"}"#),
        event(
            "model.completed",
            3,
            3,
            r#"{"promptError":"401 the key is not valid","assistantTexts":[]}"#,
        ),
        event(
            "session.ended",
            4,
            4,
            r#"{"status":"error","promptError":"401 the key is not valid"}"#,
        ),
    ];
    let timed_out = vec![
        event("session.started", 0, 1, "{}"),
        event("tool.call", 2, 2, r#"{"toolCallId":"c1","name":"shell","arguments":{}}"#),
        event("tool.timeout", 9, 3, r#"{"toolCallId":"c1","name":"shell","timeoutMs":7000}"#),
        event("session.ended", 10, 4, r#"{"status":"interrupted"}"#),
    ];
    let mut branched = rows.clone();
    branched.extend([
        message("g", Some("a"), 20, call("c9", "make clean")),
        message("h", Some("g"), 22, result("c9", r#"{"exitCode":0}"#)),
    ]);
    let mut branched = SessionFixture::new("a branch that was left", branched, Vec::new());
    branched.is_straight = false;
    let header = vec![HEADER.to_owned()];
    let unknown = with_unknown_entries(rows.clone());
    let of_agents = AGENT_FILES.iter().map(|file| {
        let rows = file.content.lines().map(str::to_owned).collect();
        SessionFixture::new(file.name, rows, Vec::new())
    });
    let mut all = vec![
        SessionFixture::new("version 3 alone", rows.clone(), Vec::new()),
        SessionFixture::new("version 3 and a sidecar", rows.clone(), recorded()),
        SessionFixture::new("version 2", older(&rows, 2), Vec::new()),
        SessionFixture::new("version 2 and a sidecar", older(&rows, 2), recorded()),
        SessionFixture::new("version 1", older(&rows, 1), Vec::new()),
        SessionFixture::new("version 1 and a sidecar", older(&rows, 1), recorded()),
        SessionFixture::new("a run that was killed", rows, killed),
        SessionFixture::new("a prompt that was refused", header.clone(), refused),
        SessionFixture::new("a call that took too long", header, timed_out),
        SessionFixture::new("a rollout of the old generation", rollout(OLD_ROLLOUT), Vec::new()),
        SessionFixture::new("a rollout of the new generation", rollout(NEW_ROLLOUT), Vec::new()),
        SessionFixture::new("Claude Code, of the new generation", claude_code(), Vec::new()),
        SessionFixture::new("entries that nobody knows", unknown, Vec::new()),
        branched,
    ];
    all.extend(of_agents);
    all
}
