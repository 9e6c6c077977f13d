//! The active branch: which entry is the leaf, and the path from it to a root.

use super::{RowKind, Skeleton};
use crate::run::Branches;

/// Finds the active leaf while taking rows in file order.
///
/// The last entry is the leaf, unless a later `leaf` row names another one (or
/// none). Entries that were appended beside the branch count only if there are no
/// others.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeafTracker {
    last_entry: Option<u64>,
    last_beside: Option<u64>,
    control: Option<u64>,
}

impl LeafTracker {
    /// Takes the row at `ordinal`.
    pub const fn see(&mut self, ordinal: u64, skeleton: &Skeleton) {
        if matches!(skeleton.kind, RowKind::Leaf) {
            self.control = Some(ordinal);
        } else if skeleton.is_candidate() && skeleton.side {
            self.last_beside = Some(ordinal);
        } else if skeleton.is_candidate() {
            self.last_entry = Some(ordinal);
            self.control = None;
        }
    }

    /// Where the walk starts: a `leaf` row or an entry.
    #[must_use]
    pub const fn start(&self) -> Option<u64> {
        if self.control.is_some() { self.control } else { self.fallback() }
    }

    /// Where the walk starts if the `leaf` row leads nowhere.
    #[must_use]
    pub const fn fallback(&self) -> Option<u64> {
        if self.last_entry.is_some() { self.last_entry } else { self.last_beside }
    }
}

/// Where a row's parent link leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParentLink {
    /// The row has no parent.
    Root,
    /// The row names a parent that does not exist.
    Missing,
    /// The parent is the row at this ordinal.
    Row(u64),
}

/// One row of the tree, reduced to what the walk needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BranchNode {
    /// What the row is. A `leaf` row is passed through but not shown.
    pub kind: RowKind,
    /// Where its parent link leads.
    pub parent: ParentLink,
}

impl BranchNode {
    /// A node from its parts.
    #[must_use]
    pub const fn new(kind: RowKind, parent: ParentLink) -> Self {
        Self { kind, parent }
    }
}

/// A tree that is looked up row by row.
pub trait BranchTable {
    /// The error of a lookup.
    type Error;

    /// The row at `ordinal`.
    ///
    /// # Errors
    /// When the table cannot be read.
    fn node(&mut self, ordinal: u64) -> Result<BranchNode, Self::Error>;

    /// Marks a row as visited; `false` if it already was.
    fn visit(&mut self, ordinal: u64) -> bool;

    /// Whether the walk visited the row.
    fn is_visited(&self, ordinal: u64) -> bool;
}

/// Why a walk ended early, and at which row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BranchWarning {
    /// The links lead back to a row already on the branch.
    Cycle {
        /// The row reached twice.
        ordinal: u64,
    },
    /// A row names a parent that does not exist.
    MissingParent {
        /// The row with the dangling link.
        ordinal: u64,
    },
}

/// Walks from `start` to the root and shows each entry, leaf first.
///
/// The second argument of `show` is whether `leaf` rows were passed between the
/// entry and the parent shown next, so that its link must be rewritten.
///
/// # Errors
/// When the table cannot be read, or `show` fails.
pub fn walk_branch<T: BranchTable>(
    table: &mut T,
    start: u64,
    mut show: impl FnMut(u64, bool) -> Result<(), T::Error>,
) -> Result<Option<BranchWarning>, T::Error> {
    let mut at = start;
    // An entry is shown once it is known which rows its link passes through.
    let mut waiting: Option<u64> = None;
    let mut relinked = false;
    let warning = loop {
        if !table.visit(at) {
            break Some(BranchWarning::Cycle { ordinal: at });
        }
        let node = table.node(at)?;
        if node.kind == RowKind::Leaf {
            relinked = waiting.is_some();
        } else {
            if let Some(child) = waiting.replace(at) {
                show(child, relinked)?;
            }
            relinked = false;
        }
        match node.parent {
            ParentLink::Root => break None,
            ParentLink::Missing => break Some(BranchWarning::MissingParent { ordinal: at }),
            ParentLink::Row(parent) => at = parent,
        }
    };
    if let Some(child) = waiting {
        show(child, relinked)?;
    }
    Ok(warning)
}

