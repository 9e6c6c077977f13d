//! The first reading: finds every problem.

use std::collections::HashSet;

use sha2::{Digest as _, Sha256};

use super::RepairError;
use super::diagnosis::{Diagnosis, DocumentKind, Problem, ProblemTally};
use super::ledger::{RowKey, RowLedger, RowRecord};
use super::links::{LinkRepair, slice_of};
use super::rebuild::RowSplitter;
use crate::dialect::shape::row;
use crate::dialect::transcript::EntryKey;
use crate::json::Json;
use crate::port::Scratch;

/// Memory limits, in records.
#[derive(Clone, Copy, Debug)]
pub(super) struct SurveyLimits {
    /// Records that are not yet in the scratch file: 4 MiB.
    pub(super) recent: usize,
    /// Digests or ids that are compared at a time: 25 MiB including the table. A
    /// table of that size holds this many before it grows.
    pub(super) slice: usize,
    /// Broken links that are repaired one by one: 10 MiB including the ids the
    /// copy needs. The rows of further broken links become roots.
    pub(super) links: usize,
}

impl Default for SurveyLimits {
    fn default() -> Self {
        Self { recent: 74_000, slice: 917_504, links: 65_536 }
    }
}

/// Takes every line of a file, in order.
#[derive(Debug)]
pub struct RepairSurvey {
    diagnosis: Diagnosis,
    findings: ProblemTally,
    splitter: RowSplitter,
    kinds: [u64; 3],
    ledger: RowLedger,
    limits: SurveyLimits,
    header: Option<FoundHeader>,
    first_timestamp: Option<String>,
}

/// Where the header is.
#[derive(Debug)]
struct FoundHeader {
    row: u64,
    line: u64,
    /// Its text, if it is not the first row.
    text: Option<String>,
}

impl RepairSurvey {
    /// A survey that moves its notes to `scratch` when there are many.
    #[must_use]
    pub fn new(scratch: Box<dyn Scratch>) -> Self {
        Self::with_limits(scratch, SurveyLimits::default())
    }

    pub(super) fn with_limits(scratch: Box<dyn Scratch>, limits: SurveyLimits) -> Self {
        Self {
            diagnosis: Diagnosis::default(),
            findings: ProblemTally::default(),
            splitter: RowSplitter::default(),
            kinds: [0; 3],
            ledger: RowLedger::new(scratch, limits.recent),
            limits,
            header: None,
            first_timestamp: None,
        }
    }

    /// Takes the next line, without its line end.
    ///
    /// # Errors
    /// When the scratch file is full.
    pub fn line(&mut self, line: &[u8]) -> Result<(), RepairError> {
        self.diagnosis.lines += 1;
        let number = self.diagnosis.lines;
        let split = self.splitter.split(line);
        for problem in split.problems {
            self.findings.add(number, problem);
        }
        for row in &split.rows {
            let record = self.row(row, number);
            self.diagnosis.rows += 1;
            self.ledger.push(record)?;
        }
        Ok(())
    }

    fn row(&mut self, text: &[u8], line: u64) -> RowRecord {
        let mut record = RowRecord { line, ..RowRecord::default() };
        let Ok(value) = Json::parse_lossy(text) else { return record };
        let Some(kind) = DocumentKind::of_row(&value) else {
            self.findings.add(line, Problem::NotARow);
            return record;
        };
        self.kinds[kind as usize] += 1;
        record.kind = Some(kind);
        record.digest = digest(text);
        let is_numbered = row::is_numbered(&value);
        // Unnumbered rows of a rollout may legitimately be equal.
        record.tells_apart = kind != DocumentKind::Rollout || is_numbered;
        match kind {
            DocumentKind::Rollout => {
                self.diagnosis.is_numbered |= is_numbered;
                record.id = numbered(row::number_of(&value));
            }
            DocumentKind::Session => self.entry(&value, text, &mut record),
            DocumentKind::Sidecar => {}
        }
        record
    }

