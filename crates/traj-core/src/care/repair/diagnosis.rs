//! What is wrong with a file.

use std::collections::{BTreeMap, BinaryHeap, HashMap};

use super::ledger::RowSet;
use crate::dialect::Dialect;
use crate::dialect::shape::row;
use crate::json::Json;

/// What a file of lines is.
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
    /// The kind of file that a value may be a row of.
    pub(super) fn of_row(value: &Json<'_>) -> Option<Self> {
        match row::dialect_of(value)? {
            Dialect::OpenClaw => Some(Self::Session),
            Dialect::Sidecar | Dialect::Bundle => Some(Self::Sidecar),
            Dialect::CodexRollout => Some(Self::Rollout),
        }
    }

    /// A word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Sidecar => "sidecar",
            Self::Rollout => "rollout",
        }
    }
}

/// What is wrong with a line, and what the copy does about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Problem {
    /// The line breaks off; what cannot be read is left out.
    Torn,
    /// It contains zero bytes; they are left out.
    NulRun,
    /// Bytes are not UTF-8; they become U+FFFD.
    InvalidUtf8,
    /// Several rows are on one line; each gets its own.
    JoinedRows,
    /// Two rows were written into each other; they are put together again.
    Interleaved,
    /// The line is valid JSON but not a row of such a file; it is kept.
    NotARow,
    /// The row is repeated; the repetition is left out.
    Repeated,
    /// Another row has the same id; both are kept.
    DuplicateId,
    /// The parent does not exist; the row follows the one before it.
    MissingParent,
    /// The row is its own ancestor; it follows the row before the circle.
    Cycle,
    /// The header is missing; one is added.
    MissingHeader,
    /// The header is not the first row; it is moved there.
    LateHeader,
    /// The number of the row is missing or wrong; it is corrected.
    WrongOrdinal,
}

impl Problem {
    /// A code for scripts.
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

    /// What it means, for people.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Torn => "breaks off; the unreadable part is left out",
            Self::NulRun => "holds zero bytes; they are left out",
            Self::InvalidUtf8 => "contains bytes that are not UTF-8; they become U+FFFD",
            Self::JoinedRows => "holds several rows; each gets its own line",
            Self::Interleaved => "was written into another line; both are put together again",
            Self::NotARow => "is valid JSON but no row of such a file; it is kept",
            Self::Repeated => "repeats an earlier row byte for byte; it is left out",
            Self::DuplicateId => "has the id of an earlier row; both are kept",
            Self::MissingParent => {
                "names a parent that does not exist; it follows the row before it"
            }
            Self::Cycle => "is its own ancestor; the circle is opened",
            Self::MissingHeader => "is not preceded by a header; one is added",
            Self::LateHeader => "is the header, but not the first row; it is moved there",
            Self::WrongOrdinal => "has a missing or wrong ordinal; rows are numbered anew",
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

/// Where a row's parent link goes instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NewParent {
    /// Nowhere: the row is a root.
    None,
    /// To the row with this number, which comes before it.
    Row(u64),
}

/// This many problems are kept, those of the first lines; the others are only counted.
const MOST_FINDINGS: usize = 1_000;

/// What was found, however much it is.
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
    /// Rows, by number, that the copy leaves out.
    pub(super) left_out: RowSet,
    pub(super) parents: HashMap<u64, NewParent>,
    /// Rows that have no parent in the copy.
    pub(super) roots: RowSet,
    /// What the copy begins with: a new header, or one that came late.
    pub(super) first_line: Option<String>,
    /// Rows are numbered.
    pub(super) is_numbered: bool,
}

impl Diagnosis {
    pub(super) fn set_findings(&mut self, findings: ProblemTally) {
        self.findings = findings.first.into_sorted_vec();
        self.counts = findings.counts;
    }

    /// What the file is.
    #[must_use]
    pub const fn kind(&self) -> DocumentKind {
        self.kind
    }

    /// Lines in the file.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// Rows that can be read.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether there is nothing to repair.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.counts.is_empty()
    }

    /// The findings of the first lines, by line: a thousand at most.
    #[must_use]
    pub fn findings(&self) -> &[LineProblem] {
        &self.findings
    }

    /// How often each problem was found, in the whole file.
    #[must_use]
    pub const fn counts(&self) -> &BTreeMap<Problem, u64> {
        &self.counts
    }
}
