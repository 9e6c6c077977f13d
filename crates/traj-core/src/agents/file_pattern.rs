//! Patterns of relative paths: `*` stands for any characters of one name.

/// A pattern of a relative path. `*` stands for any number of characters within
/// one name; at the start of a name, it does not match hidden files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPattern(&'static str);

impl PathPattern {
    pub(crate) const fn new(pattern: &'static str) -> Self {
        Self(pattern)
    }

    /// The pattern as text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }

    /// The pattern of each component, outermost first.
    pub fn names(self) -> impl DoubleEndedIterator<Item = NamePattern> {
        self.0.split('/').map(NamePattern)
    }

    /// Whether a path ends with matching names.
    #[must_use]
    pub fn is_end_of(self, path: &str) -> bool {
        let mut names = path.rsplit('/').filter(|name| !name.is_empty());
        self.names().rev().all(|pattern| names.next().is_some_and(|name| pattern.fits(name)))
    }
}

/// A pattern of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamePattern(&'static str);

impl NamePattern {
    /// The only name that matches, if there is no `*` in the pattern.
    #[must_use]
    pub fn only(self) -> Option<&'static str> {
        (!self.0.contains('*')).then_some(self.0)
    }

    /// Whether a name matches.
    #[must_use]
    pub fn fits(self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = name.strip_prefix(first) else { return false };
        let Some(last) = parts.next_back() else { return rest.is_empty() };
        if first.is_empty() && name.starts_with('.') {
            return false;
        }
        for part in parts {
            let Some(at) = rest.find(part) else { return false };
            rest = rest.get(at + part.len()..).unwrap_or_default();
        }
        rest.len() >= last.len() && rest.ends_with(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_characters_of_one_name() {
        let fits = |pattern, name: &str| NamePattern(pattern).fits(name);
        assert!(fits("rollout-*.jsonl", "rollout-2026-1.jsonl"));
        assert!(fits("*.jsonl", "a.jsonl") && !fits("*.jsonl", "a.json"));
        assert!(fits("*", "a") && !fits("*", ".hidden") && fits(".a*", ".ab"));
        assert!(fits("a*b*c", "a-b-c") && !fits("a*b*c", "a-c"));
        assert!(!fits("ab*ba", "aba"), "the parts must not overlap");
        assert!(fits("opencode.db", "opencode.db") && !fits("opencode.db", "opencode.db-wal"));
    }

    #[test]
    fn a_path_needs_only_to_end_like_the_pattern() {
        let pattern = PathPattern::new("projects/*/*.jsonl");
        assert!(pattern.is_end_of("/home/me/.claude/projects/-src/a.jsonl"));
        assert!(pattern.is_end_of("projects/-src/a.jsonl"));
        assert!(!pattern.is_end_of("-src/a.jsonl"));
        assert!(!pattern.is_end_of("projects/-src/x/a.jsonl"));
    }
}
