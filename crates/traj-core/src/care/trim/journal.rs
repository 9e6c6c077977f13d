//! The undo journal: the original of every changed line, kept for a while.

use std::error::Error;
use std::ops::ControlFlow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::log_line;
use crate::capture::BlobDigest;
use crate::json::Json;
use crate::port::{LineEdit, LineLog, LineLogError, LineVerdict};
use crate::timestamp::UnixMillis;

const SCHEMA: &str = "traj-trim-undo";

/// Records are passed to the log in batches of this size.
const PORTION: usize = 1024 * 1024;

/// The journal beside a session file.
#[must_use]
pub fn journal_beside(session_file: &str) -> String {
    log_line::beside(session_file, ".trim-undo.jsonl")
}

/// Removes expired records; without `now`, all of them.
///
/// # Errors
/// When the log cannot be used.
pub fn expire(journal: &dyn LineLog, now: Option<UnixMillis>) -> Result<(), LineLogError> {
    let is_current = |line: &[u8]| {
        now.is_some_and(|now| UndoRecord::parse(line).is_some_and(|record| record.until >= now))
    };
    let mut stale = false;
    journal.read(&mut |line| {
        stale |= !is_current(line);
        if stale { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if stale { journal.retain(&mut |line| is_current(line)) } else { Ok(()) }
}

/// The file that a record is about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrimmedFile {
    /// The session itself.
    Session,
    /// Its sidecar.
    Sidecar,
    /// A blob of the sidecar.
    Blob(BlobDigest),
}

impl TrimmedFile {
    fn to_text(&self) -> String {
        match self {
            Self::Session => "session".to_owned(),
            Self::Sidecar => "sidecar".to_owned(),
            Self::Blob(name) => format!("blob:{name}"),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "session" => Some(Self::Session),
            "sidecar" => Some(Self::Sidecar),
            other => other.strip_prefix("blob:").and_then(BlobDigest::parse).map(Self::Blob),
        }
    }
}

/// One changed line, or one removed blob.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UndoRecord {
    /// When it was changed; records of one trim share this.
    pub at: UnixMillis,
    /// Until when it can be undone.
    pub until: UnixMillis,
    /// Which file.
    pub document: TrimmedFile,
    /// The SHA-256 digest of the changed line, in hex; empty for a blob.
    pub line: String,
    /// The original line.
    pub original: Vec<u8>,
}

impl UndoRecord {
    /// Reads a line of the journal; `None` if it is not a record.
    #[must_use]
    pub fn parse(line: &[u8]) -> Option<Self> {
        let value = log_line::read(line, SCHEMA)?;
        let text = |name| value.get(name).and_then(Json::as_str);
        let original = match (text("original"), text("originalBase64")) {
            (Some(original), _) => original.as_bytes().to_vec(),
            (None, Some(encoded)) => STANDARD.decode(encoded).ok()?,
            (None, None) => return None,
        };
        Some(Self {
            at: UnixMillis::parse_iso(text("at")?)?,
            until: UnixMillis::parse_iso(text("until")?)?,
            document: TrimmedFile::parse(text("document")?)?,
            line: text("line")?.to_owned(),
            original,
        })
    }

    /// The record as a line.
    #[must_use]
    pub fn to_line(&self) -> String {
        let mut record = log_line::begin(SCHEMA);
        record.push("at", self.at.to_iso());
        record.push("until", self.until.to_iso());
        record.push("document", self.document.to_text());
        record.push("line", self.line.as_str());
        match std::str::from_utf8(&self.original) {
            Ok(text) => record.push("original", text),
            Err(_) => record.push("originalBase64", STANDARD.encode(&self.original)),
        }
        Json::Object(record).to_line()
    }
}

/// The digest by which a changed line is found again.
pub(super) fn digest(line: &[u8]) -> String {
    Sha256::digest(line).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Collects records and passes them to a log.
#[derive(Debug)]
pub struct JournalWriter<'a> {
    log: &'a dyn LineLog,
    at: UnixMillis,
    until: UnixMillis,
    waiting: Vec<String>,
    bytes: usize,
    failed: Option<LineLogError>,
    /// Whether records of this trim are in the log.
    is_logged: bool,
}

impl<'a> JournalWriter<'a> {
    /// A writer for one trim made at `at` that can be undone until `until`.
    #[must_use]
    pub const fn new(log: &'a dyn LineLog, at: UnixMillis, until: UnixMillis) -> Self {
        Self { log, at, until, waiting: Vec::new(), bytes: 0, failed: None, is_logged: false }
    }

    /// Notes that a line, or a blob, changed.
    pub fn note(&mut self, document: TrimmedFile, line: String, original: &[u8]) {
        let record = UndoRecord {
            at: self.at,
            until: self.until,
            document,
            line,
            original: original.to_vec(),
        };
        let text = record.to_line();
        self.bytes += text.len();
        self.waiting.push(text);
        if self.bytes >= PORTION && self.failed.is_none() {
            self.failed = self.hand_over().err();
        }
    }

    /// Makes all records noted so far durable.
    ///
    /// # Errors
    /// When the log failed, now or before.
    pub fn flush(&mut self) -> Result<(), LineLogError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.hand_over()
    }

    fn hand_over(&mut self) -> Result<(), LineLogError> {
        self.bytes = 0;
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return Ok(());
        }
        self.log.append(&waiting)?;
        self.is_logged = true;
        Ok(())
    }

    /// Removes the records of a document that did not change after all, as far as
    /// the log allows. A record that stays does no harm: an undo does not find
    /// its line.
    pub(super) fn retract(&mut self, document: &TrimmedFile) {
        self.waiting.clear();
        self.bytes = 0;
        self.failed = None;
        if self.is_logged {
            let at = self.at;
            let is_ours = |record: UndoRecord| record.at == at && record.document == *document;
            self.log.retain(&mut |line| !UndoRecord::parse(line).is_some_and(is_ours)).ok();
        }
    }
}

/// An edit whose changes are journalled before they take effect.
#[derive(Debug)]
pub struct WithJournal<'a, 'j, E> {
    /// The edit itself.
    edit: &'a mut E,
    journal: Option<&'a mut JournalWriter<'j>>,
    document: TrimmedFile,
}

impl<'a, 'j, E: LineEdit> WithJournal<'a, 'j, E> {
    /// Wraps an edit; without a journal, only passes calls through.
    pub const fn new(
        edit: &'a mut E,
        journal: Option<&'a mut JournalWriter<'j>>,
        document: TrimmedFile,
    ) -> Self {
        Self { edit, journal, document }
    }
}

impl<E: LineEdit> LineEdit for WithJournal<'_, '_, E> {
    fn concerns(&self, block: &[u8]) -> bool {
        self.edit.concerns(block)
    }

    fn line(&mut self, line: &[u8]) -> LineVerdict {
        let verdict = self.edit.line(line);
        if let (LineVerdict::Replace(text), Some(journal)) = (&verdict, &mut self.journal) {
            journal.note(self.document.clone(), digest(text), line);
        }
        verdict
    }

    fn passed_over(&mut self, bytes: u64) {
        self.edit.passed_over(bytes);
    }

    fn before_commit(&mut self) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.edit.before_commit()?;
        if let Some(journal) = &mut self.journal {
            journal.flush()?;
        }
        Ok(())
    }
}
