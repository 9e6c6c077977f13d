//! Turns an event into a line: redact, then cut to the limits, then encode.
//!
//! The order matters. Cutting comes after redaction, so a cut can never hide
//! half a secret from a rule. Whatever is cut is stored, complete and redacted,
//! in a [`Blob`], so a limit loses nothing. Lines and blobs are built from
//! [`Redacted`] values, which only redaction can make.
//!
//! In reading order:
//! - this file: [`Capture`], which runs the three steps for one event;
//! - `heading`: the members of a line before its sequence numbers;
//! - `cut`: the limits;
//! - `blob`, `blob_names`: stores what was cut, and finds the names of blobs;
//! - `block`: the lines of many events in one allocation;
//! - `pending_line`: a line without its sequence numbers;
//! - [`recording`]: when a recorder retries, truncates or gives up.
//!
//! ```
//! use traj_core::capture::Capture;
//! use traj_core::event::{Event, EventKind, RunContext};
//! use traj_core::id::SessionId;
//! use traj_core::limits::Limits;
//! use traj_core::redaction::{MarkerKey, RedactionPolicy, Redactor};
//! use traj_core::timestamp::UnixMillis;
//!
//! let key = MarkerKey::from_random(getrandom::fill)?;
//! let redactor = Redactor::new(RedactionPolicy::standard(key));
//! let context = RunContext::new(SessionId::parse("s1")?);
//! let capture = Capture::new(redactor, Limits::standard(), &context);
//! let mut prepared = capture.prepare(Event::new(EventKind::SessionStarted, None), UnixMillis::EPOCH);
//! let mut line = String::new();
//! prepared.encode(1)?.write(1, &mut line);
//! assert!(line.starts_with(r#"{"traceSchema":"openclaw-trajectory","schemaVersion":1,"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blob;
mod blob_names;
mod block;
mod cut;
mod heading;
mod pending_line;
pub mod recording;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

pub use blob::{Blob, BlobDigest, OmittedBlob};
pub use blob_names::BlobNames;
pub use block::{BlockMemory, Captured, LineBlock};
pub use pending_line::{PendingLine, UnnumberedLine};

use std::sync::Arc;

use self::heading::{KindMembers, LastTime};
use self::pending_line::LineSpan;
use crate::event::{Event, RunContext, SCHEMA_VERSION, TRACE_SCHEMA};
use crate::json::{Json, Object};
use crate::limits::Limits;
use crate::redaction::{Redacted, RedactedText, RedactionReport, Redactor};
use crate::timestamp::UnixMillis;

/// The most digits of a sequence number; reserved on every line for
/// `sourceSeq`.
const NUMBER_DIGITS: usize = 20;

/// Capacity that is enough for most lines; others grow once or twice.
const USUAL_BYTES: usize = 512;

/// Capacity that is enough for most headings.
const USUAL_HEADING: usize = 64;

/// How many strings the redactor remembers, so that it does not search them
/// again. Hosts record the same strings over and over: instructions, tools, and
/// the whole conversation with every model response. Only a hash and the
/// positions of secrets are kept per string.
const KNOWN_TEXTS: usize = 8_192;

/// Turns the events of one run into lines.
#[derive(Debug)]
pub struct Capture {
    redactor: Redactor,
    limits: Limits,
    /// `…,"source":"runtime"`: the first members of every line.
    opening: Redacted<String>,
    /// `"sessionId":…`: the members of every line after its sequence numbers.
    context: Redacted<String>,
    kinds: KindMembers,
}

/// An event does not fit into a line even without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of {bytes} bytes does not fit into a line of {limit} bytes")]
#[non_exhaustive]
pub struct EventTooLarge {
    /// The size of its line without data, in bytes.
    pub bytes: usize,
    /// The longest allowed line, in bytes.
    pub limit: usize,
}

impl EventTooLarge {
    /// An event of `bytes` bytes that exceeds `limit`.
    #[must_use]
    pub const fn new(bytes: usize, limit: usize) -> Self {
        Self { bytes, limit }
    }
}

impl Capture {
    /// Captures events of the run that `context` describes.
    #[must_use]
    pub fn new(redactor: Redactor, limits: Limits, context: &RunContext) -> Self {
        let mut report = RedactionReport::default();
        let mut opening = Object::with_capacity(4);
        opening.push("traceSchema", TRACE_SCHEMA);
        opening.push("schemaVersion", SCHEMA_VERSION);
        opening.push("traceId", context.session.as_str());
        opening.push("source", "runtime");
        let opening = redactor.json(Json::Object(opening), &mut report).to_members();
        let context = redactor.json(Json::Object(context.members()), &mut report).to_members();
        let kinds = KindMembers::new(&redactor);
        let redactor = redactor.remembering(KNOWN_TEXTS);
        Self { redactor, limits, opening, context, kinds }
    }

