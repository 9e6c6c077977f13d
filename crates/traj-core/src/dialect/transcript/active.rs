//! The active branch of a transcript whose tree fits into memory.

use std::collections::HashMap;
use std::convert::Infallible;

use super::{
    BranchNode, BranchTable, EntryKey, LeafTracker, LegacyLinks, ParentLink, RowKind,
    SessionVersion, Skeleton, branches_left, walk_branch,
};
use crate::run::Branches;

/// The tree of a transcript, row by row.
#[derive(Debug, Default)]
pub struct EntryTree {
    rows: Vec<Skeleton>,
    version: Option<SessionVersion>,
}

impl EntryTree {
    /// Takes the next row of the file. The first header states the version.
    pub fn push(&mut self, skeleton: Skeleton, version: impl FnOnce() -> SessionVersion) {
        if skeleton.kind == RowKind::Header && self.version.is_none() {
            self.version = Some(version());
        }
        self.rows.push(skeleton);
    }

    /// How many rows there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The path from the current leaf to its root.
    #[must_use]
    pub fn active(mut self) -> ActiveBranch {
        if self.version.unwrap_or_else(|| SessionVersion::of_header(None)).is_list() {
            self.link_list();
        }
        let mut leaf = LeafTracker::default();
        let mut ids = HashMap::new();
        for (row, skeleton) in self.rows.iter().enumerate() {
            leaf.see(row as u64, skeleton);
            if let Some(id) = skeleton.id.filter(|_| is_in_tree(skeleton)) {
                // The last of several rows with the same id counts.
                ids.insert(id, row as u64);
            }
        }
        let mut table =
            SkeletonTable { is_on: vec![false; self.rows.len()], rows: &self.rows, ids };
        let start = leaf.start().and_then(|start| {
            if table.leads_nowhere(start) { leaf.fallback() } else { Some(start) }
        });
        let has_branch = |start: &u64| {
            let first = table.row(*start);
            first.is_some_and(|row| {
                row.kind != RowKind::Entry || !row.id.is_some_and(EntryKey::is_empty)
            })
        };
        let mut left = Branches::default();
        if let Some(start) = start.filter(has_branch) {
            // Only a rewrite of the session reports warnings.
            let Ok(_) = walk_branch(&mut table, start, |_, _| Ok(()));
            let Ok(others) = branches_left(&mut table, self.rows.len() as u64);
            left = others;
        }
        ActiveBranch { is_on: table.is_on, left }
    }

    /// Links each entry of an old plain list to the one before it.
    fn link_list(&mut self) {
        let mut before: Option<EntryKey> = None;
        let mut made_up = 0;
        for row in self.rows.iter_mut().filter(|row| row.kind != RowKind::Header) {
            row.kind = RowKind::Entry;
            let id = *row.id.get_or_insert_with(|| {
                made_up += 1;
                EntryKey::of(&LegacyLinks::made_up_id(made_up - 1))
            });
            row.next = before.filter(|key| !key.is_empty());
            before = Some(id);
        }
    }
}

/// Which rows are on the active branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActiveBranch {
    is_on: Vec<bool>,
    left: Branches,
}

impl ActiveBranch {
    /// Whether the row with this number is on the branch; numbers begin at 0.
    #[must_use]
    pub fn has(&self, row: usize) -> bool {
        self.is_on.get(row).copied().unwrap_or_default()
    }

    /// The abandoned branches; zero if no branch is active.
    #[must_use]
    pub const fn left(&self) -> Branches {
        self.left
    }
}

const fn is_in_tree(row: &Skeleton) -> bool {
    row.is_candidate() || matches!(row.kind, RowKind::Leaf)
}

struct SkeletonTable<'t> {
    rows: &'t [Skeleton],
    ids: HashMap<EntryKey, u64>,
    is_on: Vec<bool>,
}

