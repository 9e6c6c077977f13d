//! Rows of transcripts, sidecars and rollouts, as the agents and recorders write them.
//!
//! One builder, [`Row`], and a function for each kind of row:
//!
//! - [`header`], [`entry`], [`message`]: a transcript of OpenClaw, with
//!   [`user`], [`assistant`] and [`tool_result`] for the content of a message;
//! - [`event`], [`pointer()`]: a sidecar and the file that leads to it;
//! - [`rollout_row`], [`rollout`]: a rollout of Codex.
//!
//! Rows belong to the session `s1` and to the first minute after
//! 2026-06-01T10:00Z unless a test changes that. A test of exact bytes spells its
//! rows out.

use std::fmt::{self, Display, Formatter};

/// A user message for tests where the text does not matter.
pub const USER: &str = r#"{"role":"user","content":"hi"}"#;

/// [`header`] of the session `s1`, for places that need a constant.
pub const HEADER: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-06-01T10:00:00.000Z","cwd":"/home/ann/shop"}"#;

/// A call of Codex as a row of a rollout, for [`rollout`].
pub const ROLLOUT_CALL: (&str, &str) = (
    "response_item",
    r#"{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c1"}"#,
);

/// Its result: the command failed.
pub const ROLLOUT_RESULT: (&str, &str) = (
    "response_item",
    r#"{"type":"function_call_output","call_id":"c1","output":"Process exited with code 1\nOutput:\nno"}"#,
);

/// A JSON object whose members keep the order in which they were added.
#[derive(Clone, Debug)]
pub struct Row {
    members: Vec<Member>,
}

#[derive(Clone, Debug)]
enum Member {
    Named { name: String, json: String },
    Verbatim(String),
}

impl Row {
    fn new() -> Self {
        Self { members: Vec::new() }
    }

    /// Sets a member to JSON text: in place if the name exists, otherwise at the
    /// end.
    #[must_use]
    pub fn with(mut self, name: &str, json: impl Display) -> Self {
        let value = json.to_string();
        for member in &mut self.members {
            if let Member::Named { name: known, json } = member
                && known == name
            {
                *json = value;
                return self;
            }
        }
        self.members.push(Member::Named { name: name.to_owned(), json: value });
        self
    }

    /// Sets a member to a string.
    #[must_use]
    pub fn text(self, name: &str, text: &str) -> Self {
        self.with(name, string(text))
    }

    /// Removes a member.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.members
            .retain(|member| !matches!(member, Member::Named { name: known, .. } if known == name));
        self
    }

    /// Appends members verbatim, including repeated names.
    #[must_use]
    pub fn verbatim(mut self, members: &str) -> Self {
        if !members.is_empty() {
            self.members.push(Member::Verbatim(members.to_owned()));
        }
        self
    }

    /// Sets `sessionId` and `traceId` of an event.
    #[must_use]
    pub fn of(self, session: &str) -> Self {
        self.text("traceId", session).text("sessionId", session)
    }

    /// The row without a line end.
    #[must_use]
    pub fn json(&self) -> String {
        self.to_string()
    }

    /// The row with a line end.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{self}\n")
    }
}

impl Display for Row {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("{")?;
        for (index, member) in self.members.iter().enumerate() {
            if index > 0 {
                formatter.write_str(",")?;
            }
            match member {
                Member::Named { name, json } => write!(formatter, "{}:{json}", string(name))?,
                Member::Verbatim(members) => formatter.write_str(members)?,
            }
        }
        formatter.write_str("}")
    }
}

/// A JSON string.
fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The time this many seconds after 10:00.
#[must_use]
pub fn at(second: u32) -> String {
    format!("2026-06-01T10:00:{second:02}.000Z")
}

/// The header of a current transcript.
#[must_use]
pub fn header(session: &str) -> Row {
    Row::new()
        .text("type", "session")
        .with("version", 3)
        .text("id", session)
        .text("timestamp", &at(0))
        .text("cwd", "/home/ann/shop")
}

