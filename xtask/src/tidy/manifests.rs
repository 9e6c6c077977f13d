//! Checks that manifests inherit the settings of the workspace.

use std::collections::BTreeSet;

/// Keys of `[package]` that every member inherits from the workspace.
const INHERITED: [&str; 4] = ["version", "edition", "rust-version", "license"];

/// Keys that a published crate must also inherit.
const INHERITED_WHEN_PUBLISHED: [&str; 3] = ["repository", "keywords", "categories"];

pub(super) fn check(name: &str, manifest: &str, published: bool) -> Vec<String> {
    let mut problems = Vec::new();
    let mut missing = |key: &str| {
        if !manifest.lines().any(|line| line.trim() == format!("{key}.workspace = true")) {
            problems.push(format!("{name}: `{key}.workspace = true` is missing from its manifest"));
        }
    };
    INHERITED.into_iter().for_each(&mut missing);
    if published {
        INHERITED_WHEN_PUBLISHED.into_iter().for_each(&mut missing);
    }
    for (key, line) in [("description", "\ndescription = "), ("README", "\nreadme = \"README.md\"")]
    {
        if published && !manifest.contains(line) {
            problems.push(format!("{name}: a published crate needs a {key} of its own"));
        }
    }
    if !manifest.contains("[lints]\nworkspace = true") {
        problems.push(format!("{name}: `[lints] workspace = true` is missing"));
    }
    for line in dependency_lines(manifest) {
        let inherited = line.contains(".workspace = true") || line.contains("workspace = true");
        if !inherited {
            let dependency = line.split(['=', '.', ' ']).next().unwrap_or(line);
            problems.push(format!("{name}: {dependency} must take its version from the workspace"));
        }
    }
    problems
}

/// Dependencies that the workspace declares but no member uses.
pub(super) fn unused(workspace: &str, members: &[String]) -> Vec<String> {
    let name_of = |line: &str| line.split(['=', '.', ' ']).next().unwrap_or(line).to_owned();
    let used: BTreeSet<String> =
        members.iter().flat_map(|manifest| dependency_lines(manifest)).map(name_of).collect();
    dependency_lines(workspace)
        .map(name_of)
        .filter(|name| !used.contains(name))
        .map(|name| format!("[workspace.dependencies] declares {name}, which no crate uses"))
        .collect()
}

/// The entries of every dependency table, one per line.
fn dependency_lines(manifest: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    manifest.lines().map(str::trim).filter(move |line| {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
            return false;
        }
        inside && !line.is_empty() && !line.starts_with('#')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[package]\nname = \"a\"\ndescription = \"b\"\nreadme = \"README.md\"\nversion.workspace = true\n\
        edition.workspace = true\nrust-version.workspace = true\nlicense.workspace = true\n\
        repository.workspace = true\nkeywords.workspace = true\ncategories.workspace = true\n\
        [lints]\nworkspace = true\n\n[dependencies]\n# why\nserde.workspace = true\n\
        tokio = { workspace = true, features = [\"rt\"] }\n[dev-dependencies]\ninsta.workspace = true\n";

    #[test]
    fn a_manifest_that_inherits_everything_passes() {
        assert_eq!(check("a", GOOD, true), Vec::<String>::new());
    }

    #[test]
    fn each_departure_is_named() {
        for (from, to) in [
            ("edition.workspace = true", "edition = \"2021\""),
            ("[lints]\nworkspace = true", "[lints]"),
            ("serde.workspace = true", "serde = \"1\""),
            ("insta.workspace = true", "insta = { version = \"1\" }"),
            ("description = \"b\"", ""),
            ("readme = \"README.md\"", "readme.workspace = true"),
            ("repository.workspace = true", ""),
        ] {
            assert_eq!(check("a", &GOOD.replace(from, to), true).len(), 1, "{to}");
        }
    }

    #[test]
    fn an_unused_workspace_dependency_is_a_problem() {
        let members = [GOOD.to_owned()];
        let table =
            "[workspace.dependencies]\ninsta = \"1\"\nserde = \"1\"\ntokio = { version = \"1\" }\n";
        assert_eq!(unused(table, &members), Vec::<String>::new());
        assert_eq!(unused(&format!("{table}semver = \"1\"\n"), &members).len(), 1);
        assert_eq!(unused(&format!("{table}serd = \"1\"\n"), &members).len(), 1);
    }
}
