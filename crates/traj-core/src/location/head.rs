//! The head of a file: which session a sidecar or a transcript belongs to.

use crate::dialect::{Dialect, Head, sniff};
use crate::event::{RuntimeRow, TRACE_SCHEMA};
use crate::json::Json;
use crate::limits::Reading;
use crate::port::{Source, SourceError};

const LIMITS: Reading = Reading::standard();

/// The start of the marker that redaction leaves for a session id that looks
/// like a secret.
const VEIL: &str = "<redacted:";

/// What the head of a file proves about its session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SidecarHead {
    /// The first readable event belongs to the session with this id.
    EventOf(String),
    /// There is no readable event and no other content: the file is empty, or
    /// has only torn lines of a trajectory.
    Blank,
    /// The file is not a trajectory.
    Foreign,
}

impl SidecarHead {
    /// Reads complete lines; the last one needs no newline.
    #[must_use]
    pub fn of_lines(lines: &[u8]) -> Self {
        Self::of(lines, true)
    }

    /// Reads the head of a file. `is_all` means that the head is the whole
    /// file.
    ///
    /// Unparsable lines, as a crash leaves them, are skipped. A row of another
    /// format ends the search.
    #[must_use]
    pub(crate) fn of(head: &[u8], is_all: bool) -> Self {
        let mut without_event = Self::Blank;
        for row in rows(head, is_all) {
            let text = String::from_utf8_lossy(row);
            let parsed = Json::parse_shallow(&text, 1).ok();
            let schema = parsed.as_ref().and_then(|row| row.get("traceSchema")?.as_str());
            let is_marked = schema == Some(TRACE_SCHEMA);
            match parsed.filter(|row| row.as_object().is_some()).map(RuntimeRow::from_json) {
                Some(Ok(event)) => return Self::EventOf(event.session_id().to_owned()),
                Some(Err(_)) if !is_marked => return Self::Foreign,
                Some(Err(_)) => {}
                None if begins_as_ours(row) => {}
                None => without_event = Self::Foreign,
            }
        }
        without_event
    }

    /// Reads only as much of a source as needed.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn read(source: &dyn Source) -> Result<Self, SourceError> {
        let mut last = Self::Blank;
        each_head(source, |head, is_all| {
            last = Self::of(head, is_all);
            matches!(last, Self::EventOf(_))
        })?;
        Ok(last)
    }

    /// Whether this is the id of another session. An id that redaction hid does
    /// not count.
    #[must_use]
    pub fn is_of_another(&self, session: &str) -> bool {
        matches!(self, Self::EventOf(id) if id != session && !id.contains(VEIL))
    }
}

/// The session id in the head of a transcript; `None` for a sidecar.
pub(super) fn stated_session_id(head: &[u8]) -> Option<String> {
    match sniff(Head::of(head)) {
        Some(Dialect::Sidecar | Dialect::Bundle) => None,
        _ => Dialect::stated_session(head),
    }
}

/// The session id in a transcript's header. Reads only as much of the
/// transcript as needed.
pub(super) fn read_session_id(source: &dyn Source) -> Result<Option<String>, SourceError> {
    let mut stated = None;
    each_head(source, |head, _| {
        stated = stated_session_id(head);
        stated.is_some()
    })?;
    Ok(stated)
}

/// Passes a short head of a source to `look`, then a long one unless `look`
/// returns true.
fn each_head(
    source: &dyn Source,
    mut look: impl FnMut(&[u8], bool) -> bool,
) -> Result<(), SourceError> {
    let mut head = Vec::new();
    for most in [LIMITS.short_head_bytes, LIMITS.long_head_bytes] {
        let length = source.len().min(most as u64);
        let known = head.len();
        head.resize(usize::try_from(length).unwrap_or(known), 0);
        source.read_exact_at(known as u64, head.get_mut(known..).unwrap_or_default())?;
        let is_all = length == source.len();
        if look(&head, is_all) || is_all {
            return Ok(());
        }
    }
    Ok(())
}

/// Whether a line may be the start of a sidecar's line: a crash cuts lines off.
fn begins_as_ours(line: &[u8]) -> bool {
    let start = format!("{{\"traceSchema\":\"{TRACE_SCHEMA}\"");
    line.iter().zip(start.as_bytes()).all(|(is, should)| is == should)
}

/// The complete rows of a head, trimmed. Zero bytes are trimmed too: after a
/// power failure they replace lines that had not reached the disk.
fn rows(head: &[u8], is_all: bool) -> impl Iterator<Item = &[u8]> {
    let end = if is_all { head.len() } else { memchr::memrchr(b'\n', head).map_or(0, |at| at + 1) };
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    let whole = head.get(..end).unwrap_or_default();
    let lines = whole.split(|byte| *byte == b'\n').take(LIMITS.head_rows);
    lines
        .map(move |line| {
            let from = line.iter().position(|byte| !is_blank(byte)).unwrap_or(line.len());
            let to = line.iter().rposition(|byte| !is_blank(byte)).map_or(from, |at| at + 1);
            line.get(from..to).unwrap_or_default()
        })
        .filter(|line| !line.is_empty())
}
