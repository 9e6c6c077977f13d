//! The active branch of an indexed session. Ids and links are joined by
//! sorting, so no table of ids is kept in memory.

use traj_core::dialect::transcript::{
    BranchNode, BranchTable, BranchWarning, EntryKey, ParentLink, RowKind, branches_left,
    walk_branch,
};
use traj_core::port::BundleSinkError;
use traj_core::run::Branches;

use super::session::{EntryRecord, SessionIndex};
use crate::index::record_store::{FixedRecord, RecordDecoder, RecordEncoder, RecordStore, Spool};
use crate::index::sorter::Sorter;
use crate::warning::{Code, Warnings};

/// Marks an entry whose parent is not the row that its link names.
const RELINKED: u64 = 1 << 63;

/// Stands for "no parent" and "missing parent" in the table of parents.
const ROOT: u64 = u64::MAX;
const MISSING: u64 = u64::MAX - 1;

/// The active branch.
pub(crate) struct BranchEntries {
    /// The ordinals of its entries, leaf first.
    steps: RecordStore<u64>,
    /// Whether the leaf is an entry with an empty id, which has no branch.
    pub(crate) leaf_is_empty: bool,
    /// The other branches of the session.
    pub(crate) others: Branches,
}

/// One entry of the branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BranchStep {
    pub(crate) ordinal: u64,
    /// The entry before it on the branch, if the link must be rewritten.
    pub(crate) relink_to: Option<Option<u64>>,
}

impl BranchEntries {
    pub(crate) const fn len(&self) -> u64 {
        self.steps.len()
    }

    /// The entry at `index`, counted from the root.
    pub(crate) fn step(&mut self, index: u64) -> Result<BranchStep, BundleSinkError> {
        let last = self.steps.len() - 1;
        let marked = self.steps.get(last - index)?;
        let relink_to = if marked & RELINKED == 0 {
            None
        } else if index == 0 {
            Some(None)
        } else {
            Some(Some(self.steps.get(last - index + 1)? & !RELINKED))
        };
        Ok(BranchStep { ordinal: marked & !RELINKED, relink_to })
    }
}

/// Finds the active branch.
pub(crate) fn resolve(
    index: &mut SessionIndex,
    spool: &dyn Spool,
    warnings: &mut Warnings,
) -> Result<BranchEntries, BundleSinkError> {
    let others = Branches::default();
    let mut branch = BranchEntries { steps: RecordStore::new(), leaf_is_empty: false, others };
    let Some(mut start) = index.leaf.start() else { return Ok(branch) };
    let parents = join_parents(&mut index.entries, spool)?;
    let seen = vec![0_u64; usize::try_from(index.entries.len() / 64 + 1).unwrap_or(0)];
    let mut table = EntryTable { entries: &mut index.entries, parents, seen };
    if table.leads_nowhere(start)? {
        warnings.add(Code::UnknownLeaf, table.entries.get(start)?.row);
        let Some(fallback) = index.leaf.fallback() else { return Ok(branch) };
        start = fallback;
    }
    let first = table.entries.get(start)?;
    if first.skeleton.kind == RowKind::Entry && first.skeleton.id.is_some_and(EntryKey::is_empty) {
        branch.leaf_is_empty = true;
        return Ok(branch);
    }
    let steps = &mut branch.steps;
    let warning = walk_branch(&mut table, start, |ordinal, relinked| {
        steps.push(if relinked { ordinal | RELINKED } else { ordinal }, spool)
    })?;
    let rows = table.entries.len();
    branch.others = branches_left(&mut table, rows)?;
    match warning {
        Some(BranchWarning::Cycle { ordinal }) => {
            warnings.add(Code::CyclicBranch, index.entries.get(ordinal)?.row);
        }
        Some(BranchWarning::MissingParent { ordinal }) => {
            warnings.add(Code::IncompleteBranch, index.entries.get(ordinal)?.row);
        }
        _ => {}
    }
    Ok(branch)
}

struct EntryTable<'i> {
    entries: &'i mut RecordStore<EntryRecord>,
    parents: RecordStore<u64>,
    seen: Vec<u64>,
}

