//! Taking a trim back.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use super::drain::{TrimError, TrimPorts, with_retries};
use super::journal::{Document, UndoRecord, digest};
use crate::port::{LineEdit, LineLog, LineLogError, LineVerdict, RewriteMode};
use crate::timestamp::UnixMillis;

/// Which trims to take back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UndoSelection {
    /// The newest one.
    Last,
    /// The one that was made at this time.
    MadeAt(UnixMillis),
    /// All that can be taken back.
    All,
}

/// What was taken back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UndoReport {
    /// Lines of the session that are as they were.
    pub session_lines: u64,
    /// Events of the sidecar that are as they were.
    pub sidecar_lines: u64,
    /// Blobs that are back.
    pub blobs: u64,
    /// Lines that were changed again since, and stay.
    pub not_found: u64,
    /// Records whose time had passed.
    pub expired: u64,
}

/// A trim that can be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UndoableTrim {
    /// When it was made; this is also what it is called.
    pub at: UnixMillis,
    /// Until when it can be taken back.
    pub until: UnixMillis,
    /// Lines of the session that it changed.
    pub session_lines: u64,
    /// Events of the sidecar that it changed.
    pub sidecar_lines: u64,
    /// Blobs that it removed.
    pub blobs: u64,
    /// Bytes that would come back, what stands there now not counted.
    pub bytes: u64,
}

/// The trims that can be taken back, oldest first.
///
/// # Errors
/// When the journal cannot be read.
pub fn undoable(journal: &dyn LineLog, now: UnixMillis) -> Result<Vec<UndoableTrim>, LineLogError> {
    let mut trims: BTreeMap<UnixMillis, UndoableTrim> = BTreeMap::new();
    journal.read(&mut |line| {
        let current = UndoRecord::parse(line).filter(|record| record.until >= now);
        if let Some(UndoRecord { at, until, document, original, .. }) = current {
            let trim = trims.entry(at).or_insert(UndoableTrim {
                at,
                until,
                session_lines: 0,
                sidecar_lines: 0,
                blobs: 0,
                bytes: 0,
            });
            trim.bytes += original.len() as u64;
            match document {
                Document::Session => trim.session_lines += 1,
                Document::Sidecar => trim.sidecar_lines += 1,
                Document::Blob(_) => trim.blobs += 1,
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(trims.into_values().collect())
}

/// Every line that a trim has written holds one of these.
const MARKS: [&[u8]; 2] = [b"trimmed by self", b"_self_compacted"];

/// Puts original lines back where the changed ones are found.
#[derive(Debug, Default)]
pub struct UndoEdit {
    originals: BTreeMap<String, VecDeque<Vec<u8>>>,
    restored: u64,
}

impl UndoEdit {
    /// An edit that puts these back.
    #[must_use]
    pub fn new<'a>(records: impl IntoIterator<Item = &'a UndoRecord>) -> Self {
        let mut originals: BTreeMap<String, VecDeque<Vec<u8>>> = BTreeMap::new();
        for record in records {
            originals.entry(record.line.clone()).or_default().push_back(record.original.clone());
        }
        Self { originals, restored: 0 }
    }

    /// Lines that were put back, and lines that were not found.
    #[must_use]
    pub fn finish(self) -> (u64, u64) {
        let missing: usize = self.originals.values().map(VecDeque::len).sum();
        (self.restored, missing as u64)
    }
}

impl LineEdit for UndoEdit {
    fn concerns(&self, block: &[u8]) -> bool {
        self.originals.values().any(|waiting| !waiting.is_empty())
            && MARKS.iter().any(|mark| memchr::memmem::find(block, mark).is_some())
    }

    fn line(&mut self, line: &[u8]) -> LineVerdict {
        let mut verdict = LineVerdict::Keep;
        let mut current = digest(line);
        // A line that was trimmed several times goes back all the way.
        while let Some(original) = self.originals.get_mut(&current).and_then(VecDeque::pop_front) {
            self.restored += 1;
            current = digest(&original);
            verdict = LineVerdict::Replace(original);
        }
        verdict
    }

    fn passed_over(&mut self, _bytes: u64) {}
}

/// Takes trims back, as far as the journal still knows and the time allows.
///
/// # Errors
/// See [`TrimError`]. Documents are restored one after the other; after an
/// error the same call continues.
pub fn undo(
    ports: &TrimPorts<'_>,
    journal: &dyn LineLog,
    selection: UndoSelection,
    now: UnixMillis,
    mode: RewriteMode,
) -> Result<UndoReport, TrimError> {
    let mut report = UndoReport::default();
    let chosen = choose(journal, selection, now, &mut report)?;
    let of = |document: &Document| {
        chosen.iter().filter(|record| record.document == *document).collect::<Vec<_>>()
    };
    let session = of(&Document::Session);
    if !session.is_empty() {
        let edit =
            with_retries(ports.session, mode, || UndoEdit::new(session.iter().copied()), None)?.1;
        let (restored, missing) = edit.finish();
        report.session_lines = restored;
        report.not_found += missing;
    }
    let sidecar = of(&Document::Sidecar);
    if let (Some(port), false) = (ports.sidecar, sidecar.is_empty()) {
        let edit = with_retries(port, mode, || UndoEdit::new(sidecar.iter().copied()), None)?.1;
        let (restored, missing) = edit.finish();
        report.sidecar_lines = restored;
        report.not_found += missing;
    }
    for record in &chosen {
        if let (Document::Blob(name), Some(blobs)) = (&record.document, ports.blobs) {
            if mode == RewriteMode::Commit {
                blobs.restore(name, &record.original)?;
            }
            report.blobs += 1;
        }
    }
    if mode == RewriteMode::Commit {
        forget(journal, &chosen, now)?;
    }
    Ok(report)
}

fn choose(
    journal: &dyn LineLog,
    selection: UndoSelection,
    now: UnixMillis,
    report: &mut UndoReport,
) -> Result<Vec<UndoRecord>, TrimError> {
    let mut records: Vec<UndoRecord> = Vec::new();
    journal.read(&mut |line| {
        match UndoRecord::parse(line) {
            Some(record) if record.until < now => report.expired += 1,
            Some(record) => match selection {
                UndoSelection::MadeAt(at) if record.at != at => {}
                UndoSelection::Last => {
                    // Only the newest trim is held in memory.
                    records.retain(|earlier| earlier.at >= record.at);
                    if records.iter().all(|earlier| earlier.at == record.at) {
                        records.push(record);
                    }
                }
                _ => records.push(record),
            },
            None => {}
        }
        ControlFlow::Continue(())
    })?;
    // A line trimmed twice comes back in the reverse order of its changes.
    records.reverse();
    Ok(records)
}

fn forget(journal: &dyn LineLog, done: &[UndoRecord], now: UnixMillis) -> Result<(), TrimError> {
    journal.retain(&mut |line| {
        UndoRecord::parse(line).is_some_and(|record| record.until >= now && !done.contains(&record))
    })?;
    Ok(())
}
