//! Undoing a trim.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;

use super::drain::{TrimError, TrimPorts, with_retries};
use super::journal::{TrimmedFile, UndoRecord, digest};
use crate::port::{LineEdit, LineLog, LineLogError, LineVerdict, RewriteMode, SessionRewriter};
use crate::timestamp::UnixMillis;

/// Which trims to undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UndoSelection {
    /// The newest one.
    Last,
    /// The one that was made at this time.
    MadeAt(UnixMillis),
    /// All that can be undone.
    All,
}

/// What was undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UndoReport {
    /// Restored lines of the session.
    pub session_lines: u64,
    /// Restored events of the sidecar.
    pub sidecar_lines: u64,
    /// Restored blobs.
    pub blobs: u64,
    /// Lines that have changed again since, and stay. The journal keeps their
    /// originals.
    pub not_found: u64,
    /// Lines and blobs of a sidecar that was not found. The journal keeps their
    /// originals.
    pub out_of_reach: u64,
    /// Expired records.
    pub expired: u64,
}

impl UndoReport {
    /// How many lines and blobs are still to be restored.
    #[must_use]
    pub const fn remaining(&self) -> u64 {
        self.not_found + self.out_of_reach
    }
}

/// A trim that can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UndoableTrim {
    /// When it was made; this also identifies it.
    pub at: UnixMillis,
    /// Until when it can be undone.
    pub until: UnixMillis,
    /// Lines of the session that it changed.
    pub session_lines: u64,
    /// Events of the sidecar that it changed.
    pub sidecar_lines: u64,
    /// Blobs that it removed.
    pub blobs: u64,
    /// Bytes that an undo would restore, not counting the replacements.
    pub bytes: u64,
}

/// The trims that can be undone, oldest first.
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
                TrimmedFile::Session => trim.session_lines += 1,
                TrimmedFile::Sidecar => trim.sidecar_lines += 1,
                TrimmedFile::Blob(_) => trim.blobs += 1,
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(trims.into_values().collect())
}

/// Every line that a trim has written contains one of these.
const MARKS: [&[u8]; 2] = [b"trimmed by self", b"_self_compacted"];

/// Restores original lines where the changed ones are found.
#[derive(Debug, Default)]
pub struct UndoEdit {
    /// By the digest of the changed line: the index of the record, and the
    /// original.
    originals: BTreeMap<String, VecDeque<(usize, Vec<u8>)>>,
    restored: u64,
}

impl UndoEdit {
    /// An edit that restores these records.
    #[must_use]
    pub fn new<'a>(records: impl IntoIterator<Item = &'a UndoRecord>) -> Self {
        let mut edit = Self::default();
        for (index, record) in records.into_iter().enumerate() {
            let waiting = edit.originals.entry(record.line.clone()).or_default();
            waiting.push_back((index, record.original.clone()));
        }
        edit
    }

    /// How many lines were restored, and the indexes of the records whose lines
    /// were not found.
    #[must_use]
    pub fn finish(self) -> (u64, BTreeSet<usize>) {
        let missing = self.originals.into_values().flatten().map(|(index, _)| index);
        (self.restored, missing.collect())
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
        // A line that was trimmed several times is restored all the way.
        while let Some((_, original)) =
            self.originals.get_mut(&current).and_then(VecDeque::pop_front)
        {
            self.restored += 1;
            current = digest(&original);
            verdict = LineVerdict::Replace(original);
        }
        verdict
    }

    fn passed_over(&mut self, _bytes: u64) {}
}

/// Finds originals that are still in a document: an interrupted trim may have
/// noted lines that it never changed, so there is nothing to undo.
struct StandingOriginals<'r> {
    lengths: BTreeSet<usize>,
    missing: Vec<(usize, &'r [u8])>,
}

impl<'r> StandingOriginals<'r> {
    fn new(missing: impl Iterator<Item = (usize, &'r UndoRecord)>) -> Self {
        let missing: Vec<_> = missing.map(|(index, record)| (index, &*record.original)).collect();
        Self { lengths: missing.iter().map(|(_, original)| original.len()).collect(), missing }
    }
}

impl LineEdit for StandingOriginals<'_> {
    fn concerns(&self, _block: &[u8]) -> bool {
        !self.missing.is_empty()
    }

