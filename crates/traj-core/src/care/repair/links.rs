//! Missing parents, and rows that are their own ancestors.
//!
//! Sound links are not kept. A link is suspect if its parent does not exist or
//! comes after it. Every cycle contains a link of the second kind, because links
//! that only lead back never close a cycle. So the ids are read in slices that
//! fit into memory, and the suspects are collected. One reading from the end then
//! follows the paths between them: a walker that waits for a row moves on to its
//! parent, which comes later in that reading.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

use super::RepairError;
use super::diagnosis::{NewParent, Problem, ProblemTally};
use super::ledger::{RowKey, RowLedger, RowRecord, RowSet};
use crate::dialect::transcript::EntryKey;

/// What is wrong with a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BrokenLink {
    Missing,
    Cycle,
}

impl BrokenLink {
    const fn problem(self) -> Problem {
        match self {
            Self::Missing => Problem::MissingParent,
            Self::Cycle => Problem::Cycle,
        }
    }
}

/// The new parents of broken links.
#[derive(Clone, Debug, Default)]
pub(super) struct MendedLink {
    pub(super) parents: HashMap<u64, NewParent>,
    /// Rows that become roots because there were too many links to repair.
    pub(super) roots: RowSet,
}

/// A link that may be broken.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    row: u64,
    line: u64,
    parent: RowKey,
    /// The last link before it in the file that can be a parent.
    before: Option<u64>,
    problem: BrokenLink,
}

/// Where a walk begins.
#[derive(Clone, Copy, Debug)]
enum WalkStart {
    Id(RowKey),
    Row(u64),
    Nowhere,
}

/// Finds and repairs the links of a session.
#[derive(Debug)]
pub(super) struct LinkRepair<'a> {
    pub(super) ledger: &'a RowLedger,
    /// Rows that are left out of the copy.
    pub(super) left_out: &'a RowSet,
    /// How many ids are held at a time.
    pub(super) slice: usize,
    /// How many suspects are repaired.
    pub(super) most: usize,
}