/// An entry of a transcript, this many seconds after 10:00.
#[must_use]
pub fn entry(kind: &str, id: &str, parent: Option<&str>, second: u32) -> Row {
    Row::new()
        .text("type", kind)
        .text("id", id)
        .with("parentId", parent.map_or("null".to_owned(), string))
        .text("timestamp", &at(second))
}

/// A message entry, as text. `message` is JSON.
#[must_use]
pub fn message(id: &str, parent: Option<&str>, second: u32, message: impl Display) -> String {
    entry("message", id, parent, second).with("message", message).json()
}

/// Message number `number` of a transcript without branches: `m0`, `m1`, …, one
/// every second. `message` is JSON.
#[must_use]
pub fn next_message(number: u32, message: impl Display) -> Row {
    let parent = number.checked_sub(1).map(|before| format!("m{before}"));
    entry("message", &format!("m{number}"), parent.as_deref(), number % 60).with("message", message)
}

/// A user message.
#[must_use]
pub fn user(text: &str) -> Row {
    Row::new().text("role", "user").text("content", text)
}

/// An assistant message: content blocks in JSON, separated by commas.
#[must_use]
pub fn assistant(blocks: &str) -> Row {
    Row::new().text("role", "assistant").with("content", format!("[{blocks}]"))
}

/// The result of a tool call, with one text block.
#[must_use]
pub fn tool_result(call: &str, tool: &str, text: &str) -> Row {
    let block = Row::new().text("type", "text").text("text", text);
    Row::new()
        .text("role", "toolResult")
        .text("toolCallId", call)
        .text("toolName", tool)
        .with("content", format!("[{block}]"))
        .with("isError", false)
}

/// An event of a sidecar, without data.
#[must_use]
pub fn event(kind: &str, ts: &str, seq: u32) -> Row {
    Row::new()
        .text("traceSchema", "openclaw-trajectory")
        .with("schemaVersion", 1)
        .text("traceId", "s1")
        .text("source", "runtime")
        .text("type", kind)
        .text("ts", ts)
        .with("seq", seq)
        .text("sessionId", "s1")
}

/// The pointer from a session to its sidecar.
#[must_use]
pub fn pointer(session: &str, target: impl Display) -> Row {
    Row::new()
        .text("traceSchema", "openclaw-trajectory-pointer")
        .with("schemaVersion", 1)
        .text("sessionId", session)
        .text("runtimeFile", &target.to_string())
}

/// A row of a rollout. `payload` is JSON.
#[must_use]
pub fn rollout_row(kind: &str, timestamp: &str, payload: impl Display) -> Row {
    Row::new().text("timestamp", timestamp).text("type", kind).with("payload", payload)
}

/// A rollout of these kinds and payloads, one row every second.
#[must_use]
pub fn rollout(rows: &[(&str, &str)]) -> Vec<String> {
    let rows = (0..).zip(rows);
    rows.map(|(second, (kind, payload))| rollout_row(kind, &at(second), payload).json()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_their_writers_write_them() {
        assert_eq!(header("s1").json(), HEADER);
        assert_eq!(user("hi").json(), USER);
        assert_eq!(
            message("b", Some("a"), 7, USER),
            format!(
                r#"{{"type":"message","id":"b","parentId":"a","timestamp":"2026-06-01T10:00:07.000Z","message":{USER}}}"#
            )
        );
        assert_eq!(
            rollout_row("event_msg", &at(0), "{}").line(),
            "{\"timestamp\":\"2026-06-01T10:00:00.000Z\",\"type\":\"event_msg\",\"payload\":{}}\n"
        );
    }

    #[test]
    fn a_member_is_set_in_its_place_removed_or_repeated() {
        let row = user("a \"quote\"").with("n", 1);
        assert_eq!(row.json(), r#"{"role":"user","content":"a \"quote\"","n":1}"#);
        let row = row.text("content", "b").without("role").verbatim(r#""n":2"#).verbatim("");
        assert_eq!(row.json(), r#"{"content":"b","n":1,"n":2}"#);
    }
}
