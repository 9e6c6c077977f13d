//! The reply after an export.

use serde::Deserialize;

use super::ChatExportError;

/// What `traj export --json` printed, as far as a chat needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChatAnswer {
    /// The path of the bundle, relative to the workspace where possible.
    pub path: String,
    /// The number of events.
    pub events: u64,
    /// The number of redacted values.
    pub redacted: u64,
    /// The number of warnings.
    pub warnings: usize,
    /// The digest, by which the recipient checks the bundle.
    pub digest: String,
}

#[derive(Debug, Deserialize)]
struct AnswerDocument {
    ok: bool,
    result: Option<ExportResult>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExportResult {
    display_path: String,
    event_count: u64,
    digest: String,
    #[serde(default)]
    redactions: std::collections::BTreeMap<String, u64>,
    #[serde(default)]
    warnings: Vec<serde::de::IgnoredAny>,
}

impl ChatAnswer {
    /// Reads the document that `traj export --json` printed. `None` if the
    /// export failed; [`Self::FAILED`] is the reply then.
    ///
    /// # Errors
    /// If it is not such a document.
    pub fn from_document(document: &str) -> Result<Option<Self>, ChatExportError> {
        let document: AnswerDocument =
            serde_json::from_str(document).map_err(|_| ChatExportError::NotDecodable)?;
        let Some(result) = document.result.filter(|_| document.ok) else { return Ok(None) };
        Ok(Some(Self {
            path: result.display_path,
            events: result.event_count,
            redacted: result.redactions.values().sum(),
            warnings: result.warnings.len(),
            digest: result.digest,
        }))
    }

    /// The reply to an export that failed. The cause stays in the host's log.
    pub const FAILED: &'static str =
        "The export failed, and no bundle was written. The host's log has the cause.";

    /// The reply, in plain text without markup. Characters that could end a
    /// line or start markup in the path become `?`.
    #[must_use]
    pub fn to_text(&self) -> String {
        let plain = |character: char| match character {
            '`' | '*' | '[' | ']' | '<' | '>' | '|' => '?',
            character if character.is_control() => '?',
            character => character,
        };
        let path: String = self.path.chars().map(plain).collect();
        let mut text = format!(
            "Exported to {path}\n{}, {} redacted\n{}",
            counted(self.events, "event"),
            counted(self.redacted, "value"),
            self.digest
        );
        if self.warnings > 0 {
            text.push('\n');
            text.push_str(&counted(self.warnings as u64, "warning"));
        }
        text.push_str("\nRead it before you send it.");
        text
    }
}

fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
