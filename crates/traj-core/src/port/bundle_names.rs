//! The names of a bundle's entries: how many, how they look, each once.

use std::collections::BTreeSet;

use super::{BundleFile, BundleSourceError};

/// More than any bundle has.
const MAX_ENTRIES: usize = BundleFile::MOST_BLOBS + 100;

/// The names that a [`BundleSource`](super::BundleSource) has seen so far; what
/// it refuses is the same for every form of a bundle.
#[derive(Debug, Default)]
pub struct BundleNames {
    seen: BTreeSet<String>,
    count: usize,
}

impl BundleNames {
    /// Takes the next name, unless it is unsafe or taken.
    ///
    /// # Errors
    /// When it is, or when there are too many.
    pub fn take(&mut self, path: &str) -> Result<(), BundleSourceError> {
        self.count += 1;
        if self.count > MAX_ENTRIES {
            return Err(BundleSourceError::TooManyEntries { limit: MAX_ENTRIES });
        }
        if !is_safe(path) {
            return Err(BundleSourceError::UnsafeEntry { number: self.count });
        }
        // Names that differ in case are one file on some systems.
        if !self.seen.insert(path.to_lowercase()) {
            return Err(BundleSourceError::RepeatedEntry { number: self.count });
        }
        Ok(())
    }

    /// Refuses the next entry for what it is.
    #[must_use]
    pub const fn refuse(&self) -> BundleSourceError {
        BundleSourceError::UnsafeEntry { number: self.count + 1 }
    }
}

/// Whether a path stays in the bundle, or its directory of blobs, on every system.
fn is_safe(path: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty()
            && part != "."
            && part != ".."
            && !part.ends_with(['.', ' '])
            && !part.contains(|c: char| c.is_control() || matches!(c, '/' | '\\' | ':'))
    };
    path.len() <= 512 && is_plain(path.strip_prefix("blobs/").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_leave_the_bundle_are_refused() {
        for path in [
            "../x",
            "/etc/passwd",
            "a/../b",
            "a\\b",
            "C:x",
            "",
            "a//b",
            "x\0",
            ".",
            "a/b",
            "blobs/a/b",
            "blobs/",
        ] {
            assert!(BundleNames::default().take(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn names_count_once_in_any_case() {
        let mut names = BundleNames::default();
        assert!(names.take("events.jsonl").is_ok());
        let repeated = names.take("Events.jsonl");
        assert!(matches!(repeated, Err(BundleSourceError::RepeatedEntry { number: 2 })));
    }

    #[test]
    fn there_may_only_be_so_many() {
        let mut names = BundleNames::default();
        let taken = (0..=MAX_ENTRIES).try_for_each(|number| names.take(&number.to_string()));
        assert!(matches!(taken, Err(BundleSourceError::TooManyEntries { .. })));
    }
}
