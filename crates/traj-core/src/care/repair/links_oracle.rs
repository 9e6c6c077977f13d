//! The oracle for [`super::links`]: the same question, answered with the whole
//! tree in memory.

use std::collections::HashMap;

use super::diagnosis::NewParent;
use super::links::BrokenLink;
use crate::dialect::transcript::EntryKey;

/// One row of a tree, in file order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// The row's number.
    pub(super) row: u64,
    pub(super) id: EntryKey,
    pub(super) parent: Option<EntryKey>,
}

/// Finds every broken link and its new parent.
pub(super) fn mend(links: &[Link]) -> Vec<(u64, BrokenLink, NewParent)> {
    // Readers take the last of several rows with the same id.
    let by_id: HashMap<EntryKey, usize> =
        links.iter().enumerate().map(|(index, link)| (link.id, index)).collect();
    let mut parents: Vec<Option<usize>> = Vec::with_capacity(links.len());
    let mut broken = Vec::new();
    for (index, link) in links.iter().enumerate() {
        let wanted = link.parent.filter(|parent| !parent.is_empty());
        let found = wanted.and_then(|parent| by_id.get(&parent).copied());
        if wanted.is_some() && found.is_none() {
            broken.push((index, BrokenLink::Missing));
        }
        parents.push(found);
    }
    broken.extend(circles(&parents).into_iter().map(|index| (index, BrokenLink::Cycle)));
    broken.sort_unstable_by_key(|(index, _)| *index);
    // All links to be replaced start open. Then they are set one by one, each
    // only if it closes no cycle.
    for (index, _) in &broken {
        parents[*index] = None;
    }
    let mut instead_of: HashMap<EntryKey, Option<usize>> = HashMap::new();
    let mut mended = Vec::new();
    for (index, problem) in broken {
        // A row shadowed by a later one with the same id cannot be a parent.
        let before = (0..index).rev().find(|before| by_id[&links[*before].id] == *before);
        // Siblings that lost the same parent stay siblings.
        let wanted = match (problem, links[index].parent) {
            (BrokenLink::Missing, Some(parent)) => *instead_of.entry(parent).or_insert(before),
            _ => before,
        };
        let safe = wanted.filter(|target| !leads_to(&parents, *target, index));
        parents[index] = safe;
        let parent = safe.map_or(NewParent::None, |target| NewParent::Row(links[target].row));
        mended.push((links[index].row, problem, parent));
    }
    mended
}

/// The rows from `from` to the root, inclusive; in a cycle, all of its rows and
/// more.
fn way(parents: &[Option<usize>], from: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(from), |index| parents[*index]).take(parents.len() + 1)
}

/// The first row, in file order, of every cycle.
fn circles(parents: &[Option<usize>]) -> Vec<usize> {
    let is_first = |row: &usize| {
        let comes_back = way(parents, *row).skip(1).any(|other| other == *row);
        comes_back && way(parents, *row).all(|other| other >= *row)
    };
    (0..parents.len()).filter(is_first).collect()
}

fn leads_to(parents: &[Option<usize>], from: usize, target: usize) -> bool {
    way(parents, from).any(|row| row == target)
}
