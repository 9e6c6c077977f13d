//! Version numbers, and their places in the root manifest.

use anyhow::{Context as _, Result, ensure};

/// `MAJOR.MINOR.PATCH`, comparable.
pub(super) fn parse(text: &str) -> Result<[u64; 3]> {
    let numbers = text
        .split('.')
        .map(str::parse)
        .collect::<Result<Vec<u64>, _>>()
        .with_context(|| format!("`{text}` is not MAJOR.MINOR.PATCH"))?;
    numbers.try_into().ok().with_context(|| format!("`{text}` is not MAJOR.MINOR.PATCH"))
}

/// Replaces the version of the workspace and of its crates.
pub(super) fn bump(manifest: &str, current: &str, next: &str) -> Result<String> {
    let old = format!("version = \"{current}\"");
    let new = format!("version = \"{next}\"");
    let mut replaced = 0;
    let mut bumped = String::with_capacity(manifest.len());
    for line in manifest.split_inclusive('\n') {
        // Only the workspace's crates have a path; an external crate may have the same number.
        let ours = line.trim_end() == old || line.contains("path = ");
        if ours && line.contains(&old) {
            replaced += 1;
            bumped.push_str(&line.replace(&old, &new));
        } else {
            bumped.push_str(line);
        }
    }
    ensure!(replaced > 0, "the root manifest does not name version {current}");
    Ok(bumped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        assert!(parse("0.10.0").unwrap() > parse("0.9.9").unwrap());
        for broken in ["1", "1.2", "1.2.x", "1.2.3.4", ""] {
            assert!(parse(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn only_our_own_versions_change() {
        let manifest = "[workspace.package]\nversion = \"0.1.0\"\n[workspace.dependencies]\n\
            core = { path = \"core\", version = \"0.1.0\" }\nforeign = { version = \"0.1.0\" }\n";
        let bumped = bump(manifest, "0.1.0", "0.2.0").unwrap();
        assert_eq!(bumped.matches("0.2.0").count(), 2);
        assert!(bumped.contains("foreign = { version = \"0.1.0\" }"));
        assert!(bump(manifest, "0.3.0", "0.4.0").is_err());
    }
}
