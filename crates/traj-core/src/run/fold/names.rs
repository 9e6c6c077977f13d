//! Counts by name, limited to as many names as a person would read.

use std::collections::BTreeMap;

/// How many names are counted separately.
pub(super) const MOST_NAMES: usize = 200;

/// How many characters of a name are kept.
const LONGEST_NAME: usize = 100;

/// How often names occur: each of the first names, and all others together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameCounts {
    /// The first names, truncated.
    pub by_name: BTreeMap<String, u64>,
    /// How often all other names occur.
    pub others: u64,
}

impl NameCounts {
    /// Counts a name.
    pub fn add(&mut self, name: &str) {
        count(&mut self.by_name, &mut self.others, name);
    }

    /// A name as it is kept, truncated.
    #[must_use]
    pub fn key(name: &str) -> String {
        short(name)
    }

    /// The total over all names.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.by_name.values().fold(self.others, |sum, count| sum.saturating_add(*count))
    }
}

/// The entry of a name; `None` if the name is new and there are too many already.
/// The caller then counts it among the others.
pub(super) fn entry<'m, V: Default>(
    counts: &'m mut BTreeMap<String, V>,
    name: &str,
) -> Option<&'m mut V> {
    let name = short(name);
    let has_room = counts.len() < MOST_NAMES || counts.contains_key(&name);
    has_room.then(|| counts.entry(name).or_default())
}

/// Counts a name, separately or among the others.
pub(super) fn count(counts: &mut BTreeMap<String, u64>, others: &mut u64, name: &str) {
    *entry(counts, name).unwrap_or(others) += 1;
}

/// Adds a text to a list, or counts it among the others.
pub(super) fn list(texts: &mut Vec<String>, others: &mut u64, text: String) {
    if texts.len() < MOST_NAMES {
        texts.push(text);
    } else {
        *others += 1;
    }
}

/// The beginning of a name, which may have any length.
pub(super) fn short(name: &str) -> String {
    crate::run::cut(name, LONGEST_NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_few() {
        let mut counts = NameCounts::default();
        for number in 0..1_000 {
            counts.add(&format!("{}{number}", "é".repeat(97)));
        }
        assert_eq!((counts.by_name.len(), counts.others), (MOST_NAMES, 1_000 - 200));
        assert_eq!(counts.total(), 1_000);
        assert!(counts.by_name.keys().all(|name| name.chars().count() <= LONGEST_NAME + 1));
        let (mut texts, mut others) = (Vec::new(), 0);
        (0..300).for_each(|_| list(&mut texts, &mut others, "x".to_owned()));
        assert_eq!((texts.len(), others), (MOST_NAMES, 100));
    }
}
