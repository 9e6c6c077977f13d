//! The chat history of aider: Markdown, in which each paragraph becomes a row.

use std::ops::ControlFlow;

use super::super::{GatherError, RowWriter};
use super::lines::{LONGEST, each_line};
use crate::dialect::AiderParagraph;
use crate::json::Json;
use crate::json::lines::Line;
use crate::port::Source;

/// What begins a chat.
pub(super) const START: &str = "# aider chat started at ";

/// A paragraph so far.
#[derive(Debug, Default)]
struct Paragraph {
    kind: Option<AiderParagraph>,
    text: String,
    /// Whether the program's words continue in the next line: its lines end with two
    /// spaces, but those within a message do not.
    is_open: bool,
    number: u64,
}

/// Writes the rows of a history.
pub(super) fn rows(source: &dyn Source, rows: &mut RowWriter<'_>) -> Result<(), GatherError> {
    let mut paragraph = Paragraph::default();
    each_line(source, 0, &mut |_, line| {
        if let Line::Whole(line) | Line::Cut(line) = line {
            let line = String::from_utf8_lossy(line);
            paragraph.take(line.trim_end_matches(['\r', '\n']), rows)?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    paragraph.end(rows)
}

impl Paragraph {
    fn take(&mut self, line: &str, rows: &mut RowWriter<'_>) -> Result<(), GatherError> {
        if let Some(time) = line.strip_prefix(START) {
            self.end(rows)?;
            return self.write(AiderParagraph::Start, time, rows);
        }
        if let Some(typed) = line.strip_prefix("####") {
            self.go_on(AiderParagraph::User, typed.trim(), rows)?;
            self.is_open = false;
            return Ok(());
        }
        if let Some(said) = line.strip_prefix("> ").or_else(|| (line == ">").then_some("")) {
            self.end(rows)?;
            self.go_on(AiderParagraph::Program, said.trim_end(), rows)?;
            self.is_open = !said.ends_with("  ");
            return Ok(());
        }
        if self.is_open && self.kind == Some(AiderParagraph::Program) {
            self.is_open = !line.ends_with("  ");
            return self.go_on(AiderParagraph::Program, line.trim_end(), rows);
        }
        let is_said = self.kind == Some(AiderParagraph::Assistant);
        if line.trim().is_empty() && !is_said {
            return self.end(rows);
        }
        self.go_on(AiderParagraph::Assistant, line, rows)
    }

    /// Adds a line, to a new paragraph if the old one is of another kind.
    fn go_on(
        &mut self,
        kind: AiderParagraph,
        line: &str,
        rows: &mut RowWriter<'_>,
    ) -> Result<(), GatherError> {
        if self.kind != Some(kind) || self.text.len() > LONGEST / 2 {
            self.end(rows)?;
            self.kind = Some(kind);
        } else {
            self.text.push('\n');
        }
        self.text.push_str(line);
        Ok(())
    }

    fn end(&mut self, rows: &mut RowWriter<'_>) -> Result<(), GatherError> {
        let text = std::mem::take(&mut self.text);
        self.is_open = false;
        match self.kind.take() {
            Some(kind) if !text.trim().is_empty() => self.write(kind, text.trim_end(), rows),
            _ => Ok(()),
        }
    }

    fn write(
        &mut self,
        kind: AiderParagraph,
        text: &str,
        rows: &mut RowWriter<'_>,
    ) -> Result<(), GatherError> {
        self.number += 1;
        rows.row(&Json::Object(kind.row(self.number, text)))
    }
}

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests {
    use crate::gather::gathered;

    #[test]
    fn paragraphs_are_told_apart_by_how_they_begin() {
        let history = "\n# aider chat started at 2026-06-01 10:00:05\n\n> Aider v0.86.2  \n> Added calc.py to the chat.  \n\n#### fix it  \n#### please  \n\nFixing it:\n\n```\na\n```\n\n> Commit f0 fix:\n\ncalc.py  \n\n> Tokens: 2.4k sent, 43 received.  \n";
        let rows = gathered(".aider.chat.history.md", history).unwrap();
        let expected = [
            r#"{"type":"aider/start","number":1,"session":"aider-2026-06-01T10-00-05","timestamp":"2026-06-01T10:00:05Z"}"#,
            r#"{"type":"aider/program","number":2,"text":"Aider v0.86.2"}"#,
            r#"{"type":"aider/program","number":3,"text":"Added calc.py to the chat."}"#,
            r#"{"type":"aider/user","number":4,"text":"fix it\nplease"}"#,
            r#"{"type":"aider/assistant","number":5,"text":"Fixing it:\n\n```\na\n```"}"#,
            r#"{"type":"aider/program","number":6,"text":"Commit f0 fix:\n\ncalc.py"}"#,
            r#"{"type":"aider/program","number":7,"text":"Tokens: 2.4k sent, 43 received."}"#,
        ];
        assert_eq!(rows, expected.join("\n") + "\n");
    }
}