impl LinkRepair<'_> {
    /// Finds every broken link and its new parent.
    pub(super) fn mend(&self, findings: &mut ProblemTally) -> Result<MendedLink, RepairError> {
        let mut mended = MendedLink::default();
        let mut shadowed = RowSet::default();
        let mut suspects = self.suspects(findings, &mut mended.roots, &mut shadowed)?;
        self.place(&mut suspects, &shadowed)?;
        let (missing, leading_on): (Vec<Suspect>, Vec<Suspect>) =
            suspects.into_iter().partition(|suspect| suspect.problem == BrokenLink::Missing);
        let circles = self.circles(&leading_on, &mended.roots)?;
        let mut broken = missing;
        let mut kept = Vec::new();
        for (index, suspect) in leading_on.into_iter().enumerate() {
            if circles.contains(&index) { broken.push(suspect) } else { kept.push(suspect) }
        }
        broken.sort_unstable_by_key(|suspect| suspect.row);
        for suspect in &broken {
            findings.add(suspect.line, suspect.problem.problem());
        }
        let wanted = candidates(&broken);
        let safe = self.safe(&broken, &wanted, &kept, &mended.roots)?;
        for ((suspect, wanted), is_safe) in broken.iter().zip(wanted).zip(safe) {
            let parent = wanted.filter(|_| is_safe).map_or(NewParent::None, NewParent::Row);
            mended.parents.insert(suspect.row, parent);
        }
        Ok(mended)
    }

    fn is_link(&self, row: u64, record: &RowRecord) -> bool {
        record.is_link && !self.left_out.contains(row)
    }

    /// Links whose parent is missing or comes after them, in file order.
    fn suspects(
        &self,
        findings: &mut ProblemTally,
        roots: &mut RowSet,
        shadowed: &mut RowSet,
    ) -> Result<Vec<Suspect>, RepairError> {
        let none = no_parent();
        let slices = self.ledger.len().div_ceil(self.slice as u64).max(1);
        let capacity = usize::try_from(self.ledger.len()).unwrap_or(self.slice).min(self.slice);
        // Readers take the last of several rows with the same id.
        let mut last: HashMap<RowKey, u64> = HashMap::with_capacity(capacity);
        let mut suspects = Vec::new();
        for slice in 0..slices {
            last.clear();
            self.ledger.forward(&mut |row, record| {
                if self.is_link(row, record)
                    && slice_of_id(&record.id, slices) == slice
                    && let Some(earlier) = last.insert(record.id, row)
                {
                    shadowed.insert(earlier);
                    findings.add(record.line, Problem::DuplicateId);
                }
            })?;
            self.ledger.forward(&mut |row, record| {
                let parent = record.parent;
                if !self.is_link(row, record)
                    || parent == none
                    || slice_of_id(&parent, slices) != slice
                {
                    return;
                }
                let problem = match last.get(&parent) {
                    None => BrokenLink::Missing,
                    Some(parent) if *parent >= row => BrokenLink::Cycle,
                    Some(_) => return,
                };
                if suspects.len() < self.most {
                    let line = record.line;
                    suspects.push(Suspect { row, line, parent, before: None, problem });
                } else {
                    roots.insert(row);
                    findings.add(record.line, problem.problem());
                }
            })?;
        }
        suspects.sort_unstable_by_key(|suspect| suspect.row);
        Ok(suspects)
    }

    /// Finds the link before each suspect. A row shadowed by a later one with the
    /// same id cannot be a parent.
    fn place(&self, suspects: &mut [Suspect], shadowed: &RowSet) -> Result<(), RepairError> {
        let mut waiting = suspects.iter_mut().peekable();
        if waiting.peek().is_none() {
            return Ok(());
        }
        let mut before = None;
        self.ledger.forward(&mut |row, record| {
            if let Some(suspect) = waiting.next_if(|suspect| suspect.row == row) {
                suspect.before = before;
            }
            if self.is_link(row, record) && !shadowed.contains(row) {
                before = Some(row);
            }
        })
    }

    /// The first row, in file order, of every cycle, as an index into
    /// `leading_on`.
    fn circles(&self, leading_on: &[Suspect], roots: &RowSet) -> Result<Vec<usize>, RepairError> {
        if leading_on.is_empty() {
            return Ok(Vec::new());
        }
        let starts: Vec<WalkStart> =
            leading_on.iter().map(|suspect| WalkStart::Id(suspect.parent)).collect();
        let rows: Vec<u64> = leading_on.iter().map(|suspect| suspect.row).collect();
        Ok(circles_in(&self.walk(&starts, &rows, roots)?))
    }

    /// Whether each broken link can get its wanted parent without closing a
    /// cycle, given the decisions about the links before it.
    fn safe(
        &self,
        broken: &[Suspect],
        wanted: &[Option<u64>],
        kept: &[Suspect],
        roots: &RowSet,
    ) -> Result<Vec<bool>, RepairError> {
        if kept.is_empty() {
            // All remaining links lead back, so none closes a cycle.
            return Ok(vec![true; broken.len()]);
        }
        let starts: Vec<WalkStart> = wanted
            .iter()
            .map(|wanted| wanted.map_or(WalkStart::Nowhere, WalkStart::Row))
            .chain(kept.iter().map(|suspect| WalkStart::Id(suspect.parent)))
            .collect();
        let rows: Vec<u64> = broken.iter().chain(kept).map(|suspect| suspect.row).collect();
        let ways = self.walk(&starts, &rows, roots)?;
        // All links to be replaced start open. Then they are set one by one.
        let mut set: Vec<Option<usize>> = ways.clone();
        for way in set.iter_mut().take(broken.len()) {
            *way = None;
        }
        let mut safe = Vec::with_capacity(broken.len());
        for index in 0..broken.len() {
            let way = ways.get(index).copied().flatten();
            let is_safe = !leads_to(&set, way, index);
            if let Some(place) = set.get_mut(index).filter(|_| is_safe) {
                *place = way;
            }
            safe.push(is_safe);
        }
        Ok(safe)
    }

    /// Walks from every start along the parents to the first of `stops`. Returns
    /// the index of the stop reached, if any.
    fn walk(
        &self,
        starts: &[WalkStart],
        stops: &[u64],
        roots: &RowSet,
    ) -> Result<Vec<Option<usize>>, RepairError> {
        let none = no_parent();
        let stops: HashMap<u64, usize> =
            stops.iter().enumerate().map(|(index, row)| (*row, index)).collect();
        let mut for_id: HashMap<RowKey, Vec<usize>> = HashMap::new();
        let mut for_row: HashMap<u64, Vec<usize>> = HashMap::new();
        for (walker, start) in starts.iter().enumerate() {
            match start {
                WalkStart::Id(id) => for_id.entry(*id).or_default().push(walker),
                WalkStart::Row(row) => for_row.entry(*row).or_default().push(walker),
                WalkStart::Nowhere => {}
            }
        }
        let mut ends = vec![None; starts.len()];
        self.ledger.backward(&mut |row, record| {
            if !self.is_link(row, record) {
                return;
            }
            let mut walkers = for_id.remove(&record.id).unwrap_or_default();
            walkers.extend(for_row.remove(&row).unwrap_or_default());
            if walkers.is_empty() {
                return;
            }
            if let Some(stop) = stops.get(&row) {
                for walker in walkers {
                    ends[walker] = Some(*stop);
                }
            } else if record.parent != none && !roots.contains(row) {
                let waiting = for_id.entry(record.parent).or_default();
                if waiting.len() < walkers.len() {
                    std::mem::swap(waiting, &mut walkers);
                }
                waiting.append(&mut walkers);
            }
        })?;
        Ok(ends)
    }
}

