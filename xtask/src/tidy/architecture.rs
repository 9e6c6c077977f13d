//! Compares ARCHITECTURE.md and its picture of the crates with the workspace.
//!
//! Every crate has a paragraph in the code map, every module of a crate with a
//! table of modules is named there, and the arrows of the picture are the
//! dependencies between crates.

use std::collections::{BTreeMap, BTreeSet};

use crate::workspace::Member;

/// The page.
pub(super) const PAGE: &str = "ARCHITECTURE.md";

/// The picture of the crates that the page shows.
pub(super) const PICTURE: &str = "docs/images/crates.svg";

/// Paragraphs of the code map that are missing, and modules that are missing from a paragraph.
pub(super) fn check_map(page: &str, members: &[Member], files: &[String]) -> Vec<String> {
    let paragraphs = paragraphs(page);
    let crates = crates(members);
    let mut problems = Vec::new();
    for folder in &crates {
        let Some(text) = paragraphs.get(folder.as_str()) else {
            problems.push(format!("{PAGE}: the code map has no paragraph about {folder}"));
            continue;
        };
        let names: BTreeSet<&str> = text.split('`').skip(1).step_by(2).collect();
        let modules = modules(folder, files);
        if text.contains("| Module |") {
            let is_named = |module: &str| {
                names.contains(module) || names.contains(format!("{module}.rs").as_str())
            };
            for module in modules.iter().filter(|module| !is_named(module)) {
                problems.push(format!("{PAGE}: the paragraph about {folder} omits {module}"));
            }
        }
        for module in table_names(text) {
            let first = module.split('/').next().unwrap_or(module);
            if !modules.contains(first) {
                problems.push(format!("{PAGE}: {folder} has no module {module}"));
            }
        }
    }
    let known = |folder: &str| crates.iter().any(|known| known == folder);
    for folder in paragraphs.keys().filter(|folder| folder.starts_with("crates/")) {
        if !known(folder) {
            problems.push(format!("{PAGE}: the code map names {folder}, which is not a member"));
        }
    }
    problems
}

/// Arrows of the picture that are not dependencies, and dependencies without an arrow.
///
/// A dependency that follows from two others needs no arrow of its own.
pub(super) fn check_picture(picture: &str, members: &[Member]) -> Vec<String> {
    let published: BTreeSet<&str> = members
        .iter()
        .filter(|member| member.manifest.starts_with("crates"))
        .map(|member| member.name.as_str())
        .collect();
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for member in members.iter().filter(|member| published.contains(member.name.as_str())) {
        let normal = member.dependencies.iter().filter(|dependency| dependency.normal);
        let ours = normal.map(|dependency| dependency.name.as_str());
        edges.insert(&member.name, ours.filter(|name| published.contains(name)).collect());
    }
    let mut wanted: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (from, targets) in &edges {
        for to in targets {
            let is_implied = targets.iter().any(|other| other != to && reaches(&edges, other, to));
            if !is_implied {
                wanted.insert((from, to));
            }
        }
    }
    let drawn: BTreeSet<(&str, &str)> = picture.split("<path ").skip(1).filter_map(arrow).collect();
    let missing = wanted.difference(&drawn);
    let wrong = drawn.difference(&wanted);
    missing
        .map(|(from, to)| format!("{PICTURE}: there is no arrow from {from} to {to}"))
        .chain(wrong.map(|(from, to)| format!("{PICTURE}: the arrow from {from} to {to} is wrong")))
        .collect()
}

/// Whether there is a path of dependencies from one crate to another.
fn reaches(edges: &BTreeMap<&str, BTreeSet<&str>>, from: &str, to: &str) -> bool {
    edges.get(from).is_some_and(|targets| {
        targets.contains(to) || targets.iter().any(|next| reaches(edges, next, to))
    })
}

