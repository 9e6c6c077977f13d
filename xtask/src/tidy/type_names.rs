//! Checks that no two public types of one crate share a name.
//!
//! The lint `unreachable_pub` ensures that every `pub` type is visible to other
//! crates.

use std::collections::BTreeMap;

const KINDS: [&str; 4] = ["pub struct ", "pub enum ", "pub trait ", "pub type "];

/// The public types of each crate that are declared twice, by name.
pub(super) fn check(files: &[(String, String)]) -> Vec<String> {
    let mut declared: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (path, text) in files {
        let Some((krate, _)) =
            path.strip_prefix("crates/").and_then(|rest| rest.split_once("/src/"))
        else {
            continue;
        };
        for name in text.lines().filter_map(type_name) {
            declared.entry((krate, name)).or_default().push(path);
        }
    }
    declared
        .into_iter()
        .filter(|(_, paths)| paths.len() > 1)
        .map(|((krate, name), paths)| {
            format!("{krate} has several public types named {name}: {}", paths.join(", "))
        })
        .collect()
}

/// The type that a line declares at the top level of its file.
fn type_name(line: &str) -> Option<&str> {
    let rest = KINDS.iter().find_map(|kind| line.strip_prefix(kind))?;
    rest.split(|character: char| !character.is_alphanumeric() && character != '_').next()
}

#[cfg(test)]
mod tests {
    use super::super::owned;
    use super::*;

    fn problems(files: &[(&str, &str)]) -> usize {
        check(&owned(files)).len()
    }

    #[test]
    fn a_name_is_public_once_in_a_crate() {
        let first = ("crates/core/src/a.rs", "pub struct Finding {\n");
        assert_eq!(problems(&[first, ("crates/core/src/b.rs", "pub enum Finding {\n")]), 1);
        assert_eq!(problems(&[first, ("crates/core/src/b.rs", "pub struct Finding<'a>(\n")]), 1);
        assert_eq!(problems(&[first, ("crates/core/src/b.rs", "pub(crate) struct Finding;\n")]), 0);
        assert_eq!(problems(&[first, ("crates/export/src/b.rs", "pub struct Finding;\n")]), 0);
        assert_eq!(problems(&[first, ("crates/core/src/b.rs", "pub struct Findings;\n")]), 0);
    }
}
