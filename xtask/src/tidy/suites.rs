//! Nothing is forgotten in the test binary.
//!
//! Cargo compiles only what a `mod` names: a test file that nobody lists
//! passes by never running.

/// Checks `tests/it` against its `main.rs` and the contract suites against their use.
pub(super) fn check(files: &[(String, String)]) -> Vec<String> {
    let mut problems = Vec::new();
    problems.extend(unlisted(files, "tests/it/", "tests/it/main.rs"));
    problems.extend(unlisted(files, "tests/src/contract/", "tests/src/contract.rs"));
    problems.extend(unlisted(files, "tests/benches/", "tests/benches/main.rs"));
    for suite in direct_modules(files, "tests/src/contract/") {
        let used = files.iter().any(|(path, text)| {
            path.starts_with("tests/it/") && text.contains(&format!("contract::{suite}"))
                || path.starts_with("tests/it/") && grouped_use(text, suite)
        });
        if !used {
            problems.push(format!("tests/src/contract/{suite}.rs: no test runs this suite"));
        }
    }
    problems
}

/// `use traj_tests::contract::{a, suite};`
fn grouped_use(text: &str, suite: &str) -> bool {
    text.split("contract::{").skip(1).any(|rest| {
        rest.split('}').next().unwrap_or_default().split(',').any(|name| name.trim() == suite)
    })
}

fn unlisted(files: &[(String, String)], folder: &str, list: &str) -> Vec<String> {
    let listing = files.iter().find(|(path, _)| path == list).map_or("", |(_, text)| text.as_str());
    direct_modules(files, folder)
        .filter(|module| format!("{folder}{module}.rs") != list)
        .filter(|module| {
            !listing.lines().any(|line| {
                let declared =
                    line.trim().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
                declared == format!("mod {module};")
            })
        })
        .map(|module| format!("{folder}{module}.rs is not listed in {list}: it never runs"))
        .collect()
}

/// Names of the files directly in `folder`.
fn direct_modules<'a>(
    files: &'a [(String, String)],
    folder: &'a str,
) -> impl Iterator<Item = &'a str> {
    files.iter().filter_map(move |(path, _)| {
        let name = path.strip_prefix(folder)?.strip_suffix(".rs")?;
        (!name.contains('/')).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(files: &[(&str, &str)]) -> usize {
        let owned: Vec<(String, String)> =
            files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect();
        check(&owned).len()
    }

    #[test]
    fn a_test_file_must_be_listed() {
        assert_eq!(problems(&[("tests/it/main.rs", "mod cli;"), ("tests/it/cli.rs", "")]), 0);
        assert_eq!(problems(&[("tests/it/main.rs", "// mod cli;"), ("tests/it/cli.rs", "")]), 1);
        assert_eq!(problems(&[("tests/it/main.rs", "mod cli_more;"), ("tests/it/cli.rs", "")]), 1);
        // A file deeper down belongs to the module above it.
        assert_eq!(problems(&[("tests/it/main.rs", ""), ("tests/it/cli/help.rs", "")]), 0);
    }

    #[test]
    fn a_contract_suite_must_be_listed_and_run() {
        let suite = ("tests/src/contract/clock.rs", "");
        let listed = ("tests/src/contract.rs", "pub mod clock;");
        let main = ("tests/it/main.rs", "mod a;");
        assert_eq!(
            problems(&[suite, listed, main, ("tests/it/a.rs", "contract::clock::runs(x)")]),
            0
        );
        assert_eq!(
            problems(&[suite, listed, main, ("tests/it/a.rs", "contract::{store, clock};")]),
            0
        );
        assert_eq!(problems(&[suite, listed, main, ("tests/it/a.rs", "")]), 1);
        assert_eq!(problems(&[suite]), 2);
    }
}