/// The crates that an arrow connects.
fn arrow(path: &str) -> Option<(&str, &str)> {
    let value = |name: &str| path.split_once(name)?.1.split('"').next();
    Some((value("data-from=\"")?, value("data-to=\"")?))
}

/// The directories of the members in `crates`.
fn crates(members: &[Member]) -> Vec<String> {
    let folders = members.iter().filter_map(|member| member.manifest.parent());
    let folders = folders.map(|folder| folder.to_string_lossy().into_owned());
    folders.filter(|folder| folder.starts_with("crates/")).collect()
}

/// The paragraphs of the code map that begin with the directory of a crate.
fn paragraphs(page: &str) -> BTreeMap<&str, &str> {
    let (_, map) = page.split_once("\n## Code map\n").unwrap_or_default();
    let map = map.split("\n## ").next().unwrap_or_default();
    map.split("\n**`").skip(1).filter_map(|text| text.split_once("`**")).collect()
}

/// What the first column of a table names.
fn table_names(text: &str) -> impl Iterator<Item = &str> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let cells = rows.filter_map(|row| row.split(" | ").next());
    cells.flat_map(|cell| cell.split('`').step_by(2)).filter(|name| !name.is_empty())
}

/// The modules at the top of a crate.
fn modules<'f>(folder: &str, files: &'f [String]) -> BTreeSet<&'f str> {
    let source = format!("{folder}/src/");
    let inside = files.iter().filter_map(|path| path.strip_prefix(source.as_str()));
    let names = inside.filter_map(|path| path.split('/').next());
    let names = names.map(|name| name.strip_suffix(".rs").unwrap_or(name));
    names.filter(|name| !matches!(*name, "lib" | "main")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    fn member(name: &str, dependencies: &[&str]) -> Member {
        let normal = |name: &&str| Dependency { name: (*name).to_owned(), normal: true };
        Member {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            manifest: format!("crates/{name}/Cargo.toml").into(),
            published: true,
            library: true,
            dependencies: dependencies.iter().map(normal).collect(),
        }
    }

    #[test]
    fn every_crate_and_every_module_of_a_table_is_on_the_map() {
        let files = ["crates/core/src/lib.rs", "crates/core/src/a.rs", "crates/core/src/b/c.rs"];
        let files = files.map(str::to_owned);
        let problems = |map: &str| {
            let page = format!("# A\n\n## Code map\n\n{map}\n\n## More\n");
            check_map(&page, &[member("core", &["serde"])], &files).len()
        };
        let table = "**`crates/core`** is pure.\n\n| Module | Purpose |\n|---|---|\n";
        assert_eq!(problems(&format!("{table}| `a`, `b/c` | x |\n| `b` | y |")), 0);
        assert_eq!(problems(&format!("{table}| `a` | x |")), 1, "b is missing");
        assert_eq!(problems(&format!("{table}| `a`, `b` | x |\n| `d` | y |")), 1, "d is wrong");
        assert_eq!(problems("**`crates/core`** is pure."), 0, "no table");
        assert_eq!(problems(""), 1);
        assert_eq!(problems("**`crates/core`** is pure.\n\n**`crates/gone`** too."), 1);
    }

    #[test]
    fn the_arrows_are_the_dependencies() {
        let members = [
            member("cli", &["core", "lake", "clap"]),
            member("lake", &["core"]),
            member("core", &[]),
        ];
        let arrow = |from: &str, to: &str| {
            format!("<path class=\"line\" data-from=\"{from}\" data-to=\"{to}\" d=\"M0 0\"/>\n")
        };
        let right = arrow("cli", "lake") + &arrow("lake", "core");
        assert_eq!(check_picture(&right, &members), Vec::<String>::new());
        assert_eq!(check_picture(&arrow("cli", "lake"), &members).len(), 1);
        assert_eq!(check_picture(&(right + &arrow("cli", "core")), &members).len(), 1);
        assert_eq!(check_picture("", &members).len(), 2);
    }
}
