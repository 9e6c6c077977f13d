//! Secrets that were hidden by their names, found again without them.

use std::borrow::Cow;

use aho_corasick::AhoCorasick;
use memchr::memmem::Finder;

use super::pass::Pass;
use super::rule::RuleIndex;
use super::span::Span;
use super::value::{is_word, looks_chosen, looks_random};
use crate::json::Json;

/// Secrets remembered within one document.
const MAX_LEARNED: usize = 256;

/// Up to this many are looked for one by one: searching a text for a word
/// costs less than building an automaton for one document.
const MAX_SINGLE: usize = 16;

/// The secrets of a document, to look for, and the rules that hid them.
pub(super) enum Learned {
    Few(Vec<(Finder<'static>, RuleIndex)>),
    Many(AhoCorasick, Vec<RuleIndex>),
}

impl Learned {
    fn find(&self, text: &[u8]) -> Vec<Span> {
        match self {
            // Most names and values of a document are shorter than a secret.
            Self::Few(secrets)
                if secrets.iter().all(|(secret, _)| text.len() < secret.needle().len()) =>
            {
                Vec::new()
            }
            Self::Few(secrets) => {
                let mut spans = Vec::new();
                for (secret, rule) in secrets {
                    let length = secret.needle().len();
                    let found = secret.find_iter(text);
                    spans.extend(found.map(|at| Span::frame(at, at + length, *rule)));
                }
                // The longest of those that begin first, as the automaton has it.
                spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
                let mut end = 0;
                spans.retain(|span| {
                    let is_free = span.start >= end;
                    end = if is_free { span.end } else { end };
                    is_free
                });
                spans
            }
            Self::Many(automaton, rules) => automaton
                .find_iter(text)
                .filter_map(|found| {
                    let rule = rules.get(found.pattern().as_usize())?;
                    Some(Span::frame(found.start(), found.end(), *rule))
                })
                .collect(),
        }
    }
}

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
    pub(super) fn take_learned(&mut self) -> Option<Learned> {
        if self.learned.is_empty() {
            return None;
        }
        let learned = std::mem::take(&mut self.learned);
        if learned.len() <= MAX_SINGLE {
            let finder =
                |(secret, rule): (Vec<u8>, RuleIndex)| (Finder::new(&secret).into_owned(), rule);
            return Some(Learned::Few(learned.into_iter().map(finder).collect()));
        }
        let automaton = AhoCorasick::builder()
            .match_kind(aho_corasick::MatchKind::LeftmostLongest)
            // Made for one document: a table of states would cost more to
            // build than it saves.
            .kind(Some(aho_corasick::AhoCorasickKind::NoncontiguousNFA))
            .build(learned.iter().map(|(secret, _)| secret))
            .ok()?;
        Some(Learned::Many(automaton, learned.into_iter().map(|(_, rule)| rule).collect()))
    }

    /// Hides secrets again where they stand without their names.
    pub(super) fn repeat_text(&mut self, text: &str, learned: &Learned) -> Option<String> {
        let spans = learned.find(text.as_bytes());
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
