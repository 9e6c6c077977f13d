//! The summary of one line of a sidecar or transcript.

use std::borrow::Cow;

use super::screen::Screen;
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
    /// When it happened; `None` when the line states no readable time.
    pub at: Option<UnixMillis>,
    /// Its type.
    pub kind: String,
    /// The session's key, else its id.
    pub session: String,
    /// Whether the [`Screen`] wants it. Of an event that is not wanted only
    /// its time and type are known.
    pub is_wanted: bool,
    /// What happened, in a few words.
    pub preview: String,
    /// Tokens in and out, cached ones included, where the event states them.
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
    /// What became of the call: the name of an
    /// [`Outcome`](crate::run::Outcome).
    pub outcome: Option<&'static str>,
    /// The exit code of a call that failed.
    pub exit_code: Option<i64>,
    pub(super) is_failed: bool,
    /// What begins and ends here.
    pub(super) edges: Vec<SpanEdge>,
    pub(super) identity: u64,
}

impl TailEvent {
    /// An event of which nothing more is known yet.
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

    /// Reads a line; `None` when it is not an event.
    #[must_use]
    pub fn parse(line: &[u8], origin: Origin, screen: &dyn Screen) -> Option<Self> {
        // Checking text is far quicker than repairing it.
        let text = match std::str::from_utf8(line) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(line),
        };
        let skimmed = Json::parse_shallow(&text, SKIM_DEPTH).ok()?;
        let dialect = dialect_of(&skimmed, origin)?;
        let kind = dialect.type_name(&skimmed)?;
        let mut event = Self::new(origin, &kind, dialect.identity_of(&skimmed));
        // The row of a type that nobody wants is read for its times only.
        let is_wanted = screen.wants_type(&event.kind);
        let depth = if is_wanted { MAX_DEPTH } else { dialect.depth_of_times(&skimmed) };
        let row =
            if depth == SKIM_DEPTH { skimmed } else { Json::parse_shallow(&text, depth).ok()? };
        dialect.decode(&row, Place::default(), &mut |stated| {
            event.at = event.at.or(stated.at);
            event.edges.extend(SpanEdge::of(&stated));
        });
        if is_wanted {
            let row = screen.redact(row);
            summary::fill(&mut event, dialect, &row);
            event.is_wanted = screen.wants(&event, &row);
        }
        Some(event)
    }

    /// Stands for a line that was too long to be read.
    pub(super) fn of_long_line(origin: Origin, bytes: u64, screen: &dyn Screen) -> Self {
        let mut event = Self::new(origin, "line.too_long", bytes);
        event.preview = format!("a line of {bytes} bytes was passed over");
        event.severity = Severity::Warning;
        event.is_wanted = screen.wants_type(&event.kind) && screen.wants(&event, &Json::Null);
        event
    }

    /// Time of day, `--:--:--` when the event has no time.
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

/// A sidecar holds events of recorders only; a transcript may be anybody's.
fn dialect_of(row: &Json<'_>, origin: Origin) -> Option<Dialect> {
    let dialect = Dialect::of_row(row);
    match origin {
        Origin::Runtime => dialect.filter(|dialect| *dialect == Dialect::Sidecar),
        Origin::Transcript => Some(dialect.unwrap_or(Dialect::OpenClaw)),
    }
}
