//! What is wrong with a file.

use std::collections::{BTreeMap, BinaryHeap, HashMap};

use super::ledger::RowSet;
use crate::dialect::Dialect;
use crate::dialect::shape::row;
use crate::json::Json;

/// The kind of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentKind {
    /// A host's transcript.
    #[default]
    Session,
    /// A trajectory sidecar.
    Sidecar,
    /// A Codex rollout.
    Rollout,
}

impl DocumentKind {
    /// The kind of file whose row this value may be.
    pub(super) fn of_row(value: &Json<'_>) -> Option<Self> {
        match row::dialect_of(value)? {
            Dialect::Sidecar | Dialect::Bundle => Some(Self::Sidecar),
            Dialect::CodexRollout => Some(Self::Rollout),
            _ => Some(Self::Session),
        }
    }

    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Sidecar => "sidecar",
            Self::Rollout => "rollout",
        }
    }
}

/// A problem on a line, and how the copy resolves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Problem {
    /// The line breaks off; the unreadable part is left out.
    Torn,
    /// It contains zero bytes; they are left out.
    NulRun,
    /// It contains bytes that are not UTF-8; they become U+FFFD.
    InvalidUtf8,
    /// Several rows share the line; each gets its own line.
    JoinedRows,
    /// Two rows were written into each other; both are reassembled.
    Interleaved,
    /// The line is valid JSON but not a row of this kind of file; it is kept.
    NotARow,
    /// The row is repeated; the repetition is left out.
    Repeated,
    /// Another row has the same id; both are kept.
    DuplicateId,
    /// The parent does not exist; the row follows the previous row.
    MissingParent,
    /// The row is its own ancestor; the cycle is broken.
    Cycle,
    /// The header is missing; one is added.
    MissingHeader,
    /// The header is not the first row; it is moved there.
    LateHeader,
    /// The row's ordinal is missing or wrong; rows are renumbered.
    WrongOrdinal,
}

impl Problem {
    /// The code for scripts.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Torn => "torn",
            Self::NulRun => "nul-run",
            Self::InvalidUtf8 => "invalid-utf8",
            Self::JoinedRows => "joined-rows",
            Self::Interleaved => "interleaved",
            Self::NotARow => "not-a-row",
            Self::Repeated => "repeated",
            Self::DuplicateId => "duplicate-id",
            Self::MissingParent => "missing-parent",
            Self::Cycle => "cycle",
            Self::MissingHeader => "missing-header",
            Self::LateHeader => "late-header",
            Self::WrongOrdinal => "wrong-ordinal",
        }
    }

    /// An explanation for people.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Torn => "breaks off; the unreadable part is left out",
            Self::NulRun => "contains zero bytes; they are left out",
            Self::InvalidUtf8 => "contains bytes that are not UTF-8; they become U+FFFD",
            Self::JoinedRows => "contains several rows; each gets its own line",
            Self::Interleaved => "is interleaved with another line; both are reassembled",
            Self::NotARow => "is valid JSON but not a row of this kind of file; it is kept",
            Self::Repeated => "repeats an earlier row byte for byte; it is left out",
            Self::DuplicateId => "has the id of an earlier row; both are kept",
            Self::MissingParent => {
                "names a parent that does not exist; it follows the row before it"
            }
            Self::Cycle => "is its own ancestor; the cycle is broken",
            Self::MissingHeader => "is not preceded by a header; one is added",
            Self::LateHeader => "is the header, but not the first row; it is moved there",
            Self::WrongOrdinal => "has a missing or wrong ordinal; rows are renumbered",
        }
    }
}

/// A problem and the line it is on, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct LineProblem {
    /// The line.
    pub line: u64,
    /// What is wrong with it.
    pub problem: Problem,
}

/// The new parent of a row whose link was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NewParent {
    /// None: the row is a root.
    None,
    /// The row with this number, an earlier one.
    Row(u64),
}

/// How many problems are kept, from the first line on; further ones are only
/// counted.
const MOST_FINDINGS: usize = 1_000;

/// The problems found: a bounded list, and complete counts.
#[derive(Clone, Debug, Default)]
pub(super) struct ProblemTally {
    first: BinaryHeap<LineProblem>,
    counts: BTreeMap<Problem, u64>,
}

impl ProblemTally {
    pub(super) fn add(&mut self, line: u64, problem: Problem) {
        *self.counts.entry(problem).or_default() += 1;
        self.first.push(LineProblem { line, problem });
        if self.first.len() > MOST_FINDINGS {
            self.first.pop();
        }
    }
}

/// Everything that is wrong with a file, and the plan for its copy.
#[derive(Clone, Debug, Default)]
pub struct Diagnosis {
    pub(super) kind: DocumentKind,
    pub(super) lines: u64,
    pub(super) rows: u64,
    pub(super) findings: Vec<LineProblem>,
    pub(super) counts: BTreeMap<Problem, u64>,
    /// Numbers of the rows that the copy leaves out.
    pub(super) left_out: RowSet,
    pub(super) parents: HashMap<u64, NewParent>,
    /// Rows that have no parent in the copy.
    pub(super) roots: RowSet,
    /// The first line of the copy: a new header, or one that came late.
    pub(super) first_line: Option<String>,
    /// Whether the rows are numbered.
    pub(super) is_numbered: bool,
}

impl Diagnosis {
    pub(super) fn set_findings(&mut self, findings: ProblemTally) {
        self.findings = findings.first.into_sorted_vec();
        self.counts = findings.counts;
    }

    /// The kind of the file.
    #[must_use]
    pub const fn kind(&self) -> DocumentKind {
        self.kind
    }

    /// The number of lines in the file.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// The number of readable rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether there is nothing to repair.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.counts.is_empty()
    }

    /// The first findings, by line: at most a thousand.
    #[must_use]
    pub fn findings(&self) -> &[LineProblem] {
        &self.findings
    }

    /// How often each problem was found in the whole file.
    #[must_use]
    pub const fn counts(&self) -> &BTreeMap<Problem, u64> {
        &self.counts
    }
}
