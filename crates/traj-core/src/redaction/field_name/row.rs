//! One row of the name table: which names it matches, and what they say.

use std::fmt::Write as _;

use super::NameClass;
#[cfg(test)]
use super::words::{ends_with, is_any};

/// A condition on the words before the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// Anything.
    Any,
    /// Nothing: the last word is the only one.
    Nothing,
    /// At least one word.
    Something,
    /// The word directly before it is one of these.
    Directly(&'static [&'static str]),
    /// The word directly before it is one of the first list, and no word is one of
    /// the second.
    DirectlyUnless(&'static [&'static str], &'static [&'static str]),
    /// One of these words is anywhere before it.
    Anywhere(&'static [&'static str]),
    /// The name begins with one of these words.
    First(&'static [&'static str]),
}

/// One row: names that match it have its class.
#[derive(Clone, Copy, Debug)]
pub(in crate::redaction) struct NameRow {
    /// The id in listings and in `disabled`.
    pub(in crate::redaction) id: &'static str,
    /// What the names mean.
    pub(in crate::redaction) title: &'static str,
    /// What they say about the value.
    pub(super) class: NameClass,
    /// The last words that match. If these and `endings` are empty, all do.
    pub(super) words: &'static [&'static str],
    /// Endings of the last word that match.
    pub(super) endings: &'static [&'static str],
    /// What must be before the last word.
    pub(super) before: Before,
    /// Names that match this row.
    pub(in crate::redaction) examples: &'static [&'static str],
    /// Names that do not.
    pub(in crate::redaction) counter_examples: &'static [&'static str],
}

/// A row for the last words of names.
pub(super) const fn row(
    id: &'static str,
    title: &'static str,
    class: NameClass,
    words: &'static [&'static str],
    examples: &'static [&'static str],
    counter_examples: &'static [&'static str],
) -> NameRow {
    NameRow {
        id,
        title,
        class,
        words,
        endings: &[],
        before: Before::Any,
        examples,
        counter_examples,
    }
}

impl NameRow {
    /// The same row, also for last words with these endings.
    pub(super) const fn endings(mut self, endings: &'static [&'static str]) -> Self {
        self.endings = endings;
        self
    }

    /// The same row with a condition on the words before.
    pub(super) const fn before(mut self, before: Before) -> Self {
        self.before = before;
        self
    }

    /// Whether a name with these words matches the row: `head` is the word that
    /// decides, `before` are the words before it, `first` is the first of all. The
    /// index answers the same for all rows at once.
    #[cfg(test)]
    pub(super) fn matches(&self, head: &[u8], before: &[&[u8]], first: &[u8]) -> bool {
        let is_head = self.words.is_empty() && self.endings.is_empty()
            || is_any(head, self.words)
            || self.endings.iter().any(|ending| ends_with(head, ending));
        is_head && {
            let lead = before.last().copied().unwrap_or_default();
            let holds = |words: &[&str]| before.iter().any(|word| is_any(word, words));
            match self.before {
                Before::Any => true,
                Before::Nothing => before.is_empty(),
                Before::Something => !before.is_empty(),
                Before::Directly(words) => is_any(lead, words),
                Before::DirectlyUnless(words, unless) => is_any(lead, words) && !holds(unless),
                Before::Anywhere(words) => holds(words),
                Before::First(words) => is_any(first, words),
            }
        }
    }

    /// What the row says, in a sentence.
    pub(in crate::redaction) fn explanation(&self) -> String {
        let mut out = match self.class {
            NameClass::Plain => "leaves the value alone",
            NameClass::Weak(_) => "hides a value that looks like a secret",
            NameClass::Strong(_) => "hides any value that can be a secret",
            NameClass::Field(_) => {
                "hides any text in a field of data; elsewhere, a value that looks like a secret"
            }
            NameClass::Inside(_) => "hides a value that does not look harmless",
        }
        .to_owned();
        // Writing to a string does not fail.
        if !self.words.is_empty() {
            let _ = write!(out, "; last word: {}", self.words.join(", "));
        }
        if !self.endings.is_empty() {
            let _ = write!(out, "; ending of the last word: {}", self.endings.join(", "));
        }
        let _ = match self.before {
            Before::Any => Ok(()),
            Before::Nothing => write!(out, "; without a word before it"),
            Before::Something => write!(out, "; after another word"),
            Before::Directly(words) => write!(out, "; directly after: {}", words.join(", ")),
            Before::DirectlyUnless(words, unless) => write!(
                out,
                "; directly after: {}; unless it contains: {}",
                words.join(", "),
                unless.join(", ")
            ),
            Before::Anywhere(words) => write!(out, "; after one of: {}", words.join(", ")),
            Before::First(words) => write!(out, "; first word: {}", words.join(", ")),
        };
        out
    }
}