impl SkeletonTable<'_> {
    fn row(&self, row: u64) -> Option<&Skeleton> {
        usize::try_from(row).ok().and_then(|row| self.rows.get(row))
    }

    fn parent(&self, row: u64) -> ParentLink {
        match self.row(row).filter(|row| is_in_tree(row)).and_then(|row| row.next) {
            None => ParentLink::Root,
            Some(next) => {
                self.ids.get(&next).map_or(ParentLink::Missing, |at| ParentLink::Row(*at))
            }
        }
    }

    /// Whether a leaf row leads, possibly through other leaf rows, to a missing
    /// row or into a cycle.
    fn leads_nowhere(&self, start: u64) -> bool {
        let mut at = start;
        for _ in 0..self.rows.len() {
            if self.row(at).is_none_or(|row| row.kind != RowKind::Leaf) {
                return false;
            }
            match self.parent(at) {
                ParentLink::Missing => return true,
                ParentLink::Root => return false,
                ParentLink::Row(next) => at = next,
            }
        }
        true
    }
}

impl BranchTable for SkeletonTable<'_> {
    type Error = Infallible;

    fn node(&mut self, ordinal: u64) -> Result<BranchNode, Infallible> {
        let kind = self.row(ordinal).map_or(RowKind::Entry, |row| row.kind);
        Ok(BranchNode::new(kind, self.parent(ordinal)))
    }

    fn visit(&mut self, ordinal: u64) -> bool {
        let slot = usize::try_from(ordinal).ok().and_then(|row| self.is_on.get_mut(row));
        slot.is_some_and(|is_on| !std::mem::replace(is_on, true))
    }

    fn is_visited(&self, ordinal: u64) -> bool {
        let slot = usize::try_from(ordinal).ok().and_then(|row| self.is_on.get(row));
        slot.copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

    fn active(rows: &[&str]) -> ActiveBranch {
        let mut tree = EntryTree::default();
        for row in rows {
            let row = Json::parse(row).unwrap();
            let skeleton = Skeleton::read(&row).unwrap();
            tree.push(skeleton, || SessionVersion::of_header(Some(&row)));
        }
        tree.active()
    }

    fn on_branch(rows: &[&str]) -> Vec<usize> {
        let branch = active(rows);
        (0..rows.len()).filter(|row| branch.has(*row)).collect()
    }

    const HEADER: &str = r#"{"type":"session","version":3,"id":"s"}"#;
    const A: &str = r#"{"type":"x","id":"a","parentId":null,"timestamp":1}"#;
    const B: &str = r#"{"type":"x","id":"b","parentId":"a","timestamp":2}"#;
    const C: &str = r#"{"type":"x","id":"c","parentId":"a","timestamp":3}"#;

    #[test]
    fn the_last_entry_and_its_ancestors_are_active() {
        assert_eq!(on_branch(&[HEADER, A, B, C]), [1, 3]);
    }

    #[test]
    fn a_leaf_row_leads_elsewhere_unless_it_leads_nowhere() {
        let leaf = |target: &str| {
            format!(r#"{{"type":"leaf","id":"l","timestamp":4,"targetId":"{target}"}}"#)
        };
        assert_eq!(on_branch(&[HEADER, A, B, C, &leaf("b")]), [1, 2, 4]);
        assert_eq!(on_branch(&[HEADER, A, B, C, &leaf("gone")]), [1, 3]);
    }

    #[test]
    fn an_old_list_is_one_branch_up_to_a_row_without_a_time() {
        let (first, untimed, last) =
            (r#"{"type":"x","timestamp":1}"#, r#"{"type":"x"}"#, r#"{"type":"x","timestamp":3}"#);
        assert_eq!(on_branch(&[first, first, last]), [0, 1, 2]);
        assert_eq!(on_branch(&[first, untimed, last]), [2]);
    }

    #[test]
    fn entries_beside_the_active_branch_are_counted_with_their_branches() {
        let deeper = r#"{"type":"x","id":"d","parentId":"b","timestamp":3}"#;
        let lost = r#"{"type":"x","id":"e","parentId":"gone","timestamp":3}"#;
        let untimed = r#"{"type":"x","id":"f","parentId":"a"}"#;
        let left = active(&[HEADER, A, B, deeper, lost, untimed, C]).left();
        assert_eq!(left, Branches { count: 3, entries: 4 });
        assert_eq!(active(&[HEADER, A, B]).left(), Branches::default());
        assert_eq!(active(&[HEADER, untimed]).left(), Branches::default());
    }

    #[test]
    fn a_circle_ends() {
        let one = r#"{"type":"x","id":"a","parentId":"b","timestamp":1}"#;
        assert_eq!(on_branch(&[HEADER, one, B]), [1, 2]);
    }
}
