//! Draining: applies queued trims to the session and every copy.

use std::collections::BTreeSet;
use std::error::Error;
use std::ops::ControlFlow;

use super::edit::blobs::{Renamed, trim_blobs};
use super::edit::probe::IdProbe;
use super::journal::{JournalWriter, TrimmedFile, WithJournal};
use super::queue::QueueEntry;
use super::{SidecarEdit, Tally, TrimEdit, TrimItem};
use crate::capture::BlobDigest;
use crate::dialect::shape::message;
use crate::id::ToolCallId;
use crate::json::{Json, Object};
use crate::port::{
    BlobFolder, BlobFolderError, LineEdit, LineLog, LineLogError, LineVerdict, RewriteError,
    RewriteMode, RewriteReport, SessionRewriter,
};

/// How many times a rewrite is tried while other processes keep replacing the
/// file.
const ATTEMPTS: u32 = 5;

/// Why a trim failed, in whole or in part.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrimError {
    /// A document cannot be rewritten.
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
    /// The queue or the journal cannot be used.
    #[error(transparent)]
    Log(#[from] LineLogError),
    /// A blob cannot be removed or put back.
    #[error(transparent)]
    Blob(#[from] BlobFolderError),
    /// The blob directory cannot be read.
    #[error("cannot read the blob directory")]
    BlobFolder(#[source] Box<dyn Error + Send + Sync>),
}

/// The documents of one session.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "built literally by the code that wires the ports")]
pub struct TrimPorts<'a> {
    /// The session file.
    pub session: &'a dyn SessionRewriter,
    /// Its trajectory sidecar, if there is one.
    pub sidecar: Option<&'a dyn SessionRewriter>,
    /// The sidecar's blobs, if there are any.
    pub blobs: Option<&'a dyn BlobFolder>,
}

/// The result of a drain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DrainReport {
    /// The name of the session file.
    pub session_file: String,
    /// Counts for the session.
    pub session: Tally,
    /// Counts for the sidecar.
    pub sidecar: Tally,
    /// How the session was rewritten.
    pub rewrite: RewriteReport,
    /// How the sidecar was rewritten.
    pub sidecar_rewrite: RewriteReport,
    /// Blobs that were removed.
    pub removed_blobs: u64,
}

impl DrainReport {
    /// The report in the shape hosts expect, followed by traj's own members.
    #[must_use]
    pub fn to_json(&self) -> Json<'_> {
        let mut report = Object::with_capacity(12);
        report.push("session_file", self.session_file.as_str());
        report.push("applied", self.session.applied);
        report.push("skipped", self.session.skipped);
        report.push("trimmed_bytes", self.session.trimmed_bytes);
        report.push("self_compacted", self.session.self_compacted);
        let errors = self.session.errors.iter().chain(&self.sidecar.errors);
        report.push("errors", errors.map(String::as_str).collect::<Vec<_>>());
        report.push("bytes_before", self.rewrite.bytes_before);
        report.push("bytes_after", self.rewrite.bytes_after);
        report.push("merged_bytes", self.rewrite.merged_bytes);
        report.push("held_open", self.rewrite.held_open || self.sidecar_rewrite.held_open);
        report.push("sidecar_events", self.sidecar_rewrite.changed_lines);
        report.push("sidecar_trimmed_bytes", self.sidecar.trimmed_bytes);
        report.push("removed_blobs", self.removed_blobs);
        Json::Object(report)
    }
}

/// What a drain applies, and how.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a drain needs each of these from its caller")]
pub struct DrainRequest<'a> {
    /// The name of the session file, for the report.
    pub session_file: &'a str,
    /// Trims that did not go through the queue.
    pub items: &'a [TrimItem],
    /// The queue to empty, if any.
    pub queue: Option<&'a dyn LineLog>,
    /// Whether to write or only to preview.
    pub mode: RewriteMode,
}

