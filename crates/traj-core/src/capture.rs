//! From an event to a line: redact, then cut to the limits, then encode.
//!
//! The order matters. A cut comes after redaction, so it can never save half a
//! secret from a rule; what is cut goes whole, redacted, into a [`Blob`], so
//! nothing is lost to a limit.
//!
//! ```
//! use traj_core::capture::Capture;
//! use traj_core::event::{Event, EventKind, RunContext};
//! use traj_core::id::SessionId;
//! use traj_core::limits::Limits;
//! use traj_core::redaction::{MarkerKey, RedactionPolicy, Redactor};
//! use traj_core::timestamp::UnixMillis;
//!
//! let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
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

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

pub use blob::{Blob, BlobDigest, OmittedBlob};
pub use blob_names::BlobNames;
pub use block::{BlockMemory, Captured, LineBlock};
pub use pending_line::{PendingLine, UnnumberedLine};

use std::sync::Arc;

use self::heading::KindMembers;
use self::pending_line::{BlockText, Place};
use crate::event::{Event, RunContext, SCHEMA_VERSION, TRACE_SCHEMA};
use crate::json::{Json, Object};
use crate::limits::Limits;
use crate::redaction::{Redacted, RedactionReport, Redactor};
use crate::timestamp::UnixMillis;

/// Digits a number can have; kept free on every line for its place in the file.
const NUMBER_DIGITS: usize = 20;

/// Most lines need no more; those that do grow once or twice.
const USUAL_BYTES: usize = 512;

/// Texts that are not searched again. Hosts record the same ones over and over:
/// instructions, tools, and with every answer of the model the whole
/// conversation so far. Of each, a hash is remembered, and where secrets stood.
const KNOWN_TEXTS: usize = 8_192;

/// Turns the events of one run into lines.
#[derive(Debug)]
pub struct Capture {
    redactor: Redactor,
    limits: Limits,
    /// `{…,"source":"runtime"` of every line, without the closing brace.
    opening: Redacted<String>,
    /// `"sessionId":…` and what follows it on every line, without braces.
    context: Redacted<String>,
    kinds: KindMembers,
}

/// An event does not fit a line even without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of {bytes} bytes does not fit a line of {limit}")]
#[non_exhaustive]
pub struct EventTooLarge {
    /// Bytes it would need without its data.
    pub bytes: usize,
    /// Bytes a line may have.
    pub limit: usize,
}

impl EventTooLarge {
    /// An event of this size, and the limit that it meets.
    #[must_use]
    pub const fn new(bytes: usize, limit: usize) -> Self {
        Self { bytes, limit }
    }
}

impl Capture {
    /// Captures the events of the run that `context` describes.
    #[must_use]
    pub fn new(redactor: Redactor, limits: Limits, context: &RunContext) -> Self {
        let mut report = RedactionReport::default();
        let mut opening = Object::with_capacity(4);
        opening.push("traceSchema", TRACE_SCHEMA);
        opening.push("schemaVersion", SCHEMA_VERSION);
        opening.push("traceId", context.session.as_str());
        opening.push("source", "runtime");
        let opening = redactor.json(Json::Object(opening), &mut report).to_line();
        let opening = opening.map(|line| line.trim_end_matches('}').to_owned());
        let context = redactor.json(Json::Object(context.members()), &mut report).to_line();
        let context = context.map(|line| inside_braces(&line).to_owned());
        let kinds = KindMembers::new(&redactor);
        let redactor = redactor.remembering(KNOWN_TEXTS);
        Self { redactor, limits, opening, context, kinds }
    }

    /// Redacts an event and cuts it to the limits.
    #[must_use]
    pub fn prepare(&self, event: Event, now: UnixMillis) -> Prepared<'_> {
        let mut report = RedactionReport::default();
        let at = event.at.unwrap_or(now);
        let frame = self.kinds.frame(&self.redactor, &event.kind, at, &mut report);
        let mut blobs = Vec::new();
        let data = event.into_data().map(|data| {
            let whole = self.redactor.json(Json::Object(data), &mut report);
            cut::to_limits(whole, &self.limits, &mut blobs)
        });
        Prepared { capture: self, frame, data, blobs, report }
    }
}

/// An event that is redacted and within its limits, but has no numbers yet.
#[derive(Debug)]
pub struct Prepared<'c> {
    capture: &'c Capture,
    frame: Redacted<String>,
    data: Option<Redacted<Json<'static>>>,
    blobs: Vec<Blob>,
    report: RedactionReport,
}

impl Prepared<'_> {
    /// Texts that have to be stored before the line that names them.
    #[must_use]
    pub fn blobs(&self) -> &[Blob] {
        &self.blobs
    }

    /// What redaction found.
    #[must_use]
    pub const fn report(&self) -> &RedactionReport {
        &self.report
    }

    /// Says in the event that a blob could not be stored.
    pub fn omit_blob(&mut self, digest: &BlobDigest, reason: OmittedBlob) {
        if let Some(data) = &mut self.data {
            data.amend(|json| blob::mark_omitted(json, digest, reason));
        }
        self.blobs.retain(|blob| blob.digest() != digest);
    }

    /// The line with the event's number in its run. If it would be longer than
    /// a line may be, the data goes into a blob as a whole; look at
    /// [`Self::blobs`] again.
    ///
    /// # Errors
    /// When the event does not fit even without data.
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
        let Capture { opening, context, .. } = self.capture;
        let mut text = String::with_capacity(USUAL_BYTES);
        text.push_str(opening.as_ref());
        text.push(',');
        text.push_str(self.frame.as_ref());
        let numbers_at = text.len();
        write_behind_numbers(context, self.data.as_ref(), &mut text);
        let place = Place { start: 0, numbers_at, end: text.len() };
        UnnumberedLine::new(Arc::new(BlockText(text)), place).numbered(sequence)
    }
}

/// Appends what stands behind the numbers of a line.
fn write_behind_numbers(
    context: &Redacted<String>,
    data: Option<&Redacted<Json<'static>>>,
    text: &mut String,
) {
    text.push(',');
    text.push_str(context.as_ref());
    if let Some(data) = data {
        text.push_str(",\"data\":");
        data.as_ref().write_compact(text);
    }
    text.push('}');
}

fn inside_braces(line: &str) -> &str {
    line.strip_prefix('{').and_then(|line| line.strip_suffix('}')).unwrap_or(line)
}
