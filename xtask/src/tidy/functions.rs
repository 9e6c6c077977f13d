//! Limits the length of functions.
//!
//! The sources are formatted by rustfmt, so a function ends at the first line
//! that closes a brace at its own indentation.

/// The most lines a function may have, from its signature to its closing brace.
const LONGEST: usize = 80;

/// The functions of a file that are too long.
pub(super) fn check(path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let indent: String = line.chars().take_while(|character| *character == ' ').collect();
        let closing = format!("{indent}}}");
        let declared = format!("{indent}) ");
        let end = lines.iter().skip(index).position(|line| {
            *line == closing || (line.ends_with(';') && line.starts_with(&declared))
        });
        // Neither a declaration in a trait nor a function on one line has a closing brace.
        let on_one_line = line.ends_with(';') || line.ends_with('}');
        if let Some(length) = end.filter(|_| !on_one_line).map(|end| end + 1)
            && length > LONGEST
        {
            problems.push(format!(
                "{path}:{}: `{name}` has {length} lines; split it (limit {LONGEST})",
                index + 1
            ));
        }
    }
    problems
}

/// The name, if a function begins on this line.
fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_qualifier = |word: &str| {
        matches!(word, "pub" | "const" | "async" | "unsafe" | "extern" | "default")
            || word.starts_with("pub(")
            || word.ends_with(')') && !word.contains('(')
            || word.starts_with('"')
    };
    let is_start = before.is_empty() || before.ends_with(' ');
    (is_start && before.split_whitespace().all(is_qualifier))
        .then(|| after.split(['(', '<']).next())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(signature: &str, lines: usize) -> String {
        format!("{signature} {{\n{}}}\n", "    call();\n".repeat(lines - 2))
    }

    #[test]
    fn a_function_may_have_eighty_lines() {
        for signature in ["fn a()", "pub fn a<T>(b: T)", "pub(in crate::b) async fn a()"] {
            assert!(check("a.rs", &function(signature, 80)).is_empty(), "{signature}");
            assert_eq!(check("a.rs", &function(signature, 81)).len(), 1, "{signature}");
        }
    }

    #[test]
    fn only_the_longest_of_several_is_a_problem() {
        let text = format!("{}\n{}", function("fn a()", 40), function("fn b()", 90));
        let problems = check("a.rs", &text);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].contains("a.rs:42: `b` has 90 lines"), "{problems:?}");
    }

    #[test]
    fn a_declaration_has_no_body() {
        let text = format!(
            "trait A {{\n    fn a(&self);\n    fn b(\n        &self,\n    ) -> u8;\n{}}}\n",
            "    // more\n".repeat(90)
        );
        assert!(check("a.rs", &text).is_empty());
    }
}