/// The key of a missing parent.
fn no_parent() -> RowKey {
    EntryKey::of("").to_bytes()
}

/// The slice that an id belongs to. Short ids are their own keys, so the key
/// alone is far from random.
fn slice_of_id(id: &RowKey, slices: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(id);
    slice_of(hasher.finish(), slices)
}

/// Spreads random numbers evenly over slices.
pub(super) fn slice_of(number: u64, slices: u64) -> u64 {
    u64::try_from((u128::from(number) * u128::from(slices)) >> 64).unwrap_or_default()
}

/// The wanted parents of broken links: the link before. Siblings that lost the
/// same parent stay together.
fn candidates(broken: &[Suspect]) -> Vec<Option<u64>> {
    let mut instead_of: HashMap<RowKey, Option<u64>> = HashMap::new();
    let wanted = broken.iter().map(|suspect| match suspect.problem {
        BrokenLink::Missing => *instead_of.entry(suspect.parent).or_insert(suspect.before),
        BrokenLink::Cycle => suspect.before,
    });
    wanted.collect()
}

/// The smallest member of every cycle.
fn circles_in(ways: &[Option<usize>]) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let mut walk_of = vec![UNSEEN; ways.len()];
    let mut found = Vec::new();
    for start in 0..ways.len() {
        let mut at = Some(start);
        while let Some(index) = at.filter(|index| walk_of[*index] == UNSEEN) {
            walk_of[index] = start;
            at = ways[index];
        }
        let Some(entry) = at.filter(|index| walk_of[*index] == start) else { continue };
        let mut first = entry;
        let mut next = ways[entry];
        while let Some(index) = next.filter(|index| *index != entry) {
            first = first.min(index);
            next = ways[index];
        }
        found.push(first);
    }
    found.sort_unstable();
    found
}

fn leads_to(ways: &[Option<usize>], from: Option<usize>, target: usize) -> bool {
    let mut at = from;
    // Every cycle is open, so this ends. If one were not, "yes" is the safe
    // answer.
    for _ in 0..=ways.len() {
        match at {
            Some(index) if index == target => return true,
            Some(index) => at = ways[index],
            None => return false,
        }
    }
    true
}
