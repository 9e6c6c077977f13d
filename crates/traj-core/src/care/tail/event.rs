//! The summary of one line of a sidecar or transcript.

use std::borrow::Cow;

use super::filter::EventFilter;
use super::summary;
use super::timings::SpanEdge;
use crate::dialect::{Dialect, SKIM_DEPTH};
use crate::json::{Json, MAX_DEPTH};
use crate::run::words::LONGEST_PREVIEW;
use crate::run::{Origin, Place, one_line};
use crate::timestamp::UnixMillis;

/// How prominent an event should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// Nothing special.
    Normal,
    /// Something was skipped, truncated or took too long.
    Warning,
    /// Something failed.
    Error,
}

/// A summarised event; its size is bounded, however long its line is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TailEvent {
    /// Which file it comes from.
    pub origin: Origin,
    /// When it happened; `None` when the line states no readable time.
    pub at: Option<UnixMillis>,
    /// Its type.
    pub kind: String,
    /// The session's key, else its id.
    pub session: String,
    /// Whether the [`EventFilter`] wants it. Only the time and type of an unwanted
    /// event are known.
    pub is_wanted: bool,
    /// What happened, in a few words.
    pub preview: String,
    /// Input and output tokens, cached ones included, if the event states them.
    pub tokens: Option<(u64, u64)>,
    /// What went wrong, in the run's own words.
    pub error: Option<String>,
    /// How long it took, in milliseconds.
    pub duration: Option<u64>,
    /// How prominent it should be.
    pub severity: Severity,
    /// The tool call it belongs to.
    pub call_id: Option<String>,
    /// What the call runs or works on.
    pub command: Option<String>,
    /// The outcome of the call: the name of an [`Outcome`](crate::run::Outcome).
    pub outcome: Option<&'static str>,
    /// The exit code of a call that failed.
    pub exit_code: Option<i64>,
    pub(super) is_failed: bool,
    /// The spans that begin or end here.
    pub(super) edges: Vec<SpanEdge>,
    pub(super) identity: u64,
}

impl TailEvent {
    /// An event with only its origin, type and identity set.
    fn new(origin: Origin, kind: &str, identity: u64) -> Self {
        Self {
            origin,
            at: None,
            kind: one_line(kind, LONGEST_PREVIEW),
            session: String::new(),
            is_wanted: false,
            preview: String::new(),
            tokens: None,
            error: None,
            duration: None,
            severity: Severity::Normal,
            call_id: None,
            command: None,
            outcome: None,
            exit_code: None,
            is_failed: false,
            edges: Vec::new(),
            identity,
        }
    }

    /// Reads a line; `None` if it is not an event.
    #[must_use]
    pub fn parse(line: &[u8], origin: Origin, filter: &dyn EventFilter) -> Option<Self> {
        // Validating UTF-8 is far quicker than repairing it.
        let text = match std::str::from_utf8(line) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(line),
        };
        let is_whole = filter.wants_every_type();
        let depth = if is_whole { MAX_DEPTH } else { SKIM_DEPTH };
        let mut row = Json::parse_shallow(&text, depth).ok()?;
        let dialect = dialect_of(&row, origin)?;
        let kind = dialect.type_name(&row)?;
        let mut event = Self::new(origin, &kind, dialect.identity_of(&row));
        // Rows of unwanted types are read for their times only.
        let is_wanted = is_whole || filter.wants_type(&event.kind);
        let needed = if is_wanted { MAX_DEPTH } else { dialect.depth_of_times(&row) };
        if needed > depth {
            row = Json::parse_shallow(&text, needed).ok()?;
        }
        dialect.decode(&row, Place::default(), &mut |stated| {
            event.at = event.at.or(stated.at);
            event.edges.extend(SpanEdge::of(&stated));
        });
        if is_wanted {
            let row = filter.redact(row);
            summary::fill(&mut event, dialect, &row);
            event.is_wanted = filter.wants(&event, &row);
        }
        Some(event)
    }

    /// Stands in for a line that was too long to be read.
    pub(super) fn of_long_line(origin: Origin, bytes: u64, filter: &dyn EventFilter) -> Self {
        let mut event = Self::new(origin, "line.too_long", bytes);
        event.preview = format!("skipped a line of {bytes} bytes");
        event.severity = Severity::Warning;
        event.is_wanted = filter.wants_type(&event.kind) && filter.wants(&event, &Json::Null);
        event
    }

    /// The time of day, or `--:--:--` if the event has no time.
    #[must_use]
    pub fn clock(&self) -> String {
        let clock = self.at.map(UnixMillis::to_iso).and_then(|iso| {
            let (_, time) = iso.split_once('T')?;
            time.split_once('.').map(|(seconds, _)| seconds.to_owned())
        });
        clock.unwrap_or_else(|| "--:--:--".to_owned())
    }

    /// The preview with the duration and all else that is known.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut parts: Vec<String> =
            Some(self.preview.clone()).filter(|preview| !preview.is_empty()).into_iter().collect();
        parts.extend(self.duration.map(shown_duration));
        parts.extend(self.tokens.map(|(input, output)| format!("{input} in, {output} out")));
        let text = parts.join(" · ");
        match &self.error {
            Some(error) if text.is_empty() => error.clone(),
            Some(error) => format!("{text}: {error}"),
            None => text,
        }
    }

    /// The line for people: time, type, session, summary.
    #[must_use]
    pub fn layout(&self) -> String {
        let (kind, session) = (column(&self.kind, 16), column(&self.session, 30));
        format!("{} {kind} {session} {}", self.clock(), self.summary()).trim_end().to_owned()
    }
}

/// Truncates to a width in characters, ending in `…`, or pads to it.
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

/// A sidecar contains only recorder events; a transcript may come from any
/// program.
fn dialect_of(row: &Json<'_>, origin: Origin) -> Option<Dialect> {
    let dialect = Dialect::of_row(row);
    match origin {
        Origin::Runtime => dialect.filter(|dialect| *dialect == Dialect::Sidecar),
        Origin::Transcript => Some(dialect.unwrap_or(Dialect::OpenClaw)),
    }
}
