//! Parents that do not exist, and rows that are their own ancestors.

use std::collections::HashMap;

use super::diagnosis::NewParent;
use crate::transcript::EntryKey;

/// One row of a tree, in file order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// The row's number.
    pub(super) row: u64,
    pub(super) id: EntryKey,
    pub(super) parent: Option<EntryKey>,
}

/// What is wrong with a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BrokenLink {
    Missing,
    Cycle,
}

/// Finds every broken link and where it goes instead.
pub(super) fn mend(links: &[Link]) -> Vec<(u64, BrokenLink, NewParent)> {
    // Of several rows with one id readers take the last.
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
    // All links that are to be replaced are open first, then they are set one
    // by one, each only where it closes no circle.
    for (index, _) in &broken {
        parents[*index] = None;
    }
    let mut instead_of: HashMap<EntryKey, Option<usize>> = HashMap::new();
    let mut mended = Vec::new();
    for (index, problem) in broken {
        let before = index.checked_sub(1);
        // Siblings that lost one parent stay siblings.
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

/// The first row, in file order, of every circle.
fn circles(parents: &[Option<usize>]) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let mut walk_of = vec![UNSEEN; parents.len()];
    let mut found = Vec::new();
    for start in 0..parents.len() {
        let mut at = Some(start);
        while let Some(index) = at.filter(|index| walk_of[*index] == UNSEEN) {
            walk_of[index] = start;
            at = parents[index];
        }
        let Some(entry) = at.filter(|index| walk_of[*index] == start) else { continue };
        let mut first = entry;
        let mut next = parents[entry];
        while let Some(index) = next.filter(|index| *index != entry) {
            first = first.min(index);
            next = parents[index];
        }
        found.push(first);
    }
    found
}

fn leads_to(parents: &[Option<usize>], from: usize, target: usize) -> bool {
    let mut at = Some(from);
    // Open links end every walk; a circle that is not mended yet would not.
    for _ in 0..=parents.len() {
        match at {
            Some(index) if index == target => return true,
            Some(index) => at = parents[index],
            None => return false,
        }
    }
    true
}
