//! What one line of a sidecar or transcript comes down to.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::preview;
use crate::event::{SCHEMA_VERSION, TRACE_SCHEMA};
use crate::json::Json;
use crate::timestamp::UnixMillis;

/// Which file a line comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The trajectory sidecar.
    Sidecar,
    /// The session's transcript, or a Codex rollout.
    Transcript,
}

/// How much an event should stand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Severity {
    /// As usual.
    Normal,
    /// Something was skipped, cut or took too long.
    Warning,
    /// Something failed.
    Error,
}

/// An event, small whatever its line held.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TailEvent {
    /// Which file it comes from.
    pub origin: Origin,
    /// When it happened; `None` when the line's time makes no sense.
    pub at: Option<UnixMillis>,
    /// Its type.
    pub kind: String,
    /// The session's key, else its id.
    pub session: String,
    /// What happened, in a few words.
    pub preview: String,
    /// Tokens in and out, where the event tells.
    pub tokens: Option<(u64, u64)>,
    /// What went wrong, in the run's own words.
    pub error: Option<String>,
    /// How long it took, in milliseconds.
    pub duration: Option<u64>,
    /// How much it should stand out.
    pub severity: Severity,
    /// The tool call it belongs to.
    pub(super) call: Option<String>,
    pub(super) identity: u64,
}

/// As deep as previews look: the members of an event's data and of what is
/// directly in them. What is below is checked, but not built.
const EVENT_DEPTH: usize = 3;

/// The members of a message, its usage among them.
const ROW_DEPTH: usize = 3;

/// The blocks of a message too.
const QUOTED_DEPTH: usize = 4;

/// Texts that an event keeps are cut to this many characters.
const LONGEST_TEXT: usize = 200;

impl TailEvent {
    /// An event of which nothing more is known yet.
    fn new(origin: Origin, kind: &str, identity: u64) -> Self {
        Self {
            origin,
            at: None,
            kind: kind.to_owned(),
            session: String::new(),
            preview: String::new(),
            tokens: None,
            error: None,
            duration: None,
            severity: Severity::Normal,
            call: None,
            identity,
        }
    }

    /// Reads a line; `None` when it is not an event.
    #[must_use]
    pub fn parse(line: &[u8], origin: Origin) -> Option<Self> {
        // Checking text is far quicker than mending it.
        let text = match std::str::from_utf8(line) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(line),
        };
        match origin {
            Origin::Sidecar => runtime_event(&Json::parse_shallow(&text, EVENT_DEPTH).ok()?),
            Origin::Transcript => {
                let mut value = Json::parse_shallow(&text, ROW_DEPTH).ok()?;
                if preview::quotes_content(&value) {
                    value = Json::parse_shallow(&text, QUOTED_DEPTH).ok()?;
                }
                transcript_event(&value)
            }
        }
    }

    /// Stands for a line that was too long to be read.
    pub(super) fn of_long_line(origin: Origin, bytes: u64) -> Self {
        Self {
            origin,
            at: None,
            kind: "line.too_long".to_owned(),
            session: String::new(),
            preview: format!("a line of {bytes} bytes was passed over"),
            tokens: None,
            error: None,
            duration: None,
            severity: Severity::Warning,
            call: None,
            identity: bytes,
        }
    }

    /// Time of day, `--:--:--` when there is none.
    #[must_use]
    pub fn clock(&self) -> String {
        let clock = self.at.map(UnixMillis::to_iso).and_then(|iso| {
            let (_, time) = iso.split_once('T')?;
            time.split_once('.').map(|(seconds, _)| seconds.to_owned())
        });
        clock.unwrap_or_else(|| "--:--:--".to_owned())
    }

    /// The preview with everything that is known beside it.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut parts: Vec<String> =
            Some(self.preview.clone()).filter(|preview| !preview.is_empty()).into_iter().collect();
        parts.extend(self.duration.map(shown_duration));
        parts.extend(self.tokens.map(|(input, output)| format!("{input} in, {output} out")));
        let mut text = parts.join(" · ");
        if let Some(error) = &self.error {
            text.push_str(": ");
            text.push_str(error);
        }
        text.trim().to_owned()
    }

    /// The line for people: time, type, session, summary.
    #[must_use]
    pub fn layout(&self) -> String {
        let (kind, session) = (column(&self.kind, 16), column(&self.session, 30));
        format!("{} {kind} {session} {}", self.clock(), self.summary()).trim_end().to_owned()
    }
}

/// Cuts to a width in characters, `…` at the end, or pads to it.
fn column(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return format!("{text:width$}");
    }
    text.chars().take(width - 1).chain(['…']).collect()
}

fn shown_duration(millis: u64) -> String {
    match millis {
        0..=999 => format!("{millis} ms"),
        1_000..=59_999 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        _ => format!("{} min {} s", millis / 60_000, millis % 60_000 / 1_000),
    }
}

/// Cuts a text of the run to one short line.
pub(super) fn short(text: &str) -> String {
    let mut short: String = text.trim().chars().take(LONGEST_TEXT).collect();
    if short.len() < text.trim().len() {
        short.push('…');
    }
    short
}

fn text<'j>(value: &'j Json<'_>, name: &str) -> Option<&'j str> {
    value.get(name).and_then(Json::as_str)
}

fn runtime_event(value: &Json<'_>) -> Option<TailEvent> {
    let version = value.get("schemaVersion").and_then(Json::as_u64);
    if text(value, "traceSchema")? != TRACE_SCHEMA || version != Some(SCHEMA_VERSION) {
        return None;
    }
    let kind = text(value, "type")?;
    let (stamp, session) = (text(value, "ts")?, text(value, "sessionId")?);
    let identity = identity(value, &["type", "ts", "seq", "sourceSeq", "runId", "sessionId"]);
    let mut event = TailEvent::new(Origin::Sidecar, kind, identity);
    event.at = UnixMillis::parse_lenient(stamp);
    event.session = short(text(value, "sessionKey").unwrap_or(session));
    preview::of_runtime(value, &mut event);
    Some(event)
}

fn transcript_event(value: &Json<'_>) -> Option<TailEvent> {
    let kind = text(value, "type")?;
    let stamp = value.get("timestamp");
    let identity = identity(value, &["type", "id", "parentId", "timestamp", "ordinal"]);
    let mut event = TailEvent::new(Origin::Transcript, kind, identity);
    event.at = stamp
        .and_then(Json::as_str)
        .and_then(UnixMillis::parse_lenient)
        .or_else(|| stamp.and_then(Json::as_f64).and_then(UnixMillis::from_f64));
    preview::of_transcript(value, &mut event);
    Some(event)
}

/// What makes an event this event: not its text, which a trim may change.
fn identity(value: &Json<'_>, names: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for name in names {
        match value.get(name) {
            Some(Json::String(text)) => text.hash(&mut hasher),
            Some(Json::Number(number)) => number.as_text().hash(&mut hasher),
            _ => name.hash(&mut hasher),
        }
    }
    if let Some(payload) = value.get("payload") {
        // Rows of rollouts have no id of their own.
        for name in ["type", "call_id", "id", "turn_id"] {
            text(payload, name).hash(&mut hasher);
        }
    }
    hasher.finish()
}
