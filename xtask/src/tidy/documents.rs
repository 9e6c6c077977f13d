//! Rules for documentation and for text files in general.

/// The on-disk formats, each of which needs its own page.
const FORMATS: [&str; 6] =
    ["binding-v1", "bundle-v1", "pointer-v1", "redaction", "sidecar-v1", "trim-v1"];

const FORMAT_FOLDER: &str = "docs/format/";

/// Directories of one person's machine. Spelled in halves, so that this file passes its own rule.
const MACHINE_PATHS: [&str; 3] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/Us", "ers/runner/")];

/// Expressions that only tests may use, and what is wrong with them elsewhere.
const FOR_TESTS: [(&str, &str); 2] = [
    ("MarkerKey::new([", "everybody knows a constant key"),
    ("Settings::standard()", "it ignores the environment of the host"),
];

/// Paths that exist on one person's machine only.
pub(super) fn machine_paths(path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for folder in MACHINE_PATHS {
            if line.match_indices(folder).any(|(at, _)| starts_a_path(line, at)) {
                problems.push(format!("{path}:{}: a path of one machine ({folder}…)", index + 1));
            }
        }
    }
    problems
}

/// Whether the slash at `at` begins an absolute path rather than continuing one.
fn starts_a_path(line: &str, at: usize) -> bool {
    let before = line.get(..at).and_then(|head| head.chars().next_back());
    before.is_none_or(|character| {
        !character.is_alphanumeric()
            && !matches!(character, '_' | '-' | '.' | '~' | '/' | '}' | '>')
    })
}

/// Expressions for tests in the examples of a page or of a documentation comment, or in an example
/// program.
pub(super) fn unsafe_examples(path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let is_program = path.starts_with("examples/") && path.ends_with(".rs");
    let mut is_fenced = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let shown = ["//! ", "/// "].iter().find_map(|start| line.strip_prefix(start));
        let shown = shown.or_else(|| (path.ends_with(".md") || is_program).then_some(line));
        let Some(shown) = shown else { continue };
        if shown.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        }
        for (expression, why) in FOR_TESTS {
            if (is_fenced || is_program) && shown.contains(expression) {
                problems.push(format!("{path}:{}: {expression} in an example: {why}", index + 1));
            }
        }
    }
    problems
}

/// Relative links of a page whose target does not exist.
pub(super) fn dead_links(path: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next());
    targets
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .filter(|target| !exists(&resolve(folder, target)))
        .map(|target| format!("{path}: the link to {target} has no target"))
        .collect()
}

/// Paths in the table "Where does it go" that do not exist.
pub(super) fn missing_places(page: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let (_, section) = page.split_once("\n## Where does it go\n").unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    missing_files("CONTRIBUTING.md", section, exists)
}

/// Paths in the tables of a page that do not exist.
pub(super) fn missing_files(name: &str, page: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let is_path =
        |word: &&str| !word.contains(' ') && (word.contains('/') || word.ends_with(".md"));
    let named: Vec<&str> =
        rows.flat_map(|row| row.split('`').skip(1).step_by(2)).filter(is_path).collect();
    if named.is_empty() {
        return vec![format!("{name}: its table names no file")];
    }
    let missing = named.into_iter().filter(|path| !exists(path));
    missing.map(|path| format!("{name}: its table names {path}, which does not exist")).collect()
}

/// Pages that a source file names and that do not exist.
pub(super) fn dead_mentions(path: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    // The rules' own tests name pages that must not exist.
    if path.starts_with("xtask/") {
        return Vec::new();
    }
    text.split("`docs/")
        .skip(1)
        .filter_map(|rest| rest.split('`').next())
        .map(|name| format!("docs/{name}"))
        .filter(|page| page.ends_with(".md") && !exists(page))
        .map(|page| format!("{path}: {page} does not exist"))
        .collect()
}