    fn entry(&mut self, value: &Json<'_>, row: &[u8], record: &mut RowRecord) {
        let number = self.diagnosis.rows;
        if row::is_header(value) {
            self.header.get_or_insert_with(|| FoundHeader {
                row: number,
                line: record.line,
                text: (number > 0).then(|| String::from_utf8_lossy(row).into_owned()),
            });
            return;
        }
        if self.first_timestamp.is_none() {
            self.first_timestamp = row::time_of(value).map(str::to_owned);
        }
        if let Some(id) = row::id_of(value) {
            record.is_link = true;
            record.id = EntryKey::of(id).to_bytes();
            record.parent = EntryKey::of(row::parent_of(value).unwrap_or_default()).to_bytes();
        }
    }

    /// Ends the reading. A missing header will state `session_id`.
    ///
    /// # Errors
    /// When the notes cannot be read back.
    pub fn finish(mut self, session_id: &str) -> Result<Diagnosis, RepairError> {
        let kinds = [DocumentKind::Session, DocumentKind::Sidecar, DocumentKind::Rollout];
        let most = kinds.into_iter().rev().max_by_key(|kind| self.kinds[*kind as usize]);
        self.diagnosis.kind = most.unwrap_or_default();
        self.find_repeated()?;
        match self.diagnosis.kind {
            DocumentKind::Session => self.finish_session(session_id)?,
            DocumentKind::Rollout => self.finish_rollout()?,
            DocumentKind::Sidecar => {}
        }
        self.diagnosis.set_findings(self.findings);
        Ok(self.diagnosis)
    }

    /// Finds repeated rows.
    fn find_repeated(&mut self) -> Result<(), RepairError> {
        let Self { diagnosis, findings, ledger, limits, .. } = self;
        let slices = ledger.len().div_ceil(limits.slice as u64).max(1);
        let capacity = usize::try_from(ledger.len()).unwrap_or(limits.slice).min(limits.slice);
        let mut digests: HashSet<RowKey> = HashSet::with_capacity(capacity);
        for slice in 0..slices {
            digests.clear();
            ledger.forward(&mut |row, record| {
                let is_ours =
                    record.kind.is_some() && slice_of(beginning(&record.digest), slices) == slice;
                if is_ours && !digests.insert(record.digest) && record.tells_apart {
                    diagnosis.left_out.insert(row);
                    findings.add(record.line, Problem::Repeated);
                }
            })?;
        }
        Ok(())
    }

    fn finish_session(&mut self, session_id: &str) -> Result<(), RepairError> {
        let links = LinkRepair {
            ledger: &self.ledger,
            left_out: &self.diagnosis.left_out,
            slice: self.limits.slice,
            most: self.limits.links,
        };
        let mended = links.mend(&mut self.findings)?;
        self.diagnosis.parents = mended.parents;
        self.diagnosis.roots = mended.roots;
        match self.header.take() {
            Some(FoundHeader { text: None, .. }) => {}
            Some(FoundHeader { row, line, text }) => {
                self.diagnosis.left_out.insert(row);
                self.diagnosis.first_line = text;
                self.findings.add(line, Problem::LateHeader);
            }
            None if self.diagnosis.rows > 0 => {
                self.diagnosis.first_line =
                    Some(row::header(session_id, self.first_timestamp.as_deref()));
                self.findings.add(1, Problem::MissingHeader);
            }
            None => {}
        }
        Ok(())
    }

    fn finish_rollout(&mut self) -> Result<(), RepairError> {
        if !self.diagnosis.is_numbered {
            return Ok(());
        }
        let Self { diagnosis, findings, ledger, .. } = self;
        let mut expected = 0;
        ledger.forward(&mut |row, record| {
            if record.kind == Some(DocumentKind::Rollout) && !diagnosis.left_out.contains(row) {
                if record.id != numbered(Some(expected)) {
                    findings.add(record.line, Problem::WrongOrdinal);
                }
                expected += 1;
            }
        })
    }
}

fn digest(text: &[u8]) -> RowKey {
    let digest = Sha256::digest(text);
    std::array::from_fn(|index| digest[index])
}

fn beginning(digest: &RowKey) -> u64 {
    u64::from_be_bytes(std::array::from_fn(|index| digest[index]))
}

/// An ordinal in the form of a key.
fn numbered(ordinal: Option<u64>) -> RowKey {
    ordinal.map_or(0, |ordinal| u128::from(ordinal) + 1).to_be_bytes()
}
