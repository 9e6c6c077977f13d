//! Rules for single source files.

use super::list::Reasons;

/// Above this a file needs a reason in `xtask/tidy/long-files.txt`.
const EXPLAIN_ABOVE: usize = 400;
/// Above this, no reason is accepted.
const FAIL_ABOVE: usize = 800;

/// Code that a source must not contain, and what to do instead.
const FORBIDDEN: [(&str, &str); 5] = [
    ("todo!(", "finish it or leave it out"),
    ("unimplemented!(", "finish it or leave it out"),
    ("#[ignore", "a test that does not run proves nothing"),
    ("#[should_panic", "assert on the value instead"),
    ("env::set_var", "tests share one environment: pass a value"),
];

/// The rules and their tests themselves contain these words.
const RULES: &str = "xtask/src/tidy/";

/// Checks the module documentation, file name and forbidden words of one file.
pub(super) fn check(path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if !text.starts_with("//! ") {
        problems.push(format!("{path}: does not begin with `//!` documentation"));
    }
    if path.ends_with("/mod.rs") {
        problems.push(format!("{path}: write `name.rs` beside `name/` instead"));
    }
    if !path.starts_with(RULES) {
        for (word, advice) in FORBIDDEN {
            let found = text.lines().position(|line| !is_comment(line) && line.contains(word));
            if let Some(index) = found {
                problems.push(format!("{path}:{}: `{word}`: {advice}", index + 1));
            }
        }
    }
    problems
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// Checks the lengths of all files, and that every explanation is needed.
pub(super) fn check_sizes(files: &[(String, String)], explained: &Reasons) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, text) in files {
        let lines = text.lines().count();
        let reason = explained.get(path);
        if lines > FAIL_ABOVE {
            problems.push(format!("{path}: {lines} lines; split it (limit {FAIL_ABOVE})"));
        } else if lines > EXPLAIN_ABOVE && reason.is_none_or(String::is_empty) {
            problems.push(format!(
                "{path}: {lines} lines; split it or explain it in xtask/tidy/long-files.txt"
            ));
        } else if lines <= EXPLAIN_ABOVE && reason.is_some() {
            problems
                .push(format!("{path}: short enough; remove it from xtask/tidy/long-files.txt"));
        }
    }
    for path in explained.keys() {
        if !files.iter().any(|(existing, _)| existing == path) {
            problems.push(format!("xtask/tidy/long-files.txt names {path}, which does not exist"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::list::parse_reasons;

    #[test]
    fn a_module_says_what_it_is_for() {
        assert!(check("a.rs", "//! Ids.\n").is_empty());
        assert_eq!(check("a.rs", "use std::fmt;\n").len(), 1);
        assert_eq!(check("a/mod.rs", "//! Ids.\n").len(), 1);
    }

    #[test]
    fn forbidden_words_count_in_code_only() {
        assert_eq!(check("a.rs", "//! Ids.\nfn a() { todo!() }\n").len(), 1);
        assert_eq!(check("a.rs", "//! Ids.\n#[ignore]\n").len(), 1);
        assert!(check("a.rs", "//! Ids.\n// no todo!() here\n").is_empty());
        assert!(check("xtask/src/tidy/sources.rs", "//! Ids.\ntodo!()\n").is_empty());
    }

    #[test]
    fn a_long_file_needs_a_reason_and_a_very_long_one_has_none() {
        let sizes = |lines: usize, reasons: &str| {
            check_sizes(&[("a.rs".to_owned(), "x\n".repeat(lines))], &parse_reasons(reasons)).len()
        };
        assert_eq!(sizes(400, ""), 0);
        assert_eq!(sizes(401, ""), 1);
        assert_eq!(sizes(401, "a.rs"), 1);
        assert_eq!(sizes(401, "a.rs  one table"), 0);
        assert_eq!(sizes(801, "a.rs  one table"), 1);
        assert_eq!(sizes(10, "a.rs  one table"), 1);
        assert_eq!(sizes(10, "b.rs  one table"), 1);
    }
}
