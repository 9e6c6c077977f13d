//! Patterns for model names, with `*` for any text.

/// How specific a pattern is that matches a name: the number of its characters
/// other than `*`. `None` if it does not match. Case does not matter.
pub(super) fn fit(pattern: &str, name: &str) -> Option<usize> {
    let (pattern, name) = (pattern.to_ascii_lowercase(), name.to_ascii_lowercase());
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let mut rest = name.strip_prefix(first)?;
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        // Without a star it must be the whole name. An exact name beats any star.
        return rest.is_empty().then_some(usize::MAX);
    };
    for part in parts {
        let at = rest.find(part)?;
        rest = rest.get(at + part.len()..)?;
    }
    rest.ends_with(last).then(|| pattern.chars().filter(|character| *character != '*').count())
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn a_star_matches_any_text() {
        assert_eq!(fit("gpt-5", "GPT-5"), Some(usize::MAX));
        assert_eq!(fit("gpt-5", "gpt-5.4"), None);
        assert_eq!(fit("gpt-5-20*", "gpt-5-2025-08-07"), Some(8));
        assert_eq!(fit("*-mini", "gpt-mini"), Some(5));
        assert_eq!(fit("a*b*c", "a1b2c"), Some(3));
        assert_eq!(fit("a*b*c", "acb"), None);
        assert_eq!(fit("ab*b", "ab"), None, "parts do not overlap");
        assert!(fit("*", "anything") < fit("g*", "gpt"));
    }
}
