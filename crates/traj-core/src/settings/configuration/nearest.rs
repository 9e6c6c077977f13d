//! Suggests the key that was probably meant.

use super::key::{KEYS, SECTIONS};

/// The key or section that was probably meant by `name`: one that differs in a
/// few characters, the same name in another section, or the key of a variable.
pub(super) fn nearest_key(name: &str) -> Option<&'static str> {
    let of_variable = KEYS.iter().find(|key| key.variable.eq_ignore_ascii_case(name));
    if let Some(key) = of_variable {
        return Some(key.name);
    }
    // Ignore underscores and capitals, which keys do not have.
    let name = name.to_lowercase().replace('_', "-");
    let names = KEYS.iter().map(|key| key.name);
    let candidates = names.clone().chain(SECTIONS).map(|key| (distance(&name, key), key));
    let last = last_part(&name);
    let elsewhere = names.map(|key| (distance(last, last_part(key)), key));
    let (distance, key) = candidates.chain(elsewhere).min_by_key(|(distance, _)| *distance)?;
    // Up to two of five characters may be wrong; with more, it is another word.
    (distance * 5 <= last_part(key).chars().count() * 2).then_some(key)
}

fn last_part(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, last)| last)
}

/// The edit distance: the number of characters to add, remove or replace.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    // Longer names cannot be close to any key.
    for (index, character) in one.chars().take(100).enumerate() {
        let mut next = Vec::with_capacity(row.len());
        next.push(index + 1);
        for (above, expected) in row.windows(2).zip(&other) {
            let [diagonal, over] = above else { continue };
            let before = next.last().copied().unwrap_or(0);
            let replaced = diagonal + usize::from(character != *expected);
            next.push(replaced.min(over + 1).min(before + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_leads_to_the_key() {
        for (name, expected) in [
            ("limits.depht", Some("limits.depth")),
            ("limit.depth", Some("limits.depth")),
            ("limits.line_bytes", Some("limits.line-bytes")),
            ("color", Some("defaults.color")),
            ("defaults.colour", Some("defaults.color")),
            ("recording.pager", Some("defaults.pager")),
            ("TRAJ_MAX_DEPTH", Some("limits.depth")),
            ("root", Some("roots")),
            ("price", Some("prices")),
            ("default", Some("defaults")),
            ("telemetry", None),
            ("hunter2", None),
            ("", None),
        ] {
            assert_eq!(nearest_key(name), expected, "{name}");
        }
    }
}
