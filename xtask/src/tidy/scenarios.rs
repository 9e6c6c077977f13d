//! Checks that every scenario of the Codex binding names tests that exist.

use std::collections::BTreeMap;

/// How many scenarios there are. Their numbers never change their meaning.
const SCENARIOS: usize = 82;

/// Checks the table of a page: one row for each number, and in its last column the file of each
/// test before the test's name.
pub(super) fn check(page: &str, text: &str, files: &[(String, String)]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [first, .., tests] = cells.as_slice() else { continue };
        let Ok(number) = first.parse::<usize>() else { continue };
        *rows.entry(number).or_default() += 1;
        problems.extend(missing_tests(page, number, tests, files));
    }
    for number in 1..=SCENARIOS {
        match rows.get(&number) {
            Some(1) => {}
            Some(count) => problems.push(format!("{page}: scenario {number} has {count} rows")),
            None => problems.push(format!("{page}: scenario {number} has no row")),
        }
    }
    problems
}

/// Names in a cell that are not tests of the file before them.
fn missing_tests(page: &str, number: usize, cell: &str, files: &[(String, String)]) -> Vec<String> {
    let mut problems = Vec::new();
    let (mut file, mut count) = (None, 0);
    for name in cell.split('`').skip(1).step_by(2) {
        if name.ends_with(".rs") {
            file = files.iter().find(|(path, _)| path == name);
            if file.is_none() {
                problems
                    .push(format!("{page}: scenario {number} names {name}, which does not exist"));
            }
            continue;
        }
        count += 1;
        if !file.is_some_and(|(_, text)| is_test(text, name)) {
            let place = file.map_or("no file", |(path, _)| path);
            problems.push(format!("{page}: scenario {number} names {name}, no test of {place}"));
        }
    }
    if count == 0 {
        problems.push(format!("{page}: scenario {number} names no test"));
    }
    problems
}

/// Whether a file has a test of this name, by itself or in a contract suite.
fn is_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let signature = format!("fn {name}(");
    let Some(at) = lines.iter().position(|line| line.contains(&signature)) else { return false };
    let before = lines.iter().take(at).rev();
    let mut attributes = before.take_while(|line| line.starts_with('#') || line.starts_with("//"));
    let has_attribute =
        attributes.any(|line| line.starts_with("#[test]") || line.contains("::test"));
    has_attribute || in_suite(&lines, name)
}

fn in_suite(lines: &[&str], name: &str) -> bool {
    let entry = format!("{name},");
    let suite = lines.iter().skip_while(|line| !line.starts_with("suite! {"));
    suite.take_while(|line| **line != "}").any(|line| *line == entry)
}

#[cfg(test)]
mod tests {
    use super::super::owned;
    use super::*;

    const FILE: &str = "#[test]\nfn plain() {}\n/// Why.\n#[tokio::test(start_paused = true)]\nasync fn timed() {}\nfn helper() {}\nsuite! {\n    $ store on Harness:\n    promise,\n}\nfn promise(h: &H) {}\n";

    fn problems(first: &str) -> Vec<String> {
        let rest: String =
            (2..=SCENARIOS).map(|number| format!("| {number} | x | `a.rs` `plain` |\n")).collect();
        check(
            "page",
            &format!("| Number | x | Tests |\n{first}\n{rest}"),
            &owned(&[("a.rs", FILE)]),
        )
    }

    #[test]
    fn tests_of_every_kind_are_found() {
        for row in ["| 1 | x | `a.rs` `plain`, `timed` |", "| 1 | x `y` | `a.rs` `promise` |"] {
            assert_eq!(problems(row), Vec::<String>::new(), "{row}");
        }
    }

    #[test]
    fn a_row_without_a_test_that_exists_is_a_problem() {
        for row in [
            "",
            "| 1 | x | none: the host does it |",
            "| 1 | x | `a.rs` `helper` |",
            "| 1 | x | `a.rs` `gone` |",
            "| 1 | x | `b.rs` |\n| 1 | x | `a.rs` `plain` |",
            "| 1 | x | `plain` |",
            "| 1 | x | `a.rs` `plain` |\n| 1 | y | `a.rs` `plain` |",
        ] {
            assert!(!problems(row).is_empty(), "{row}");
        }
    }
}
