//! What benches and checks ask of the engine.

use super::Engine;
use crate::redaction::rule::{Matcher, Rule, RuleIndex};
use crate::redaction::text::context::hooks;

impl Engine {
    /// Compiles every pattern and returns how many compiled; only benches and checks
    /// need this.
    pub(in crate::redaction) fn compile_all(&self) -> usize {
        (0..self.rules.len())
            .filter_map(|place| u16::try_from(place).ok())
            .filter(|place| {
                let index = RuleIndex::new(*place);
                self.rule(index).is_some_and(|rule| !rule.pattern.is_empty())
                    && self.pattern(index).is_some()
            })
            .count()
    }

    /// Every keyword in lower case, sorted; only benches need this.
    pub(in crate::redaction) fn keywords(&self) -> Vec<String> {
        let is_searched =
            |rule: &&Rule| rule.matcher != Matcher::Off && self.classes.contains(&rule.class);
        let rules = self.rules.iter().filter(is_searched).flat_map(|rule| rule.keywords.iter());
        let hooks = hooks().into_iter().map(|(word, _)| word);
        let mut words: Vec<String> =
            rules.map(AsRef::as_ref).chain(hooks).map(str::to_ascii_lowercase).collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    /// The number of keywords in a string; only benches need this.
    pub(in crate::redaction) fn count_keywords(&self, text: &[u8]) -> usize {
        let mut count = 0;
        self.keywords.find_all(text, |_| count += 1);
        count
    }
}
