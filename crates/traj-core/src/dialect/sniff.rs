//! Recognises which program wrote a file by its beginning.

use super::{
    Dialect, aider, atif, bundle, claude_code, codex, continue_cli, copilot, crush, gemini_cli,
    goose, openclaw, opencode, otlp_json, qwen_code, said, sidecar, text,
};
use crate::json::Json;
use crate::run::{Fact, Place, SessionStart};

/// How many rows at the beginning of a file are examined: the first ones may be
/// damaged.
const ROWS: usize = 16;

/// The beginning of a file.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Head<'h> {
    /// Nothing, or only white space.
    Empty,
    /// Lines of JSON, as bytes; the last line may be truncated.
    Rows(&'h [u8]),
}

impl<'h> Head<'h> {
    /// The beginning of a file, truncated anywhere.
    #[must_use]
    pub fn of(bytes: &'h [u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.iter().all(u8::is_ascii_whitespace) { Self::Empty } else { Self::Rows(bytes) }
    }
}

/// The dialect of a file with this beginning; `None` if no dialect recognises it.
///
/// The first row that any dialect recognises decides. A row truncated by the end
/// of `head` is examined as far as it goes: the header of a rollout can be longer
/// than any head.
#[must_use]
pub fn sniff(head: Head<'_>) -> Option<Dialect> {
    let Head::Rows(bytes) = head else { return None };
    if let Some(dialect) = dialect_of_document(bytes) {
        return Some(dialect);
    }
    let rows = bytes.split(|byte| *byte == b'\n').filter(|row| !row.trim_ascii().is_empty());
    rows.take(ROWS).find_map(dialect_of_line)
}

/// The dialect of a document that may span lines.
fn dialect_of_document(head: &[u8]) -> Option<Dialect> {
    if atif::recognises_beginning(head) {
        Some(Dialect::Atif)
    } else if otlp_json::recognises_beginning(head) {
        Some(Dialect::OtlpJson)
    } else {
        None
    }
}

fn dialect_of_line(line: &[u8]) -> Option<Dialect> {
    match Json::parse_lossy(line) {
        Ok(row) => Dialect::of_row(&row),
        Err(_) => codex::recognises_beginning(line).then_some(Dialect::CodexRollout),
    }
}

impl Dialect {
    /// The dialect that recognises a row.
    #[must_use]
    pub fn of_row(row: &Json<'_>) -> Option<Self> {
        if bundle::recognises(row) {
            Some(Self::Bundle)
        } else if sidecar::recognises(row) {
            Some(Self::Sidecar)
        } else if crush::recognises(row) {
            Some(Self::Crush)
        } else if goose::recognises(row) {
            Some(Self::Goose)
        } else if opencode::recognises(row) {
            Some(Self::OpenCode)
        } else if codex::recognises(row) {
            Some(Self::CodexRollout)
        } else if gemini_cli::recognises(row) {
            Some(Self::GeminiCli)
        } else if continue_cli::recognises(row) {
            Some(Self::Continue)
        } else if atif::recognises(row) {
            Some(Self::Atif)
        } else if otlp_json::recognises(row) {
            Some(Self::OtlpJson)
        } else if aider::recognises(row) {
            Some(Self::Aider)
        } else if qwen_code::recognises(row) {
            Some(Self::QwenCode)
        } else if copilot::recognises(row) {
            Some(Self::Copilot)
        } else if claude_code::recognises(row) {
            Some(Self::ClaudeCode)
        } else if openclaw::recognises(row) {
            Some(if openclaw::is_of_pi(row) { Self::Pi } else { Self::OpenClaw })
        } else {
            None
        }
    }

    /// The session id that the head of a file states.
    #[must_use]
    pub fn stated_session(head: &[u8]) -> Option<String> {
        stated(
            head,
            |started| started.session,
            |dialect| {
                if is_event(dialect) { "sessionId" } else { "id" }
            },
        )
    }

    /// The agent's working directory, as stated in the head of a file.
    #[must_use]
    pub fn stated_workspace(head: &[u8]) -> Option<String> {
        stated(
            head,
            |started| started.workspace,
            |dialect| {
                if is_event(dialect) { "workspaceDir" } else { "cwd" }
            },
        )
    }
}

/// What is wanted of a session's start.
type StatedIn = for<'r> fn(&SessionStart<'r>) -> Option<&'r str>;

const fn is_event(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::Sidecar | Dialect::Bundle)
}

/// What the first header that states it says. Every sidecar event counts as a
/// header.
fn stated(head: &[u8], fact: StatedIn, member: impl Fn(Dialect) -> &'static str) -> Option<String> {
    let Head::Rows(head) = Head::of(head) else { return None };
    let rows = head.split(|byte| *byte == b'\n').filter(|row| !row.trim_ascii().is_empty());
    rows.take(ROWS).enumerate().find_map(|(at, line)| {
        let row = Json::parse_lossy(line).ok()?;
        let dialect = Dialect::of_row(&row);
        let header = match (dialect, text(&row, "type")) {
            (Some(Dialect::OpenClaw | Dialect::Pi), Some("session")) => &row,
            (Some(Dialect::CodexRollout), Some("session_meta")) => row.get("payload")?,
            (Some(Dialect::Sidecar | Dialect::Bundle), _) => &row,
            (Some(Dialect::CodexRollout), _) => return None,
            (Some(dialect), _) if dialect.is_foreign() => return started(dialect, &row, fact),
            // The first generation of rollouts begins with a bare header.
            (None, None) if at == 0 && row.get("timestamp").is_some() => &row,
            _ => return None,
        };
        said(header, member(dialect.unwrap_or(Dialect::CodexRollout))).map(str::to_owned)
    })
}

/// What a row says about the session that it belongs to.
fn started(dialect: Dialect, row: &Json<'_>, fact: StatedIn) -> Option<String> {
    let mut found = None;
    dialect.decode(row, Place::default(), &mut |event| {
        if let (Fact::SessionStarted(started), None) = (&event.fact, &found) {
            found = fact(started).map(str::to_owned);
        }
    });
    found
}
