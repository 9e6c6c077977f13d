//! Who wrote a file, from how it begins.

use super::{Dialect, bundle, codex, openclaw, sidecar};
use crate::json::Json;

/// How many rows at the beginning of a file are looked at: the first ones may
/// be damaged.
const ROWS: usize = 16;

/// How a file begins.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Head<'h> {
    /// Nothing is in it, or nothing but white space.
    Empty,
    /// Rows of JSON, complete ones, as bytes.
    Rows(&'h [u8]),
}

impl<'h> Head<'h> {
    /// The beginning of a file, cut anywhere.
    #[must_use]
    pub fn of(bytes: &'h [u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.iter().all(u8::is_ascii_whitespace) { Self::Empty } else { Self::Rows(bytes) }
    }
}

/// The dialect of a file that begins so; `None` when none of them knows it.
///
/// The first of its rows that any dialect recognises decides. A row that was
/// cut off by the end of `head` is looked at as far as it goes: the header of
/// a rollout can be longer than any head.
#[must_use]
pub fn sniff(head: Head<'_>) -> Option<Dialect> {
    let Head::Rows(bytes) = head else { return None };
    let rows = bytes.split(|byte| *byte == b'\n').filter(|row| !row.trim_ascii().is_empty());
    rows.take(ROWS).find_map(dialect_of_line)
}

fn dialect_of_line(line: &[u8]) -> Option<Dialect> {
    match Json::parse_lossy(line) {
        Ok(row) => Dialect::of_row(&row),
        Err(_) => codex::recognises_beginning(line).then_some(Dialect::CodexRollout),
    }
}

impl Dialect {
    /// The dialect that knows a row.
    #[must_use]
    pub fn of_row(row: &Json<'_>) -> Option<Self> {
        if bundle::recognises(row) {
            Some(Self::Bundle)
        } else if sidecar::recognises(row) {
            Some(Self::Sidecar)
        } else if codex::recognises(row) {
            Some(Self::CodexRollout)
        } else if openclaw::recognises(row) {
            Some(Self::OpenClaw)
        } else {
            None
        }
    }

    /// The id of the session that the head of a file states.
    #[must_use]
    pub fn stated_session(head: &[u8]) -> Option<String> {
        let rows = head.split(|byte| *byte == b'\n').filter(|row| !row.trim_ascii().is_empty());
        rows.take(ROWS).find_map(|line| {
            let row = Json::parse_lossy(line).ok()?;
            let holder = match Self::of_row(&row)? {
                Self::OpenClaw => {
                    let is_header = super::text(&row, "type") == Some("session");
                    return super::said(&row, "id").filter(|_| is_header).map(str::to_owned);
                }
                Self::CodexRollout => row.get("payload").filter(|payload| {
                    super::text(&row, "type") == Some("session_meta") && payload.get("id").is_some()
                })?,
                Self::Sidecar | Self::Bundle => {
                    return super::said(&row, "sessionId").map(str::to_owned);
                }
            };
            super::said(holder, "id").map(str::to_owned)
        })
    }
}
