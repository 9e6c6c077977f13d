//! What every row states, whatever its facts.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::table_row::table_of;
use super::{Dialect, claude_code, said, text};
use crate::json::{Json, MAX_DEPTH};

/// Deep enough for the type, the time and the ids of every row.
pub(crate) const SKIM_DEPTH: usize = 3;

impl Dialect {
    /// The type by which a row is shown and filtered; `None` if it states none.
    /// Messages of a transcript are named after their role, as in a bundle.
    #[must_use]
    pub fn type_name<'r>(self, row: &'r Json<'r>) -> Option<Cow<'r, str>> {
        let kind = text(row, "type").or_else(|| table_of(row))?;
        let message = row.get("message").filter(|_| self.is_transcript());
        let Some(role) = message.map(|message| text(message, "role").unwrap_or_default()) else {
            return Some(Cow::Borrowed(kind));
        };
        Some(match role {
            "user" => Cow::Borrowed("user.message"),
            "assistant" => Cow::Borrowed("assistant.message"),
            "toolResult" => Cow::Borrowed("tool.result"),
            role => Cow::Owned(format!("message.{role}")),
        })
    }

    /// How deep a row must be read to know its time, its ids and its stated
    /// duration; `skimmed` is the row read to [`SKIM_DEPTH`].
    ///
    /// Tool output is most of a file, and lies deeper than that.
    pub(crate) fn depth_of_times(self, skimmed: &Json<'_>) -> usize {
        let is_result = self.is_transcript()
            && skimmed.get("message").and_then(|message| text(message, "role"))
                == Some("toolResult");
        if is_result { SKIM_DEPTH } else { MAX_DEPTH }
    }

    /// The session that a row names: its key, else its id.
    #[must_use]
    pub fn session_of<'r>(self, row: &'r Json<'r>) -> Option<&'r str> {
        match self {
            Self::Sidecar | Self::Bundle => {
                said(row, "sessionKey").or_else(|| said(row, "sessionId"))
            }
            _ => None,
        }
    }

    /// The part of a row that holds its details, for rows that state no fact.
    #[must_use]
    pub fn body_of<'r>(self, row: &'r Json<'r>) -> Option<&'r Json<'r>> {
        match self {
            Self::Sidecar | Self::Bundle => row.get("data"),
            Self::CodexRollout => row.get("payload"),
            Self::Copilot => row.get("data"),
            Self::QwenCode => row.get("systemPayload"),
            Self::GeminiCli => row.get("$set"),
            Self::Continue => row.get("session"),
            Self::Aider => row.get("text"),
            Self::Atif => row.get("trajectory"),
            Self::OtlpJson => row.get("attributes"),
            Self::Goose => row.get("content_json"),
            Self::ClaudeCode => claude_code::body_of(row),
            Self::OpenCode => row.get("data"),
            Self::Crush => row.get("parts"),
            // The members of an entry are beside its id and its time.
            Self::OpenClaw | Self::Pi => {
                let members = ["label", "name", "data", "customType", "targetId"];
                members.iter().find_map(|name| row.get(name))
            }
        }
    }

    /// Identifies a row. The text is not part of it, because a trim may change
    /// that.
    #[must_use]
    pub fn identity_of(self, row: &Json<'_>) -> u64 {
        let names: &[&str] = match self {
            Self::Sidecar | Self::Bundle => {
                &["type", "ts", "seq", "sourceSeq", "runId", "sessionId"]
            }
            Self::Continue | Self::Aider | Self::Atif | Self::OtlpJson => &["type", "number"],
            Self::ClaudeCode => &["type", "uuid", "timestamp", "id", "hash", "shapeHash"],
            // The totals change whenever something is added.
            Self::Crush | Self::Goose => &["table", "id", "session_id", "totals", "thread"],
            Self::OpenCode => &["table", "id", "session_id", "timestamp", "thread"],
            _ => &["type", "id", "parentId", "timestamp", "ordinal", "uuid"],
        };
        let mut hasher = DefaultHasher::new();
        for name in names {
            match row.get(name) {
                Some(Json::String(text)) => text.hash(&mut hasher),
                Some(Json::Number(number)) => number.as_text().hash(&mut hasher),
                _ => name.hash(&mut hasher),
            }
        }
        if let Some(payload) = row.get("payload").filter(|_| self == Self::CodexRollout) {
            // Rows of rollouts have no id.
            for name in ["type", "call_id", "id", "turn_id"] {
                text(payload, name).hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_named_after_their_role() {
        let name = |dialect: Dialect, row: &str| {
            let row = Json::parse(row).unwrap();
            dialect.type_name(&row).map(Cow::into_owned)
        };
        for (row, expected) in [
            (r#"{"type":"message","message":{"role":"user"}}"#, Some("user.message")),
            (r#"{"type":"message","message":{"role":"toolResult"}}"#, Some("tool.result")),
            (
                r#"{"type":"message","message":{"role":"bashExecution"}}"#,
                Some("message.bashExecution"),
            ),
            (r#"{"type":"compaction"}"#, Some("compaction")),
            (r#"{"id":"a"}"#, None),
        ] {
            assert_eq!(name(Dialect::OpenClaw, row).as_deref(), expected, "{row}");
        }
        let rollout = r#"{"type":"response_item","payload":{"type":"message"}}"#;
        assert_eq!(name(Dialect::CodexRollout, rollout).unwrap(), "response_item");
    }

    #[test]
    fn rows_that_differ_in_their_text_only_are_the_same() {
        let identity = |row: &str| Dialect::OpenClaw.identity_of(&Json::parse(row).unwrap());
        let row = |id: &str, text: &str| {
            format!(r#"{{"type":"message","id":"{id}","timestamp":1,"message":"{text}"}}"#)
        };
        assert_eq!(identity(&row("a", "x")), identity(&row("a", "y")));
        assert_ne!(identity(&row("a", "x")), identity(&row("b", "x")));
    }
}
