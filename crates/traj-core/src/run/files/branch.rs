//! Which rows of a transcript count: the header, and the active branch.

use super::feed::{FileFeed, is_bomb};
use crate::dialect::transcript::{
    ActiveBranch, EntryKey, EntryTree, RowKind, SessionVersion, Skeleton,
};
use crate::json::Json;
use crate::port::{Source, SourceError};
use crate::run::Branches;

/// How many levels of a row are read to find its place in the tree.
const SKELETON_DEPTH: usize = 2;

/// A tree with more rows than this is not held in memory: all its entries count.
const MOST_ROWS: usize = 500_000;

/// Which rows count.
#[derive(Debug)]
pub(super) enum RowFilter {
    /// Every row: other agents' files are not trees.
    Everything,
    /// So far, each entry follows the one before it.
    Line { version: Option<SessionVersion>, last: Option<EntryKey>, rows: usize },
    /// The whole tree was read.
    Known { active: ActiveBranch, rows: usize },
    /// The tree is too large: all entries count.
    Entries,
}

/// Whether a row counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowCounts {
    Yes,
    No,
    /// Not known until the whole tree was read.
    Unknown,
}

impl RowFilter {
    /// A tree that is taken for a straight line until a row proves otherwise.
    pub(super) const fn line() -> Self {
        Self::Line { version: None, last: None, rows: 0 }
    }

    /// Reads a whole tree. Lines longer than `longest` bytes are skipped.
    pub(super) fn of(source: &dyn Source, longest: usize) -> Result<Self, SourceError> {
        let mut tree = EntryTree::default();
        let mut feed = FileFeed::new(source, longest);
        loop {
            feed.fill()?;
            let mut used = None;
            for (number, end, line) in feed.lines() {
                used = Some((number, end));
                if let Some(row) = parse_shallow(line)
                    && let Some(skeleton) = Skeleton::read(&row)
                {
                    tree.push(skeleton, || SessionVersion::of_header(Some(&row)));
                }
            }
            let Some((number, end)) = used else { break };
            feed.consume(end, number);
            if tree.len() > MOST_ROWS {
                return Ok(Self::Entries);
            }
        }
        Ok(Self::Known { active: tree.active(), rows: 0 })
    }

    /// The branches that were left, if the whole tree was read.
    pub(super) const fn left(&self) -> Option<Branches> {
        match self {
            Self::Known { active, .. } => Some(active.left()),
            Self::Everything | Self::Line { .. } | Self::Entries => None,
        }
    }

    /// Takes the next row of the file.
    pub(super) fn take(&mut self, row: &Json<'_>) -> RowCounts {
        if matches!(self, Self::Everything) {
            return RowCounts::Yes;
        }
        let Some(skeleton) = Skeleton::read(row) else { return RowCounts::No };
        let is_header = skeleton.kind == RowKind::Header;
        match self {
            Self::Everything => RowCounts::Yes,
            Self::Entries => counts(is_header || skeleton.is_candidate()),
            Self::Known { active, rows } => {
                *rows += 1;
                counts(is_header || (skeleton.kind == RowKind::Entry && active.has(*rows - 1)))
            }
            Self::Line { version, last, rows } => {
                *rows += 1;
                if is_header {
                    // A header in the middle may change how rows are linked.
                    let is_first = *rows == 1;
                    *version = Some(SessionVersion::of_header(Some(row)));
                    return if is_first { RowCounts::Yes } else { RowCounts::Unknown };
                }
                let is_list = version.is_none_or(SessionVersion::is_list);
                if is_list {
                    return if skeleton.timed { RowCounts::Yes } else { RowCounts::Unknown };
                }
                if skeleton.kind == RowKind::Leaf {
                    return RowCounts::Unknown;
                }
                // A row that cannot be on a branch belongs to a branch that was
                // left.
                let follows = skeleton.next == *last && !skeleton.side;
                *last = skeleton.id;
                let has_id = skeleton.id.is_some_and(|id| !id.is_empty());
                if follows && has_id && skeleton.is_candidate() {
                    RowCounts::Yes
                } else {
                    RowCounts::Unknown
                }
            }
        }
    }
}

const fn counts(counts: bool) -> RowCounts {
    if counts { RowCounts::Yes } else { RowCounts::No }
}

fn parse_shallow(line: &[u8]) -> Option<Json<'_>> {
    if is_bomb(line) {
        return None;
    }
    match std::str::from_utf8(line) {
        Ok(text) => {
            Json::parse_shallow(crate::dialect::transcript::trim(text), SKELETON_DEPTH).ok()
        }
        Err(_) => Json::parse_lossy(line).ok(),
    }
}
