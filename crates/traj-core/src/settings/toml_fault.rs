//! Reports TOML errors by line, without repeating the file's values.

/// The line of a byte, counted from one.
pub(crate) fn line_at(text: &str, byte: usize) -> usize {
    text.as_bytes().iter().take(byte).filter(|byte| **byte == b'\n').count() + 1
}

/// The line of an error, and what is wrong there. The message may contain key
/// names, but no strings from the file.
pub(crate) fn line_and_problem(text: &str, error: &toml::de::Error) -> (usize, String) {
    let line = line_at(text, error.span().map_or(0, |span| span.start));
    (line, without_strings(error.message()))
}

fn without_strings(message: &str) -> String {
    let parts = message.split_once("string \"").and_then(|(before, rest)| {
        let (_, after) = rest.rsplit_once('"')?;
        Some(format!("{before}string{after}"))
    });
    // The parser may add lines to its message.
    parts.unwrap_or_else(|| message.to_owned()).trim_end().replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_its_line_and_no_value() {
        let text = "a = 1\nb = \"hunter2\"\n";
        let error = toml::from_str::<std::collections::BTreeMap<String, u8>>(text).unwrap_err();
        let (line, problem) = line_and_problem(text, &error);
        assert_eq!((line, problem.as_str()), (2, "invalid type: string, expected u8"));
    }
}
