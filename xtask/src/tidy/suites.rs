//! Checks that every test file is part of the test binary.
//!
//! Cargo compiles only what a `mod` names. A test file that is not listed never
//! runs, and so never fails.

/// Checks that every module of the tests is listed where Cargo looks for it,
/// and that a test runs each contract suite.
pub(super) fn check(files: &[(String, String)]) -> Vec<String> {
    let mut problems = Vec::new();
    problems.extend(unlisted(files, "tests/it", "tests/it/main.rs"));
    problems.extend(unlisted(files, "tests/src", "tests/src/lib.rs"));
    problems.extend(unlisted(files, "tests/benches", "tests/benches/main.rs"));
    for suite in direct_modules(files, "tests/src/contract/") {
        let used = files
            .iter()
            .any(|(path, text)| path.starts_with("tests/it/") && runs_suite(text, suite));
        if !used {
            problems.push(format!("tests/src/contract/{suite}.rs: no test runs this suite"));
        }
    }
    problems
}

/// Whether the text has `contract_tests! { suite: ... }`, on one line or on several.
fn runs_suite(text: &str, suite: &str) -> bool {
    text.split("contract_tests! {")
        .skip(1)
        .any(|rest| rest.trim_start().strip_prefix(suite).is_some_and(|rest| rest.starts_with(':')))
}

/// Files below `root` that their parent module does not declare. The parent of
/// a file directly in `root` is `top`; of any other, the file that is named
/// after its directory.
fn unlisted(files: &[(String, String)], root: &str, top: &str) -> Vec<String> {
    let below = format!("{root}/");
    files
        .iter()
        .filter(|(path, _)| path.starts_with(&below) && path != top)
        .filter_map(|(path, _)| {
            let (directory, module) = path.strip_suffix(".rs")?.rsplit_once('/')?;
            let parent = if directory == root { top.to_owned() } else { format!("{directory}.rs") };
            let listing = files.iter().find(|(path, _)| *path == parent);
            let listed = listing.is_some_and(|(_, text)| declares(text, module));
            (!listed).then(|| format!("{path} is not listed in {parent}: it never runs"))
        })
        .collect()
}

fn declares(text: &str, module: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
        line == format!("mod {module};")
    })
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
    use super::super::owned;
    use super::*;

    fn problems(files: &[(&str, &str)]) -> usize {
        check(&owned(files)).len()
    }

    #[test]
    fn a_test_file_must_be_listed() {
        assert_eq!(problems(&[("tests/it/main.rs", "mod cli;"), ("tests/it/cli.rs", "")]), 0);
        assert_eq!(problems(&[("tests/it/main.rs", "// mod cli;"), ("tests/it/cli.rs", "")]), 1);
        assert_eq!(problems(&[("tests/it/main.rs", "mod cli_more;"), ("tests/it/cli.rs", "")]), 1);
        // A file in a directory is listed in the module of that directory.
        let [main, directory] =
            [("tests/it/main.rs", "mod cli;"), ("tests/it/cli.rs", "mod help;")];
        assert_eq!(problems(&[main, directory, ("tests/it/cli/help.rs", "")]), 0);
        assert_eq!(problems(&[main, directory, ("tests/it/cli/more.rs", "")]), 1);
        assert_eq!(problems(&[("tests/it/main.rs", "mod help;"), ("tests/it/cli/help.rs", "")]), 1);
    }

    #[test]
    fn a_contract_suite_must_be_listed_and_run() {
        let suite = ("tests/src/contract/clock.rs", "");
        let with = |test: &str| {
            problems(&[
                suite,
                ("tests/src/lib.rs", "pub mod contract;"),
                ("tests/src/contract.rs", "pub mod clock;"),
                ("tests/it/main.rs", "mod a;"),
                ("tests/it/a.rs", test),
            ])
        };
        assert_eq!(with("contract_tests! { clock: memory => Memory, }"), 0);
        assert_eq!(with("contract_tests! {\n    clock:\n    memory => Memory,\n}"), 0);
        assert_eq!(with("contract_tests! { clocks: memory => Memory, }"), 1);
        assert_eq!(with(""), 1);
        assert_eq!(problems(&[suite]), 2);
    }
}
