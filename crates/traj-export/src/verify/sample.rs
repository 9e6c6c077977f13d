//! A sample of hashes in bounded memory, to compare with another sample.

use std::collections::HashMap;

/// How many hashes are kept. If there are more, only the smallest are kept: a
/// random sample.
const MOST: usize = 1 << 19;

/// Hashes, each with its first line.
#[derive(Debug)]
pub(super) struct HashSample {
    kept: HashMap<u64, u64>,
    /// Hashes above this are not kept. It is halved when there are too many.
    highest: u64,
}

impl Default for HashSample {
    fn default() -> Self {
        Self { kept: HashMap::new(), highest: u64::MAX }
    }
}

impl HashSample {
    pub(super) fn add(&mut self, hash: u64, line: u64) {
        if hash > self.highest {
            return;
        }
        let first = self.kept.entry(hash).or_insert(line);
        *first = line.min(*first);
        if self.kept.len() > MOST {
            self.highest /= 2;
            self.kept.retain(|hash, _| *hash <= self.highest);
        }
    }

    /// The first line with a hash that `others` lacks, in the range that both
    /// samples cover.
    pub(super) fn first_missing_in(&self, others: &Self) -> Option<u64> {
        let missing = |hash: u64| hash <= others.highest && !others.kept.contains_key(&hash);
        let lines = self.kept.iter().filter(|(hash, _)| missing(**hash));
        lines.map(|(_, line)| *line).min()
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher as _, RandomState};

    use super::*;

    #[test]
    fn a_missing_hash_is_reported_with_its_first_line() {
        let (mut named, mut there) = (HashSample::default(), HashSample::default());
        for (hash, line) in [(1, 1), (9, 5), (7, 4), (9, 3)] {
            named.add(hash, line);
        }
        there.add(1, 1);
        there.add(7, 2);
        assert_eq!(named.first_missing_in(&there), Some(3));
        there.add(9, 3);
        assert_eq!(named.first_missing_in(&there), None);
    }

    #[test]
    fn a_sample_of_very_many_hashes_is_compared() {
        let hasher = RandomState::new();
        let (mut named, mut there) = (HashSample::default(), HashSample::default());
        let many = 3 * MOST as u64;
        for number in 0..many {
            there.add(hasher.hash_one(number), number);
        }
        for number in 0..many / 2 {
            named.add(hasher.hash_one(number), number);
        }
        assert!(there.kept.len() <= MOST && there.kept.len() > MOST / 3);
        assert_eq!(named.first_missing_in(&there), None);
        assert!(there.first_missing_in(&named).is_some_and(|line| line >= many / 2));
    }
}