/// Counts the entries among the first `rows` that the walk did not visit, and the
/// branches they form. Each begins below a visited entry, or has no known parent.
///
/// # Errors
/// When the table cannot be read.
pub fn branches_left<T: BranchTable>(table: &mut T, rows: u64) -> Result<Branches, T::Error> {
    let mut left = Branches::default();
    for ordinal in 0..rows {
        let node = table.node(ordinal)?;
        if node.kind != RowKind::Entry || table.is_visited(ordinal) {
            continue;
        }
        left.entries += 1;
        let begins = match node.parent {
            ParentLink::Root | ParentLink::Missing => true,
            ParentLink::Row(parent) => table.is_visited(parent),
        };
        left.count += u64::from(begins);
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    struct MemoryBranchTable {
        nodes: Vec<BranchNode>,
        seen: Vec<bool>,
    }

    impl BranchTable for MemoryBranchTable {
        type Error = Infallible;

        fn node(&mut self, ordinal: u64) -> Result<BranchNode, Infallible> {
            Ok(self.nodes[ordinal as usize])
        }

        fn visit(&mut self, ordinal: u64) -> bool {
            !std::mem::replace(&mut self.seen[ordinal as usize], true)
        }

        fn is_visited(&self, ordinal: u64) -> bool {
            self.seen[ordinal as usize]
        }
    }

    fn walk(nodes: &[(bool, ParentLink)], start: u64) -> (Vec<(u64, bool)>, Option<BranchWarning>) {
        let kind = |is_leaf: bool| if is_leaf { RowKind::Leaf } else { RowKind::Entry };
        let nodes: Vec<_> = nodes.iter().map(|(l, p)| BranchNode::new(kind(*l), *p)).collect();
        let mut table = MemoryBranchTable { seen: vec![false; nodes.len()], nodes };
        let mut shown = Vec::new();
        let warning = walk_branch(&mut table, start, |ordinal, relinked| {
            shown.push((ordinal, relinked));
            Ok(())
        });
        (shown, warning.unwrap())
    }

    use ParentLink::{Missing, Root, Row};

    #[test]
    fn shows_leaf_first() {
        let (shown, warning) = walk(&[(false, Root), (false, Row(0)), (false, Row(1))], 2);
        assert_eq!(shown, [(2, false), (1, false), (0, false)]);
        assert_eq!(warning, None);
    }

    #[test]
    fn a_cycle_ends_with_its_row() {
        let (shown, warning) = walk(&[(false, Row(1)), (false, Row(0))], 1);
        assert_eq!(shown.len(), 2);
        assert_eq!(warning, Some(BranchWarning::Cycle { ordinal: 1 }));
    }

    #[test]
    fn a_missing_parent_keeps_the_suffix() {
        let (shown, warning) = walk(&[(false, Missing), (false, Row(0))], 1);
        assert_eq!(shown, [(1, false), (0, false)]);
        assert_eq!(warning, Some(BranchWarning::MissingParent { ordinal: 0 }));
    }

    #[test]
    fn control_rows_are_passed_through_and_noted() {
        let (shown, _) = walk(&[(false, Root), (true, Row(0)), (false, Row(1))], 2);
        assert_eq!(shown, [(2, true), (0, false)]);
        let (shown, _) = walk(&[(false, Root), (true, Row(0))], 1);
        assert_eq!(shown, [(0, false)]);
    }

    #[test]
    fn the_leaf_is_the_last_entry_unless_a_control_row_follows() {
        use super::super::EntryKey;
        let entry = |side| Skeleton {
            timed: true,
            side,
            ..Skeleton::new(RowKind::Entry, Some(EntryKey::of("e")), None)
        };
        let control = Skeleton::new(RowKind::Leaf, None, None);
        let mut tracker = LeafTracker::default();
        tracker.see(0, &entry(true));
        assert_eq!(tracker.start(), Some(0));
        tracker.see(1, &entry(false));
        tracker.see(2, &entry(true));
        assert_eq!(tracker.start(), Some(1));
        tracker.see(3, &control);
        assert_eq!((tracker.start(), tracker.fallback()), (Some(3), Some(1)));
        tracker.see(4, &entry(false));
        assert_eq!(tracker.start(), Some(4));
    }
}