impl EntryTable<'_> {
    /// Whether a leaf row leads to a missing row or into a cycle, possibly
    /// through other leaf rows.
    fn leads_nowhere(&mut self, start: u64) -> Result<bool, BundleSinkError> {
        let mut at = start;
        for _ in 0..self.entries.len() {
            if self.entries.get(at)?.skeleton.kind != RowKind::Leaf {
                return Ok(false);
            }
            match self.parents.get(at)? {
                MISSING => return Ok(true),
                ROOT => return Ok(false),
                next => at = next,
            }
        }
        Ok(true)
    }
}

impl BranchTable for EntryTable<'_> {
    type Error = BundleSinkError;

    fn node(&mut self, ordinal: u64) -> Result<BranchNode, BundleSinkError> {
        let kind = self.entries.get(ordinal)?.skeleton.kind;
        let parent = match self.parents.get(ordinal)? {
            ROOT => ParentLink::Root,
            MISSING => ParentLink::Missing,
            parent => ParentLink::Row(parent),
        };
        Ok(BranchNode::new(kind, parent))
    }

    fn visit(&mut self, ordinal: u64) -> bool {
        let word = usize::try_from(ordinal / 64).ok().and_then(|at| self.seen.get_mut(at));
        let Some(word) = word else { return false };
        let bit = 1 << (ordinal % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    fn is_visited(&self, ordinal: u64) -> bool {
        let word = usize::try_from(ordinal / 64).ok().and_then(|at| self.seen.get(at));
        word.is_some_and(|word| word & (1 << (ordinal % 64)) != 0)
    }
}

/// A key, and the row that has it or refers to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct KeyedRow {
    key: EntryKey,
    ordinal: u64,
}

impl FixedRecord for KeyedRow {
    const SIZE: usize = 24;

    fn encode(&self, bytes: &mut RecordEncoder<'_>) {
        bytes.bytes(&self.key.to_bytes());
        bytes.u64(self.ordinal);
    }

    fn decode(bytes: &mut RecordDecoder<'_>) -> Self {
        Self { key: EntryKey::from_bytes(bytes.bytes()), ordinal: bytes.u64() }
    }
}

/// A row and its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ParentRecord {
    child: u64,
    parent: u64,
}

impl FixedRecord for ParentRecord {
    const SIZE: usize = 16;

    fn encode(&self, bytes: &mut RecordEncoder<'_>) {
        bytes.u64(self.child);
        bytes.u64(self.parent);
    }

    fn decode(bytes: &mut RecordDecoder<'_>) -> Self {
        Self { child: bytes.u64(), parent: bytes.u64() }
    }
}

/// The ordinal of every row's parent. If several rows have the same id, the
/// last one counts.
fn join_parents(
    entries: &mut RecordStore<EntryRecord>,
    spool: &dyn Spool,
) -> Result<RecordStore<u64>, BundleSinkError> {
    let (mut ids, mut links) = (Sorter::new(), Sorter::new());
    for ordinal in 0..entries.len() {
        let skeleton = entries.get(ordinal)?.skeleton;
        if !skeleton.is_candidate() && skeleton.kind != RowKind::Leaf {
            continue;
        }
        if let Some(key) = skeleton.id {
            ids.push(KeyedRow { key, ordinal }, spool)?;
        }
        if let Some(key) = skeleton.next {
            links.push(KeyedRow { key, ordinal }, spool)?;
        }
    }
    let (mut ids, mut links) = (ids.finish(spool)?, links.finish(spool)?);
    let mut found = Sorter::new();
    let mut next_id = ids.next()?;
    let mut current: Option<KeyedRow> = None;
    while let Some(link) = links.next()? {
        while let Some(id) = next_id.filter(|id| id.key <= link.key) {
            current = Some(id);
            next_id = ids.next()?;
        }
        let parent = current.filter(|id| id.key == link.key).map_or(MISSING, |id| id.ordinal);
        found.push(ParentRecord { child: link.ordinal, parent }, spool)?;
    }
    let mut found = found.finish(spool)?;
    let mut parents = RecordStore::new();
    while let Some(link) = found.next()? {
        while parents.len() < link.child {
            parents.push(ROOT, spool)?;
        }
        parents.push(link.parent, spool)?;
    }
    while parents.len() < entries.len() {
        parents.push(ROOT, spool)?;
    }
    Ok(parents)
}

#[cfg(test)]
mod tests;
