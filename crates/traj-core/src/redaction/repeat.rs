//! Secrets that were hidden by their names, found again without them.

use std::borrow::Cow;

use aho_corasick::AhoCorasick;

use super::pass::Pass;
use super::rule::RuleIndex;
use super::span::Span;
use super::value::{is_word, looks_chosen, looks_random};
use crate::json::Json;

/// Secrets remembered within one document.
const MAX_LEARNED: usize = 256;

/// The secrets of a document, to look for, and the rules that hid them.
pub(super) type Learned = (AhoCorasick, Vec<RuleIndex>);

impl Pass<'_> {
    /// Remembers a secret that can be told from ordinary words.
    pub(super) fn learn(&mut self, secret: &str, rule: RuleIndex) {
        let bytes = secret.as_bytes();
        let fit = (8..=512).contains(&bytes.len())
            && !bytes.contains(&b'\n')
            && !is_word(bytes)
            && !secret.contains("<redacted:")
            && (looks_random(bytes) || looks_chosen(bytes));
        if fit
            && self.learned.len() < MAX_LEARNED
            && !self.learned.iter().any(|(known, _)| known == bytes)
        {
            self.learned.push((bytes.to_vec(), rule));
        }
    }

    /// What was learned, ready to look for; it is forgotten by that.
    pub(super) fn learned_automaton(&mut self) -> Option<Learned> {
        if self.learned.is_empty() {
            return None;
        }
        let learned = std::mem::take(&mut self.learned);
        let automaton = AhoCorasick::builder()
            .match_kind(aho_corasick::MatchKind::LeftmostLongest)
            // Made for one document: a table of states would cost more to
            // build than it saves.
            .kind(Some(aho_corasick::AhoCorasickKind::NoncontiguousNFA))
            .build(learned.iter().map(|(secret, _)| secret))
            .ok()?;
        Some((automaton, learned.into_iter().map(|(_, rule)| rule).collect()))
    }

    /// Hides secrets again where they stand without their names.
    pub(super) fn repeat_text(
        &mut self,
        text: &str,
        (automaton, rules): &Learned,
    ) -> Option<String> {
        let mut spans = Vec::new();
        for found in automaton.find_iter(text) {
            let rule = rules.get(found.pattern().as_usize())?;
            spans.push(Span::frame(found.start(), found.end(), *rule));
        }
        if spans.is_empty() { None } else { Some(self.hide_spans(text, &spans)) }
    }

    /// As [`Pass::repeat_text`], in every string of a value.
    pub(super) fn repeat_value(&mut self, value: &mut Json<'_>, again: &Learned) {
        match value {
            Json::String(text) => {
                if let Some(changed) = self.repeat_text(text, again) {
                    *text = Cow::Owned(changed);
                }
            }
            Json::Array(items) => {
                for item in items {
                    self.repeat_value(item, again);
                }
            }
            Json::Object(object) => {
                for (name, item) in object.iter_mut() {
                    if let Some(changed) = self.repeat_text(name, again) {
                        *name = Cow::Owned(changed);
                    }
                    let mark = self.push_step(name);
                    self.repeat_value(item, again);
                    self.path.truncate(mark);
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
}
