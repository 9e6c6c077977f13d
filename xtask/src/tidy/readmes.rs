//! Checks that the README of a published crate states how many crates it pulls
//! in.

/// The sentence in a README, with the number.
pub(super) fn sentence(count: usize) -> String {
    format!("With default features it depends on {count} crates")
}

/// `packages` is what `cargo tree` lists for the crate, itself included.
pub(super) fn check(name: &str, readme: &str, packages: &str) -> Option<String> {
    let mut listed: Vec<&str> = packages.lines().filter_map(package).collect();
    listed.sort_unstable();
    listed.dedup();
    let wanted = sentence(listed.len().saturating_sub(1));
    // A sentence may be wrapped.
    let words: Vec<&str> = readme.split_whitespace().collect();
    (!words.join(" ").contains(&wanted)).then(|| format!("{name}: its README must say: {wanted}"))
}

/// The name and version in a line of `cargo tree --prefix none`.
fn package(line: &str) -> Option<&str> {
    let line = line.trim();
    let end = line.match_indices(' ').nth(1).map_or(line.len(), |(end, _)| end);
    line.get(..end).filter(|package| !package.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_number_is_the_number_of_other_packages() {
        let packages = "a v1.0.0 (/a)\nb v2.0.0\nc v1.0.0 (proc-macro)\nb v2.0.0 (*)\nb v1.0.0\n";
        let right = "It is small. With default features it\ndepends on 3 crates.";
        assert_eq!(check("a", right, packages), None);
        assert!(check("a", "With default features it depends on 2 crates.", packages).is_some());
        assert!(check("a", "", packages).is_some());
    }
}