/// Resolves `target` against `folder`, both relative to the root.
fn resolve(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// Variables that a library or the command reads but the page does not list.
pub(super) fn undocumented_variables(path: &str, text: &str, page: &str) -> Vec<String> {
    if !path.starts_with("crates/") {
        return Vec::new();
    }
    // Either spelled out, or without its prefix in a call of `shared("NAME")`.
    let spelt = text.split("\"TRAJ_").skip(1).map(|rest| format!("TRAJ_{}", name_at(rest)));
    let shared = text.split("shared(\"").skip(1).map(|rest| format!("TRAJ_{}", name_at(rest)));
    // Elsewhere, such names belong to secrets that are hidden.
    let stores: &[&str] =
        if path.contains("object_stores") { &["AWS_", "AZURE_", "GOOGLE_"] } else { &[] };
    let stores = stores.iter().flat_map(|prefix| {
        let quoted = format!("\"{prefix}");
        let rest: Vec<&str> = text.split(&quoted).skip(1).collect();
        rest.into_iter().map(move |rest| format!("{prefix}{}", name_at(rest)))
    });
    let mut missing: Vec<String> = spelt
        .chain(shared)
        .chain(stores)
        .filter(|name| !page.contains(&format!("`{name}`")))
        .collect();
    missing.sort_unstable();
    missing.dedup();
    missing
        .into_iter()
        .map(|name| format!("{path}: docs/environment.md does not name {name}"))
        .collect()
}

/// The variable name at the start of a string.
fn name_at(text: &str) -> &str {
    let is_part = |letter: char| matches!(letter, 'A'..='Z' | '0'..='9' | '_');
    let end = text.find(|letter: char| !is_part(letter));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

/// Each format has a page, and each page is listed in the index.
pub(super) fn format_pages(files: &[String], index: &str) -> Vec<String> {
    let required = FORMATS.iter().map(|format| format!("{FORMAT_FOLDER}{format}.md"));
    let missing = required
        .filter(|page| !files.contains(page))
        .map(|page| format!("{page} is missing: an on-disk format without its contract"));
    let unlisted = files
        .iter()
        .filter_map(|path| path.strip_prefix(FORMAT_FOLDER))
        .filter(|name| *name != "README.md" && !index.contains(&format!("]({name})")))
        .map(|name| format!("{FORMAT_FOLDER}README.md does not list {name}"));
    missing.chain(unlisted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_absolute_path_of_a_machine_is_a_problem() {
        let folder = MACHINE_PATHS[0];
        assert_eq!(machine_paths("a", &format!("see {folder}main")).len(), 1);
        assert_eq!(machine_paths("a", &format!("\"{folder}main\"")).len(), 1);
        assert!(machine_paths("a", &format!("/home/dev{folder}main")).is_empty());
        assert!(machine_paths("a", "work/main").is_empty());
    }

    #[test]
    fn links_are_relative_to_their_page() {
        let dead = |text: &str| {
            dead_links("docs/a.md", text, |path| path == "docs/b.md" || path == "C.md")
        };
        assert!(
            dead("[b](b.md) [c](../C.md#part) [w](https://example.org) [here](#part)").is_empty()
        );
        assert_eq!(dead("[c](C.md) and [d](d.md)").len(), 2);
    }

    #[test]
    fn every_variable_is_on_the_page() {
        let source = "variables.get(\"TRAJ_A_B\") + variables.shared(\"C\") + get(\"HOME\")";
        let missing = |page: &str| undocumented_variables("crates/a.rs", source, page).len();
        assert_eq!(missing("`TRAJ_A_B`, `TRAJ_C`"), 0);
        assert_eq!(missing("`TRAJ_A`"), 2);
        assert!(undocumented_variables("tests/a.rs", source, "").is_empty());
        let source = r#"get(&["AWS_URL_S3", "AWS_URL"]); "CODEX_HOME""#;
        let missing = |path: &str| undocumented_variables(path, source, "`AWS_URL`").len();
        assert_eq!(missing("crates/a/src/object_stores/open.rs"), 1);
        assert_eq!(missing("crates/a/src/rules.rs"), 0);
    }

    #[test]
    fn every_format_needs_its_page_and_every_page_its_line() {
        assert_eq!(format_pages(&[], "").len(), FORMATS.len());
        let extra = ["docs/format/new-v1.md".to_owned()];
        assert_eq!(format_pages(&extra, "").len(), FORMATS.len() + 1);
        assert_eq!(format_pages(&extra, "- [New](new-v1.md): new").len(), FORMATS.len());
    }

    #[test]
    fn a_page_that_a_source_names_exists() {
        let dead = |text: &str| dead_mentions("a.rs", text, |page| page == "docs/a.md").len();
        assert_eq!(dead("see `docs/a.md` and `docs/b.md`, not docs/c.md or `docs/images`"), 1);
    }

    #[test]
    fn the_places_of_typical_changes_exist() {
        let exists = |path: &str| path == "crates/a/src/" || path == "docs/a.md";
        let missing = |table: &str| {
            missing_places(
                &format!("# A\n\n## Where does it go\n\n{table}\n\n## B\n| `c/d` |\n"),
                exists,
            )
        };
        assert!(missing("| a rule | `crates/a/src/` | `docs/a.md`, `--json` |").is_empty());
        assert_eq!(missing("| a rule | `crates/a/src/` | `docs/b.md` |").len(), 1);
        assert_eq!(missing("| a rule | `crates/b/` | `docs/b.md` |").len(), 2);
        // A missing or renamed table is a problem, too.
        assert_eq!(missing("").len(), 1);
        assert_eq!(missing_places("# A\n", exists).len(), 1);
    }

    #[test]
    fn what_people_copy_has_no_constant_key_and_keeps_to_the_environment() {
        let key = format!("let key = {}7; 32]);", FOR_TESTS[0].0);
        let settings = format!("let settings = {};", FOR_TESTS[1].0);
        let page = format!("`{settings}` is for tests.\n```rust\n{key}\n{settings}\n```\n{key}\n");
        let found = unsafe_examples("README.md", &page);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("README.md:3: ") && found[1].starts_with("README.md:4: "));
        let comment = format!("//! ```\n//! {key}\n//! ```\n{key}\n    /// {key}\n");
        assert_eq!(unsafe_examples("crates/a/src/lib.rs", &comment).len(), 1);
        assert_eq!(unsafe_examples("examples/a.rs", &key).len(), 1);
    }
}
