//! Phrases that a reader stumbles over, and what to write instead.
//!
//! Only phrases with no good use are listed: a rule that cries wolf is turned
//! off. They are looked for in Markdown and in Rust sources, across line
//! breaks. Every phrase has two words or more, and code has no such names, so
//! that only comments and strings can contain one.
//!
//! `xtask/tidy/words.txt` states how many each part of the tree still has.

use std::collections::BTreeMap;

use super::list::Reasons;

/// A phrase, what to write, and the words that make it right after all.
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

/// The rule and its tests have to spell the phrases.
const RULE: &str = "xtask/src/tidy/words.rs";

/// One phrase in one file.
#[derive(Debug, PartialEq)]
pub(super) struct Match {
    path: String,
    line: usize,
    advice: String,
}

/// Every phrase in a file.
pub(super) fn find(path: &str, text: &str) -> Vec<Match> {
    if path == RULE || path.starts_with("CHANGELOG") {
        return Vec::new();
    }
    let words = words_of(path, text);
    let mut matches = Vec::new();
    for at in 0..words.len() {
        for phrase in &PHRASES {
            if phrase.is_at(&words, at) {
                matches.push(Match {
                    path: path.to_owned(),
                    line: words[at].1,
                    advice: format!("\"{}\": write \"{}\"", phrase.words, phrase.instead),
                });
            }
        }
    }
    matches
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
/// two words stays as a word of its own, so that no phrase spans it.
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

/// Compares the matches with the numbers that the parts of the tree may still have.
pub(super) fn check(matches: &[Match], allowed: &Reasons) -> Vec<String> {
    let mut problems = Vec::new();
    let mut counts: BTreeMap<&str, (usize, Vec<&Match>)> = BTreeMap::new();
    for found in matches {
        let part = allowed.keys().find(|part| found.path.starts_with(part.as_str()));
        let entry = counts.entry(part.map_or("", String::as_str)).or_default();
        entry.0 += 1;
        entry.1.push(found);
    }
    for (part, (count, found)) in counts {
        let limit = allowed.get(part).map_or(Ok(0), |number| number.parse::<usize>());
        match limit {
            Err(_) => problems.push(format!("xtask/tidy/words.txt: {part} has no number")),
            Ok(limit) if count > limit => {
                problems.extend(
                    found
                        .iter()
                        .map(|found| format!("{}:{}: {}", found.path, found.line, found.advice)),
                );
                if limit > 0 {
                    problems.push(format!("{part} has {count} such phrases, at most {limit} may"));
                }
            }
            Ok(_) => {}
        }
    }
    problems
}

/// Numbers of the list that could be lower.
pub(super) fn slack(matches: &[Match], allowed: &Reasons) -> Vec<String> {
    let mut notes = Vec::new();
    for (part, number) in allowed {
        let count = matches.iter().filter(|found| found.path.starts_with(part.as_str())).count();
        if number.parse::<usize>().is_ok_and(|limit| count < limit) {
            notes.push(format!("xtask/tidy/words.txt: {part} can be lowered to {count}"));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::list::parse_reasons;

    fn count(path: &str, text: &str) -> usize {
        find(path, text).len()
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
        let found = find("a.rs", "/// What was held\n    /// against the rules.\n");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 1);
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

    #[test]
    fn a_part_of_the_tree_has_no_more_than_its_number() {
        let found = find("crates/a/src/b.rs", "// behind the, held against, told of\n");
        assert_eq!(found.len(), 3);
        assert!(check(&found, &parse_reasons("crates/a  3")).is_empty());
        assert_eq!(check(&found, &parse_reasons("crates/a  2")).len(), 4);
        assert_eq!(check(&found, &parse_reasons("crates/b  9")).len(), 3);
        assert_eq!(slack(&found, &parse_reasons("crates/a  4")).len(), 1);
        assert!(slack(&found, &parse_reasons("crates/a  3")).is_empty());
    }
}