/// Applies the items of a request and of its queue; `None` if there are none.
///
/// The session comes first, then the sidecar and its blobs. Only then are the
/// finished entries removed from the queue, so that after a crash the next drain
/// completes the work.
///
/// # Errors
/// See [`TrimError`]; the queue keeps its entries.
pub fn drain(
    ports: &TrimPorts<'_>,
    request: DrainRequest<'_>,
    mut journal: Option<JournalWriter<'_>>,
) -> Result<Option<DrainReport>, TrimError> {
    let DrainRequest { session_file, items, queue, mode } = request;
    let mut report =
        DrainReport { session_file: session_file.to_owned(), ..DrainReport::default() };
    let (queued, lines) = waiting(queue, &mut report)?;
    let items: Vec<TrimItem> = queued.into_iter().chain(items.iter().cloned()).collect();
    if items.is_empty() {
        return Ok(None);
    }
    match with_retries(ports.session, mode, || TrimEdit::new(&items), journal.as_mut()) {
        Ok((rewrite, edit)) => {
            let errors = std::mem::take(&mut report.session.errors);
            report.session = edit.finish();
            report.session.errors.splice(0..0, errors);
            report.rewrite = rewrite;
        }
        Err(TrimError::Rewrite(RewriteError::Missing { .. })) => {
            report.session.skipped = items.len() as u64;
            report.session.errors.push(format!("session file vanished: {session_file}"));
        }
        Err(error) => return Err(error),
    }
    trim_copies(ports, &items, journal.as_mut(), mode, &mut report)?;
    if let (Some(queue), RewriteMode::Commit) = (queue, mode) {
        settle(queue, &lines)?;
    }
    Ok(Some(report))
}

/// Trims the sidecar and removes blobs that are no longer referenced.
pub(super) fn trim_copies(
    ports: &TrimPorts<'_>,
    items: &[TrimItem],
    mut journal: Option<&mut JournalWriter<'_>>,
    mode: RewriteMode,
    report: &mut DrainReport,
) -> Result<(), TrimError> {
    let Some(sidecar) = ports.sidecar else { return Ok(()) };
    let mut in_blobs = Tally::default();
    let renamed = match ports.blobs {
        Some(blobs) => trim_blobs(blobs, items, mode, &mut in_blobs)?,
        None => Renamed::new(),
    };
    let edit = || SidecarEdit::with_blobs(items, &renamed);
    let (rewrite, edit) =
        match with_journal(sidecar, mode, edit, journal.as_deref_mut(), &TrimmedFile::Sidecar) {
            Err(TrimError::Rewrite(RewriteError::Missing { .. })) => return Ok(()),
            outcome => outcome?,
        };
    report.sidecar = edit.finish();
    report.sidecar.copies += in_blobs.applied + in_blobs.copies;
    report.sidecar.trimmed_bytes += in_blobs.trimmed_bytes;
    report.sidecar.blobs.extend(in_blobs.blobs);
    report.sidecar_rewrite = rewrite;
    let Some(blobs) = ports.blobs else { return Ok(()) };
    let mut survey = BlobSurvey { unseen: report.sidecar.blobs.clone() };
    if mode == RewriteMode::Commit && !survey.unseen.is_empty() {
        sidecar.rewrite(&mut survey, RewriteMode::Preview)?;
    }
    for name in &survey.unseen {
        if mode == RewriteMode::Commit {
            if let (Some(journal), Some(content)) = (journal.as_deref_mut(), blobs.read(name)?) {
                journal.note(TrimmedFile::Blob(name.clone()), String::new(), &content);
                journal.flush()?;
            }
            blobs.remove(name)?;
        }
        report.removed_blobs += 1;
    }
    Ok(())
}

/// Rewrites a session; retries when another process replaced it.
pub(super) fn with_retries<E: LineEdit>(
    port: &dyn SessionRewriter,
    mode: RewriteMode,
    make: impl Fn() -> E,
    journal: Option<&mut JournalWriter<'_>>,
) -> Result<(RewriteReport, E), TrimError> {
    with_journal(port, mode, make, journal, &TrimmedFile::Session)
}

