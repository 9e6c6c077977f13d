//! What a session is about, from a few of its rows.

use crate::dialect::{Dialect, given_title};
use crate::json::Json;
use crate::run::{Content, Fact, Place};
use crate::timestamp::UnixMillis;

/// What is known of a session from some of its rows: the first and the last
/// ones. Later rows override earlier ones, except for the first prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionSummary {
    /// The title that a person or the program gave.
    pub given: Option<String>,
    /// The first prompt.
    pub prompt: Option<String>,
    /// The directory that the agent works in.
    pub workspace: Option<String>,
    /// The session's id.
    pub session: Option<String>,
    /// The session that this one continues or was forked from.
    pub parent: Option<String>,
    /// Whether it belongs to that session and is read with it.
    pub is_part: bool,
    /// The time of the last row that was read.
    pub last_at: Option<UnixMillis>,
}

impl SessionSummary {
    /// What it is about: the title it was given, else the first prompt. Not
    /// redacted, and of any length.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.given.as_deref().or(self.prompt.as_deref())
    }

    /// Reads whole and torn lines of a session; a torn line is skipped.
    pub fn read(&mut self, dialect: Dialect, lines: &[u8]) {
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
        {
            if let Ok(row) = Json::parse_lossy(line) {
                self.take(dialect, &row);
            }
        }
    }

    /// Takes one row into account.
    pub fn take(&mut self, dialect: Dialect, row: &Json<'_>) {
        if let Some(given) = given_title(row) {
            self.given = Some(given.to_owned());
        }
        dialect.decode(row, Place::default(), &mut |event| {
            self.last_at = self.last_at.max(event.at);
            match &event.fact {
                Fact::SessionStarted(start) => {
                    let take = |held: &mut Option<String>, stated: Option<&str>| {
                        if held.is_none() {
                            *held = stated.filter(|text| !text.is_empty()).map(str::to_owned);
                        }
                    };
                    take(&mut self.workspace, start.workspace);
                    take(&mut self.session, start.session);
                    take(&mut self.parent, start.parent);
                    self.is_part |= start.is_part;
                }
                Fact::Prompt(prompt) if self.prompt.is_none() => {
                    self.prompt = typed(prompt.content);
                }
                _ => {}
            }
        });
    }
}

/// The text of a prompt, if a person typed it: programs wrap what they add in
/// tags.
fn typed(content: Content<'_>) -> Option<String> {
    let text = content.first_text()?.trim();
    (!text.is_empty() && !text.starts_with('<')).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(dialect: Dialect, rows: &[&str]) -> SessionSummary {
        let mut summary = SessionSummary::default();
        summary.read(dialect, rows.join("\n").as_bytes());
        summary
    }

    #[test]
    fn the_first_typed_prompt_is_the_title_unless_one_was_given() {
        let header = r#"{"type":"session","version":3,"id":"s","cwd":"/w"}"#;
        let prompt = |id: &str, text: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","timestamp":"2026-06-01T10:00:01Z","message":{{"role":"user","content":"{text}"}}}}"#
            )
        };
        let (added, first, second) =
            (prompt("a", "<environment>x"), prompt("b", "fix it"), prompt("c", "and that"));
        let rows = [header, &added, &first, &second, r#"{"type":"mess"#];
        let read = summary(Dialect::OpenClaw, &rows);
        assert_eq!(read.title(), Some("fix it"));
        assert_eq!((read.workspace.as_deref(), read.session.as_deref()), (Some("/w"), Some("s")));
        assert_eq!(read.last_at.unwrap().to_iso(), "2026-06-01T10:00:01.000Z");

        let named = r#"{"type":"session_info","id":"d","name":"The import"}"#;
        let read = summary(Dialect::OpenClaw, &[header, &first, named]);
        assert_eq!(read.title(), Some("The import"));
        assert_eq!(read.prompt.as_deref(), Some("fix it"));
    }
}
