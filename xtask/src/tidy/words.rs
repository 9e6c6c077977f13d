//! Phrases that are hard to read, and what to write instead.
//!
//! Only phrases without a good use are listed, since false alarms would make
//! people turn the rule off. They are searched in Markdown and in Rust sources,
//! across line breaks. Every phrase has two words or more, so that only comments
//! and strings can contain one.

/// A phrase, its replacement, and the neighbouring words that make it
/// acceptable.
struct Phrase {
    words: &'static str,
    instead: &'static str,
    unless_before: &'static [&'static str],
    unless_after: &'static [&'static str],
}

const fn phrase(words: &'static str, instead: &'static str) -> Phrase {
    Phrase { words, instead, unless_before: &[], unless_after: &[] }
}

const fn behind(words: &'static str) -> Phrase {
    Phrase {
        words,
        instead: "after",
        unless_before: &["falls", "fall", "left", "leave", "leaves", "far"],
        unless_after: &["feature", "flag", "lock", "mutex", "proxy", "scenes"],
    }
}

const fn not_a(words: &'static str) -> Phrase {
    Phrase {
        words,
        instead: "is not a",
        unless_before: &["if", "there"],
        unless_after: &["longer", "more", "less", "greater", "larger", "later", "earlier"],
    }
}

const fn none(words: &'static str) -> Phrase {
    Phrase { words, instead: "is not one", unless_before: &["there"], unless_after: &[] }
}

const PHRASES: [Phrase; 30] = [
    behind("behind a"),
    behind("behind another"),
    behind("behind it"),
    behind("behind its"),
    behind("behind that"),
    behind("behind the"),
    behind("behind them"),
    behind("behind which"),
    none("is none"),
    none("are none"),
    not_a("that is no"),
    not_a("that are no"),
    not_a("which is no"),
    not_a("it is no"),
    phrase("told of", "reported"),
    phrase("tells of", "reports"),
    phrase("tell of", "report"),
    phrase("hold against", "compare with"),
    phrase("holds against", "compares with"),
    phrase("held against", "compared with"),
    phrase("so many of", "this many"),
    phrase("so many bytes", "this many bytes"),
    phrase("so many lines", "this many lines"),
    phrase("so many characters", "this many characters"),
    phrase("what stands there", "the text there"),
    phrase("what stands in", "the content of"),
    phrase("cannot be had", "is not available"),
    phrase("can be had", "is available"),
    phrase("the particulars", "the payload"),
    phrase("at your choice", "at your option"),
];

/// The rule and its tests themselves contain the phrases.
const RULE: &str = "xtask/src/tidy/words.rs";

/// Reports every phrase in a file.
pub(super) fn check(path: &str, text: &str) -> Vec<String> {
    if path == RULE || path.starts_with("CHANGELOG") {
        return Vec::new();
    }
    let words = words_of(path, text);
    let mut problems = Vec::new();
    for at in 0..words.len() {
        for phrase in &PHRASES {
            if phrase.is_at(&words, at) {
                let (line, found, instead) = (words[at].1, phrase.words, phrase.instead);
                problems.push(format!("{path}:{line}: \"{found}\": write \"{instead}\""));
            }
        }
    }
    problems
}

impl Phrase {
    fn is_at(&self, words: &[(String, usize)], at: usize) -> bool {
        let mut end = at;
        for word in self.words.split(' ') {
            if words.get(end).is_none_or(|(found, _)| found != word) {
                return false;
            }
            end += 1;
        }
        let is = |index: Option<usize>, list: &[&str]| {
            let word = index.and_then(|index| words.get(index));
            word.is_some_and(|(word, _)| list.contains(&word.as_str()))
        };
        !is(at.checked_sub(1), self.unless_before) && !is(Some(end), self.unless_after)
    }
}

/// The words of a file in lower case, each with its line. Punctuation between
/// two words counts as a word, so that no phrase spans it.
fn words_of(path: &str, text: &str) -> Vec<(String, usize)> {
    let mut words = Vec::new();
    let mut in_fence = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        if path.ends_with(".md") && line.starts_with("```") {
            in_fence = !in_fence;
        }
        if in_fence {
            continue;
        }
        let line = line.trim_start_matches("//").trim_start_matches(['/', '!', '>']);
        let mut word = String::new();
        for character in line.chars().chain([' ']) {
            if character.is_alphanumeric() || matches!(character, '_' | '\'' | '-') {
                word.extend(character.to_lowercase());
                continue;
            }
            if !word.is_empty() {
                words.push((std::mem::take(&mut word), index + 1));
            }
            if !character.is_whitespace() {
                words.push((character.to_string(), index + 1));
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(path, text).len()
    }

    #[test]
    fn a_phrase_is_found_in_prose_comments_and_strings() {
        assert_eq!(count("docs/a.md", "The line behind the header."), 1);
        assert_eq!(count("a.rs", "/// A line that is none.\n"), 1);
        assert_eq!(count("a.rs", "error(\"it is no event\")"), 1);
        assert_eq!(count("a.rs", "value.is_none() && is none"), 1);
    }

    #[test]
    fn a_phrase_is_found_across_lines() {
        let found = check("a.rs", "/// What was held\n    /// against the rules.\n");
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a.rs:1: "));
    }

    #[test]
    fn good_english_is_left_alone() {
        for good in [
            "there is none",
            "behind the feature flag",
            "behind a lock",
            "a follower that falls behind the writer",
            "a session that is no longer there",
            "what it told. Of course",
            "is_none",
            "so many that it hurts",
        ] {
            assert_eq!(count("docs/a.md", good), 0, "{good}");
        }
        assert_eq!(count("docs/a.md", "```\nbehind the\n```\n"), 0);
    }
}
