//! Limits the number of siblings in a directory.

use std::collections::{BTreeMap, BTreeSet};

use super::list::Reasons;

/// The most siblings that a directory may have without a reason.
const MOST: usize = 15;

/// Compares all directories with the list of wide ones.
///
/// `name.rs` and the directory `name/` are one module and count once; `lib.rs`
/// and `main.rs` are the module of the directory itself and do not count. Neither
/// do directories of snapshots, whose files insta names and finds.
pub(super) fn check(files: &[String], explained: &Reasons) -> Vec<String> {
    let mut siblings: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for path in files {
        let mut rest = path.as_str();
        while let Some((folder, name)) = rest.rsplit_once('/') {
            let names = siblings.entry(folder).or_default();
            if !matches!(name, "lib.rs" | "main.rs") {
                names.insert(name.strip_suffix(".rs").unwrap_or(name));
            }
            rest = folder;
        }
    }
    let mut problems = Vec::new();
    siblings.retain(|folder, _| !folder.ends_with("/snapshots"));
    for (folder, names) in &siblings {
        let reason = explained.get(*folder);
        if names.len() > MOST && reason.is_none_or(String::is_empty) {
            problems.push(format!(
                "{folder}: {} siblings; group them, or explain them in xtask/tidy/wide-folders.txt",
                names.len()
            ));
        } else if names.len() <= MOST && reason.is_some() {
            problems.push(format!(
                "{folder}: few siblings; remove it from xtask/tidy/wide-folders.txt"
            ));
        }
    }
    for folder in explained.keys().filter(|folder| !siblings.contains_key(folder.as_str())) {
        problems.push(format!("xtask/tidy/wide-folders.txt names {folder}, which does not exist"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::list::parse_reasons;

    fn problems(files: usize, reasons: &str) -> usize {
        let mut paths: Vec<String> = (0..files).map(|name| format!("a/b/{name}.rs")).collect();
        paths.extend(["a/b/0/inner.rs", "a/b/lib.rs"].map(str::to_owned));
        check(&paths, &parse_reasons(reasons)).len()
    }

    #[test]
    fn a_wide_directory_needs_a_reason() {
        assert_eq!(problems(15, ""), 0);
        assert_eq!(problems(16, ""), 1);
        assert_eq!(problems(16, "a/b"), 1);
        assert_eq!(problems(16, "a/b  one file per verb"), 0);
    }

    #[test]
    fn snapshots_are_not_counted() {
        let paths: Vec<String> = (0..16).map(|name| format!("a/snapshots/{name}.snap")).collect();
        assert!(check(&paths, &parse_reasons("")).is_empty());
    }

    #[test]
    fn a_reason_must_be_needed() {
        assert_eq!(problems(15, "a/b  one file per verb"), 1);
        assert_eq!(problems(15, "a/c  one file per verb"), 1);
    }
}