    /// Redacts an event and cuts it to the limits.
    #[must_use]
    pub fn prepare(&self, event: Event, now: UnixMillis) -> Prepared<'_> {
        let mut heading = RedactedText::with_capacity(USUAL_HEADING);
        let CutEvent { data, blobs, report } =
            self.redact_and_cut(event, now, &mut LastTime::default(), &mut heading);
        Prepared { capture: self, heading: heading.finish(), data, blobs, report }
    }

    /// Redacts an event, then cuts it to the limits. Appends its heading to
    /// `heading`.
    fn redact_and_cut(
        &self,
        event: Event,
        now: UnixMillis,
        last_time: &mut LastTime,
        heading: &mut RedactedText,
    ) -> CutEvent {
        let mut report = RedactionReport::default();
        self.kinds.write(&self.redactor, &event.kind, &mut report, heading);
        last_time.write(event.at.unwrap_or(now), heading);
        let mut blobs = Vec::new();
        let data = event.into_data().map(|data| {
            let whole = self.redactor.json(Json::Object(data), &mut report);
            cut::to_limits(whole, &self.limits, &mut blobs)
        });
        CutEvent { data, blobs, report }
    }

    /// Begins a line at the end of `text`; its heading comes next.
    fn begin_line(&self, text: &mut RedactedText) -> BegunLine {
        let start = text.len();
        text.push_static("{").push_text(&self.opening).push_static(",");
        BegunLine { start, heading_at: text.len() }
    }

    /// Completes a line; `text` ends with its heading. The sequence numbers are
    /// inserted after the heading.
    fn end_line(
        &self,
        line: &BegunLine,
        data: Option<&Redacted<Json<'static>>>,
        text: &mut RedactedText,
    ) -> LineSpan {
        let numbers_at = text.len();
        text.push_static(",").push_text(&self.context);
        if let Some(data) = data {
            text.push_static(",\"data\":").push_json(data.view());
        }
        text.push_static("}");
        LineSpan { start: line.start, numbers_at, end: text.len() }
    }
}

/// An event after redaction and the limits.
struct CutEvent {
    data: Option<Redacted<Json<'static>>>,
    blobs: Vec<Blob>,
    report: RedactionReport,
}

/// A line up to its heading.
struct BegunLine {
    start: usize,
    heading_at: usize,
}

/// An event that is redacted and within its limits, but not numbered yet.
#[derive(Debug)]
pub struct Prepared<'c> {
    capture: &'c Capture,
    heading: Redacted<String>,
    data: Option<Redacted<Json<'static>>>,
    blobs: Vec<Blob>,
    report: RedactionReport,
}

impl Prepared<'_> {
    /// The blobs to store before the line that names them.
    #[must_use]
    pub fn blobs(&self) -> &[Blob] {
        &self.blobs
    }

    /// What redaction found.
    #[must_use]
    pub const fn report(&self) -> &RedactionReport {
        &self.report
    }

    /// Marks a blob in the event as not stored.
    pub fn omit_blob(&mut self, digest: &BlobDigest, reason: OmittedBlob) {
        if let Some(data) = &mut self.data {
            blob::mark_omitted(data, digest, reason);
        }
        self.blobs.retain(|blob| blob.digest() != digest);
    }

    /// Encodes the line with the event's number in its run. If the line would
    /// be too long, all of the data moves into a blob: call [`Self::blobs`]
    /// again.
    ///
    /// # Errors
    /// When the event does not fit into a line even without data.
    pub fn encode(&mut self, sequence: u64) -> Result<PendingLine, EventTooLarge> {
        let limit = self.capture.limits.line_bytes;
        let line = self.assemble(sequence);
        let bytes = line.bytes_without_number() + NUMBER_DIGITS;
        if bytes <= limit {
            return Ok(line);
        }
        if let Some(data) = self.data.take() {
            let (marker, blob) = cut::whole_data(&data, limit);
            self.data = Some(marker);
            self.blobs.push(blob);
        }
        let line = self.assemble(sequence);
        let bytes = line.bytes_without_number() + NUMBER_DIGITS;
        if bytes <= limit { Ok(line) } else { Err(EventTooLarge { bytes, limit }) }
    }

    fn assemble(&self, sequence: u64) -> PendingLine {
        let mut text = RedactedText::with_capacity(USUAL_BYTES);
        let line = self.capture.begin_line(&mut text);
        text.push_text(&self.heading);
        let span = self.capture.end_line(&line, self.data.as_ref(), &mut text);
        UnnumberedLine::new(Arc::new(text), span).numbered(sequence)
    }
}
