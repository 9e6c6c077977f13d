//! Tests rules against their own examples.

use super::allow_list::AllowList;
use super::definition::{Matcher, Rule, RuleClass, RuleIndex};
use super::set::RuleSet;
use super::template;
use crate::redaction::engine::{self, Engine};
use crate::redaction::field_name::NameTable;
use crate::redaction::text::find::Finder;

/// A problem with a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleProblem {
    /// Two rules share an id.
    #[error("rule {id}: another rule already has this id")]
    DuplicateId {
        /// The id.
        id: String,
    },
    /// The id is empty or too long, or has too many digits or characters other
    /// than lower-case letters, digits and hyphens.
    #[error("rule {id}: an id has 1 to 64 lower-case letters, digits (at most 6) and hyphens")]
    BadId {
        /// The id.
        id: String,
    },
    /// The pattern does not compile.
    #[error("rule {id}: the pattern does not compile")]
    BadPattern {
        /// The rule.
        id: String,
    },
    /// A built-in rule has no examples or no counter-examples.
    #[error("rule {id}: examples or counter-examples are missing")]
    NoExamples {
        /// The rule.
        id: String,
    },
    /// The rule does not match an example.
    #[error("rule {id}: example {number} is not hidden")]
    Missed {
        /// The rule.
        id: String,
        /// Which example, counted from one.
        number: usize,
    },
    /// The rule matches a counter-example.
    #[error("rule {id}: counter-example {number} is hidden")]
    FalseAlarm {
        /// The rule.
        id: String,
        /// Which counter-example, counted from one.
        number: usize,
    },
}

/// How often each example is filled in, with different seeds.
const ROUNDS: u64 = 3;

impl RuleSet {
    /// Tests every rule against its examples and counter-examples.
    #[must_use]
    pub fn check(&self) -> Vec<RuleProblem> {
        let classes = [RuleClass::Credential, RuleClass::Personal, RuleClass::Address];
        let engine = Engine::new(self.rules.clone(), &classes);
        let none = AllowList::default();
        let finder = Finder { engine: &engine, allow: &none };
        let mut problems = Vec::new();
        for (place, rule) in self.rules.iter().enumerate() {
            let Ok(index) = u16::try_from(place).map(RuleIndex::new) else {
                break;
            };
            check_form(rule, &self.rules[..place], &mut problems);
            check_examples(rule, index, finder, &mut problems);
        }
        problems
    }
}

fn check_form(rule: &Rule, before: &[Rule], problems: &mut Vec<RuleProblem>) {
    let id = rule.id.to_string();
    if before.iter().any(|other| other.id == rule.id) {
        problems.push(RuleProblem::DuplicateId { id: id.clone() });
    }
    let clean = !id.is_empty()
        && id.len() <= 64
        && id
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !clean || id.bytes().filter(u8::is_ascii_digit).count() > 6 {
        problems.push(RuleProblem::BadId { id: id.clone() });
    }
    if !rule.pattern.is_empty() && engine::compile(&rule.pattern).is_err() {
        problems.push(RuleProblem::BadPattern { id: id.clone() });
    }
    if !rule.user && (rule.examples.is_empty() || rule.counter_examples.is_empty()) {
        problems.push(RuleProblem::NoExamples { id });
    }
}

fn check_examples(
    rule: &Rule,
    index: RuleIndex,
    finder: Finder<'_>,
    problems: &mut Vec<RuleProblem>,
) {
    if rule.matcher == Matcher::Off {
        return;
    }
    if rule.matcher == Matcher::Name {
        check_names(rule, finder.engine.names(), problems);
        return;
    }
    for (number, example) in rule.examples.iter().enumerate() {
        let hidden = (1..=ROUNDS).all(|seed| {
            let filled = template::fill(example, seed);
            let (text, secrets) = unmark(&filled);
            // This rule applies to parsed documents, not to strings.
            if rule.id == "jwk" {
                return true;
            }
            let spans = finder.find_all(&text);
            let seen = spans.iter().any(|span| span.rule == index);
            let covered = secrets.iter().all(|(start, end)| {
                spans.iter().any(|span| span.start <= *start && *end <= span.end)
            });
            seen && covered
        });
        if !hidden {
            problems.push(RuleProblem::Missed { id: rule.id.to_string(), number: number + 1 });
        }
    }
    for (number, example) in rule.counter_examples.iter().enumerate() {
        let text = template::fill(example, 1);
        if finder.find_all(&text).iter().any(|span| span.rule == index) {
            problems.push(RuleProblem::FalseAlarm { id: rule.id.to_string(), number: number + 1 });
        }
    }
}

/// Like [`check_examples`], for a row of the name table: its examples are names.
fn check_names(rule: &Rule, names: NameTable, problems: &mut Vec<RuleProblem>) {
    let decides = |name: &str| names.row_of(name.as_bytes()).is_some_and(|row| row.id == rule.id);
    for (number, name) in rule.examples.iter().enumerate() {
        if !decides(name) {
            problems.push(RuleProblem::Missed { id: rule.id.to_string(), number: number + 1 });
        }
    }
    for (number, name) in rule.counter_examples.iter().enumerate() {
        if decides(name) {
            problems.push(RuleProblem::FalseAlarm { id: rule.id.to_string(), number: number + 1 });
        }
    }
}

/// Removes the brackets from an example, and returns the ranges between them,
/// which must be hidden.
fn unmark(example: &str) -> (String, Vec<(usize, usize)>) {
    let mut text = String::with_capacity(example.len());
    let mut secrets = Vec::new();
    let mut open = 0;
    for letter in example.chars() {
        match letter {
            '⟦' => open = text.len(),
            '⟧' => secrets.push((open, text.len())),
            _ => text.push(letter),
        }
    }
    (text, secrets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_matches_its_examples_and_no_counter_example() {
        let problems = RuleSet::builtin().check();
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(shown, Vec::<String>::new());
    }

    /// Every rule has three examples. The rules in the list predate this
    /// requirement; the list only gets shorter.
    #[test]
    fn every_rule_has_at_least_three_examples() {
        let older: Vec<&str> = include_str!("check/older_rules.txt").lines().collect();
        let rules = RuleSet::builtin().rules;
        let few: Vec<&str> = rules
            .iter()
            .filter(|rule| rule.examples.len() < 3)
            .map(|rule| rule.id.as_ref())
            .collect();
        let new: Vec<_> = few.iter().filter(|id| !older.contains(id)).collect();
        assert!(new.is_empty(), "fewer than three examples: {new:?}");
        let done: Vec<_> = older.iter().filter(|id| !few.contains(id)).collect();
        assert!(
            done.is_empty(),
            "three examples or no longer a rule, take from the list: {done:?}"
        );
    }

    /// Repeating an example does not make it count as several.
    #[test]
    fn no_rule_has_an_example_twice() {
        for rule in &RuleSet::builtin().rules {
            let mut examples: Vec<_> = rule.examples.iter().collect();
            examples.sort();
            examples.dedup();
            assert_eq!(examples.len(), rule.examples.len(), "{}", rule.id);
        }
    }

    #[test]
    fn there_are_rules_for_at_least_150_kinds_of_credentials() {
        let rules = RuleSet::builtin();
        assert!(rules.iter().filter(|rule| rule.class == RuleClass::Credential).count() >= 150);
    }
}
