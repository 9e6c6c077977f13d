//! Counts by name, of as many names as one would look at.

use std::collections::BTreeMap;

/// How many names are told apart.
const MOST_NAMES: usize = 200;

/// How many characters of a name are kept.
const SHOWN: usize = 100;

/// The entry of a name. There is none when the name is new and there are too
/// many already: whoever asks counts it among the others.
pub(super) fn entry<'m, V: Default>(
    counts: &'m mut BTreeMap<String, V>,
    name: &str,
) -> Option<&'m mut V> {
    let name = short(name);
    let has_room = counts.len() < MOST_NAMES || counts.contains_key(&name);
    has_room.then(|| counts.entry(name).or_default())
}

/// Counts a name, or one of the others.
pub(super) fn count(counts: &mut BTreeMap<String, u64>, others: &mut u64, name: &str) {
    *entry(counts, name).unwrap_or(others) += 1;
}

/// Adds a name to a list, or counts one of the others.
pub(super) fn list(names: &mut Vec<String>, others: &mut u64, name: &str) {
    if names.len() < MOST_NAMES {
        names.push(short(name));
    } else {
        *others += 1;
    }
}

/// The start of a text that may be of any length.
pub(super) fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_few() {
        let (mut counts, mut others) = (BTreeMap::new(), 0);
        for number in 0..1_000 {
            count(&mut counts, &mut others, &format!("{}{number}", "é".repeat(97)));
        }
        // From the hundredth on they begin with the same hundred characters.
        assert_eq!((counts.len(), others), (MOST_NAMES, 1_000 - 200));
        assert!(counts.keys().all(|name| name.chars().count() <= SHOWN));
        let (mut names, mut others) = (Vec::new(), 0);
        (0..300).for_each(|_| list(&mut names, &mut others, &"x".repeat(1_000)));
        assert_eq!((names.len(), others), (MOST_NAMES, 100));
        assert_eq!(names[0].chars().count(), SHOWN + 1);
    }
}
