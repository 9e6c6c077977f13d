//! Values that are known not to be secrets.

use regex_automata::meta::Regex;

/// What the patterns of an allow-list are matched against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AllowTarget {
    /// The value alone.
    #[default]
    Secret,
    /// The line that contains the value.
    Line,
}

/// One allow-list: exact values, patterns and words.
#[derive(Clone, Debug, Default)]
pub(super) struct AllowEntry {
    pub(in crate::redaction) values: Vec<String>,
    pub(in crate::redaction) patterns: Vec<Regex>,
    pub(super) stop_words: Vec<String>,
    pub(super) target: AllowTarget,
    /// Rules that the list applies to; empty for all.
    pub(in crate::redaction) rules: Vec<String>,
}

/// All allow-lists in force.
#[derive(Clone, Debug, Default)]
pub(in crate::redaction) struct AllowList {
    pub(super) entries: Vec<AllowEntry>,
}

impl AllowList {
    /// Whether a list allows a finding of `rule`.
    pub(in crate::redaction) fn allows(
        &self,
        rule: &str,
        text: &[u8],
        start: usize,
        end: usize,
    ) -> bool {
        self.entries.iter().any(|entry| {
            (entry.rules.is_empty() || entry.rules.iter().any(|id| id == rule))
                && entry.allows(text, start, end)
        })
    }
}

impl AllowEntry {
    fn allows(&self, text: &[u8], start: usize, end: usize) -> bool {
        let secret = text.get(start..end).unwrap_or_default();
        if self.values.iter().any(|value| value.as_bytes() == secret) {
            return true;
        }
        let target = match self.target {
            AllowTarget::Secret => secret,
            AllowTarget::Line => {
                let first = memchr::memrchr(b'\n', &text[start.saturating_sub(4096)..start])
                    .map_or(start.saturating_sub(4096), |place| {
                        start.saturating_sub(4096) + place + 1
                    });
                let stop = (end + 4096).min(text.len());
                let last =
                    memchr::memchr(b'\n', &text[end..stop]).map_or(stop, |place| end + place);
                &text[first..last]
            }
        };
        self.patterns.iter().any(|pattern| pattern.is_match(target))
            || self.stop_words.iter().any(|word| {
                secret
                    .windows(word.len().max(1))
                    .any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
            })
    }
}