    fn line(&mut self, line: &[u8]) -> LineVerdict {
        if self.lengths.contains(&line.len()) {
            self.missing.retain(|(_, original)| *original != line);
        }
        LineVerdict::Keep
    }

    fn passed_over(&mut self, _bytes: u64) {}
}

/// Undoes trims whose records have not expired. The journal keeps the records
/// that could not be applied, for another try.
///
/// # Errors
/// See [`TrimError`]. Documents are restored one after the other; after an error,
/// calling this again continues.
pub fn undo(
    ports: &TrimPorts<'_>,
    journal: &dyn LineLog,
    selection: UndoSelection,
    now: UnixMillis,
    mode: RewriteMode,
) -> Result<UndoReport, TrimError> {
    let mut report = UndoReport::default();
    let chosen = choose(journal, selection, now, &mut report)?;
    let of = |document: &TrimmedFile| {
        chosen.iter().filter(|record| record.document == *document).collect::<Vec<_>>()
    };
    let mut done: Vec<&UndoRecord> = Vec::new();
    let session = of(&TrimmedFile::Session);
    let (restored, left) = restore(Some(ports.session), &session, mode, &mut done)?;
    report.session_lines = restored;
    report.not_found += left;
    // If the sidecar fails, the session's lines are not searched for again.
    settle(journal, &mut done, now, mode)?;
    let sidecar = of(&TrimmedFile::Sidecar);
    let (restored, left) = restore(ports.sidecar, &sidecar, mode, &mut done)?;
    report.sidecar_lines = restored;
    match ports.sidecar {
        Some(_) => report.not_found += left,
        None => report.out_of_reach += left,
    }
    for record in &chosen {
        let TrimmedFile::Blob(name) = &record.document else { continue };
        let Some(blobs) = ports.blobs else {
            report.out_of_reach += 1;
            continue;
        };
        if mode == RewriteMode::Commit {
            blobs.restore(name, &record.original)?;
        }
        report.blobs += 1;
        done.push(record);
    }
    settle(journal, &mut done, now, mode)?;
    Ok(report)
}

/// Restores lines of one document. Returns how many were restored, and how many
/// are left. Adds the finished records to `done`.
fn restore<'r>(
    port: Option<&dyn SessionRewriter>,
    records: &[&'r UndoRecord],
    mode: RewriteMode,
    done: &mut Vec<&'r UndoRecord>,
) -> Result<(u64, u64), TrimError> {
    let Some(port) = port.filter(|_| !records.is_empty()) else {
        return Ok((0, records.len() as u64));
    };
    let edit = with_retries(port, mode, || UndoEdit::new(records.iter().copied()), None)?.1;
    let (restored, mut missing) = edit.finish();
    if !missing.is_empty() {
        let all = records.iter().enumerate();
        let unfound = all.filter(|(index, _)| missing.contains(index));
        let mut standing = StandingOriginals::new(unfound.map(|(index, record)| (index, *record)));
        port.rewrite(&mut standing, RewriteMode::Preview)?;
        missing = standing.missing.iter().map(|(index, _)| *index).collect();
    }
    let settled = records.iter().enumerate().filter(|(index, _)| !missing.contains(index));
    done.extend(settled.map(|(_, record)| *record));
    Ok((restored, missing.len() as u64))
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
    // A line trimmed twice is restored in reverse order of its changes.
    records.reverse();
    Ok(records)
}

/// Removes finished and expired records.
fn settle(
    journal: &dyn LineLog,
    done: &mut Vec<&UndoRecord>,
    now: UnixMillis,
    mode: RewriteMode,
) -> Result<(), TrimError> {
    let mut done = std::mem::take(done);
    if mode == RewriteMode::Commit && !done.is_empty() {
        journal.retain(&mut |line| {
            let Some(record) = UndoRecord::parse(line) else { return false };
            // Of equal records, remove only as many as are done.
            let place = done.iter().position(|done| **done == record);
            place.map(|place| done.swap_remove(place)).is_none() && record.until >= now
        })?;
    }
    Ok(())
}
