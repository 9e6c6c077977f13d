//! Checks the names of a bundle's entries: their number, their form, no
//! duplicates.

use std::collections::BTreeSet;

use super::{BundleFile, BundleSourceError};

/// More entries than any bundle has.
const MAX_ENTRIES: usize = BundleFile::MOST_BLOBS + 100;

/// The entry names that a [`BundleSource`](super::BundleSource) has seen so
/// far. The checks are the same for directories and archives.
#[derive(Debug, Default)]
pub struct BundleNames {
    seen: BTreeSet<String>,
    count: usize,
}

impl BundleNames {
    /// Adds the next name.
    ///
    /// # Errors
    /// When the name is unsafe or taken, or there are too many.
    pub fn take(&mut self, path: &str) -> Result<(), BundleSourceError> {
        self.count += 1;
        if self.count > MAX_ENTRIES {
            return Err(BundleSourceError::TooManyEntries { limit: MAX_ENTRIES });
        }
        if !is_safe(path) {
            return Err(BundleSourceError::UnsafeEntry { number: self.count });
        }
        // Names that differ only in case are the same file on some systems.
        if !self.seen.insert(path.to_lowercase()) {
            return Err(BundleSourceError::RepeatedEntry { number: self.count });
        }
        Ok(())
    }

    /// Rejects the next entry because of its type.
    #[must_use]
    pub const fn refuse(&self) -> BundleSourceError {
        BundleSourceError::UnsafeEntry { number: self.count + 1 }
    }
}

/// Whether a path stays inside the bundle or its blob directory on every
/// system.
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
    fn names_are_unique_regardless_of_case() {
        let mut names = BundleNames::default();
        assert!(names.take("events.jsonl").is_ok());
        let repeated = names.take("Events.jsonl");
        assert!(matches!(repeated, Err(BundleSourceError::RepeatedEntry { number: 2 })));
    }

    #[test]
    fn the_number_of_entries_is_limited() {
        let mut names = BundleNames::default();
        let taken = (0..=MAX_ENTRIES).try_for_each(|number| names.take(&number.to_string()));
        assert!(matches!(taken, Err(BundleSourceError::TooManyEntries { .. })));
    }
}