fn with_journal<E: LineEdit>(
    port: &dyn SessionRewriter,
    mode: RewriteMode,
    make: impl Fn() -> E,
    mut journal: Option<&mut JournalWriter<'_>>,
    document: &TrimmedFile,
) -> Result<(RewriteReport, E), TrimError> {
    let mut attempt = 1;
    loop {
        let mut edit = make();
        let wanted = journal.as_deref_mut().filter(|_| mode == RewriteMode::Commit);
        let mut journaled = WithJournal::new(&mut edit, wanted, document.clone());
        let error = match port.rewrite(&mut journaled, mode) {
            Ok(report) => return Ok((report, edit)),
            Err(error) => error,
        };
        if let Some(journal) = journal.as_deref_mut() {
            journal.retract(document);
        }
        if !matches!(error, RewriteError::Conflict { .. }) || attempt == ATTEMPTS {
            return Err(error.into());
        }
        attempt += 1;
    }
}

fn waiting(
    queue: Option<&dyn LineLog>,
    report: &mut DrainReport,
) -> Result<(Vec<TrimItem>, Vec<Vec<u8>>), TrimError> {
    let mut items = Vec::new();
    let mut lines = Vec::new();
    if let Some(queue) = queue {
        queue.read(&mut |line| {
            match QueueEntry::parse(line) {
                Some(entry) => items.push(entry.item),
                None => report.session.errors.push("a queue entry is damaged".to_owned()),
            }
            lines.push(line.to_vec());
            ControlFlow::Continue(())
        })?;
    }
    Ok((items, lines))
}

/// Removes the entries that were read from the queue; newer entries stay.
fn settle(queue: &dyn LineLog, done: &[Vec<u8>]) -> Result<(), TrimError> {
    if !done.is_empty() {
        let done: BTreeSet<&[u8]> = done.iter().map(Vec::as_slice).collect();
        queue.retain(&mut |line| !done.contains(line))?;
    }
    Ok(())
}

/// Whether the session contains the result of a call.
///
/// # Errors
/// When the session cannot be read.
pub fn has_tool_result(
    session: &dyn SessionRewriter,
    id: &ToolCallId,
) -> Result<bool, RewriteError> {
    let mut seek = CallSeek { id: id.as_str(), probe: IdProbe::new([id.as_str()]), found: false };
    session.rewrite(&mut seek, RewriteMode::Preview)?;
    Ok(seek.found)
}

struct CallSeek<'a> {
    id: &'a str,
    probe: IdProbe,
    found: bool,
}

impl LineEdit for CallSeek<'_> {
    fn concerns(&self, block: &[u8]) -> bool {
        !self.found && self.probe.may_mention(block)
    }

    fn line(&mut self, line: &[u8]) -> LineVerdict {
        if !self.found && self.probe.may_mention(line) {
            self.found =
                Json::parse_lossy(line).is_ok_and(|row| message::is_result_of(&row, self.id));
        }
        LineVerdict::Keep
    }

    fn passed_over(&mut self, _bytes: u64) {}
}

/// Removes blobs that are still mentioned from the candidates.
struct BlobSurvey {
    unseen: BTreeSet<BlobDigest>,
}

impl LineEdit for BlobSurvey {
    fn concerns(&self, block: &[u8]) -> bool {
        self.unseen
            .iter()
            .any(|name| memchr::memmem::find(block, name.as_str().as_bytes()).is_some())
    }

    fn line(&mut self, line: &[u8]) -> LineVerdict {
        self.unseen.retain(|name| memchr::memmem::find(line, name.as_str().as_bytes()).is_none());
        LineVerdict::Keep
    }

    fn passed_over(&mut self, _bytes: u64) {
        // An unread line may mention any of them.
        self.unseen.clear();
    }
}
