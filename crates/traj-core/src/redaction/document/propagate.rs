//! Secrets that were hidden because of their names, found again elsewhere.

use std::borrow::Cow;
use std::cmp::Reverse;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use memchr::memmem::Finder;

use super::DocumentPass;
use crate::json::Json;
use crate::redaction::engine::span::Span;
use crate::redaction::rule::RuleIndex;
use crate::redaction::text::value::{is_word, looks_chosen, looks_random};

/// Secrets remembered within one document.
const MAX_LEARNED: usize = 256;

/// Up to this many are searched for one by one: searching a text for a word
/// costs less than building an automaton for one document.
const MAX_SINGLE: usize = 16;

/// A secret is searched for by this many bytes of it: preparing to look for a
/// longer text takes as long as looking through a message.
const HEAD: usize = 16;

/// The secrets of a document, to look for, and the rules that hid them.
pub(super) struct LearnedSecrets<'s> {
    /// The length of the shortest: a shorter text holds none.
    shortest: usize,
    secrets: Secrets<'s>,
}

enum Secrets<'s> {
    Few(Vec<Secret<'s>>),
    Many(AhoCorasick, Vec<RuleIndex>),
}

/// One secret, to look for, and the rule that hid it.
struct Secret<'s> {
    head: Finder<'s>,
    whole: &'s [u8],
    rule: RuleIndex,
}

impl<'s> Secret<'s> {
    fn new((whole, rule): &'s (Vec<u8>, RuleIndex)) -> Self {
        let head = whole.get(..HEAD).unwrap_or(whole);
        Self { head: Finder::new(head), whole, rule: *rule }
    }

    /// The first position of the secret, from `from` on.
    fn find_from(&self, text: &[u8], mut from: usize) -> Option<usize> {
        loop {
            let rest = text.get(from..).filter(|rest| rest.len() >= self.whole.len())?;
            let start = from + self.head.find(rest)?;
            if text.get(start..)?.starts_with(self.whole) {
                return Some(start);
            }
            from = start + 1;
        }
    }
}

impl<'s> LearnedSecrets<'s> {
    /// What was learned, ready to look for; `None` if that is nothing.
    pub(in crate::redaction) fn new(learned: &'s [(Vec<u8>, RuleIndex)]) -> Option<Self> {
        let shortest = learned.iter().map(|(secret, _)| secret.len()).min()?;
        if learned.len() <= MAX_SINGLE {
            let secrets = Secrets::Few(learned.iter().map(Secret::new).collect());
            return Some(Self { shortest, secrets });
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            // Made for one document: a table of states would cost more to
            // build than it saves.
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .build(learned.iter().map(|(secret, _)| secret))
            .ok()?;
        let rules = learned.iter().map(|(_, rule)| *rule).collect();
        Some(Self { shortest, secrets: Secrets::Many(automaton, rules) })
    }

    /// The positions of the secrets, from the front and without overlap: the longest
    /// of those that begin first.
    fn find(&self, text: &[u8]) -> Vec<Span> {
        match &self.secrets {
            Secrets::Few(secrets) => {
                let mut spans = Vec::new();
                let first = |secret| Some((Secret::find_from(secret, text, 0)?, secret));
                let mut next: Vec<(usize, &Secret<'_>)> =
                    secrets.iter().filter_map(first).collect();
                let order =
                    |(start, secret): &&(usize, &Secret<'_>)| (*start, Reverse(secret.whole.len()));
                while let Some((start, secret)) = next.iter().min_by_key(order) {
                    let end = start + secret.whole.len();
                    spans.push(Span::frame(*start, end, secret.rule));
                    next.retain_mut(|(start, secret)| {
                        if *start < end {
                            let Some(found) = secret.find_from(text, end) else { return false };
                            *start = found;
                        }
                        true
                    });
                }
                spans
            }
            Secrets::Many(automaton, rules) => automaton
                .find_iter(text)
                .filter_map(|found| {
                    let rule = rules.get(found.pattern().as_usize())?;
                    Some(Span::frame(found.start(), found.end(), *rule))
                })
                .collect(),
        }
    }

    fn is_in(&self, text: &[u8]) -> bool {
        if text.len() < self.shortest {
            return false;
        }
        match &self.secrets {
            Secrets::Few(secrets) => {
                secrets.iter().any(|secret| secret.find_from(text, 0).is_some())
            }
            Secrets::Many(automaton, _) => automaton.is_match(text),
        }
    }

    /// Whether a secret is anywhere in a document, except in the members
    /// that are `apart`.
    pub(super) fn is_in_document(&self, value: &Json<'_>, apart: &[&str]) -> bool {
        match value {
            Json::Object(object) if !apart.is_empty() => object
                .iter()
                .filter(|(name, _)| !apart.contains(name))
                .any(|(name, item)| self.is_in(name.as_bytes()) || self.is_in_value(item)),
            _ => self.is_in_value(value),
        }
    }

    /// Whether a secret is anywhere in a value: in most documents none does
    /// a second time.
    fn is_in_value(&self, value: &Json<'_>) -> bool {
        match value {
            Json::String(text) => self.is_in(text.as_bytes()),
            Json::Array(items) => items.iter().any(|item| self.is_in_value(item)),
            Json::Object(object) => object
                .iter()
                .any(|(name, item)| self.is_in(name.as_bytes()) || self.is_in_value(item)),
            Json::Null | Json::Bool(_) | Json::Number(_) => false,
        }
    }
}

impl DocumentPass<'_> {
    /// Remembers a secret that differs from ordinary words.
    pub(in crate::redaction) fn learn(&mut self, secret: &str, rule: RuleIndex) {
        let bytes = secret.as_bytes();
        let fit = (8..=512).contains(&bytes.len())
            && !bytes.contains(&b'\n')
            && !is_word(bytes)
            && !secret.contains("<redacted:")
            // Said of most secrets, and said sooner.
            && (looks_chosen(bytes) || looks_random(bytes));
        if fit
            && self.learned.len() < MAX_LEARNED
            && !self.learned.iter().any(|(known, _)| known == bytes)
        {
            self.learned.push((bytes.to_vec(), rule));
        }
    }

    /// Hides secrets again where they occur without their names.
    pub(super) fn repeat_text(
        &mut self,
        text: &str,
        learned: &LearnedSecrets<'_>,
    ) -> Option<String> {
        let spans = learned.find(text.as_bytes());
        if spans.is_empty() { None } else { Some(self.hide_spans(text, &spans)) }
    }

    /// Like [`DocumentPass::repeat_text`], in every string of a document, but for the
    /// members of it that are `apart`.
    pub(super) fn repeat_document(
        &mut self,
        value: &mut Json<'_>,
        again: &LearnedSecrets<'_>,
        apart: &[&str],
    ) {
        match value {
            Json::Object(object) if !apart.is_empty() => {
                for (name, item) in object.iter_mut() {
                    if !apart.contains(&name.as_ref()) {
                        self.repeat_member(name, item, again);
                    }
                }
            }
            _ => self.repeat_value(value, again),
        }
    }

    /// Like [`DocumentPass::repeat_text`], in every string of a value.
    fn repeat_value(&mut self, value: &mut Json<'_>, again: &LearnedSecrets<'_>) {
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
                    self.repeat_member(name, item, again);
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    fn repeat_member(
        &mut self,
        name: &mut Cow<'_, str>,
        item: &mut Json<'_>,
        again: &LearnedSecrets<'_>,
    ) {
        if let Some(changed) = self.repeat_text(name, again) {
            *name = Cow::Owned(changed);
        }
        let mark = self.push_step(name);
        self.repeat_value(item, again);
        self.path.truncate(mark);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::redaction::rule::Frame;

    proptest! {
        /// One by one, secrets are found where the automaton finds them, and
        /// where a search at every place finds one.
        #[test]
        fn few_are_found_as_many_are(
            secrets in proptest::collection::btree_set("[ab]{1,20}", 1..MAX_SINGLE),
            text in "[ab]{0,200}",
        ) {
            let hidden = |secret: String| (secret.into_bytes(), Frame::Password.rule());
            let others = (0..MAX_SINGLE).map(|number| format!("other {number}"));
            let many: Vec<_> = secrets.iter().cloned().chain(others).map(hidden).collect();
            let few: Vec<_> = secrets.iter().cloned().map(hidden).collect();
            let (few, many) = (LearnedSecrets::new(&few).unwrap(), LearnedSecrets::new(&many).unwrap());
            prop_assert!(matches!(few.secrets, Secrets::Few(_)));
            prop_assert!(matches!(many.secrets, Secrets::Many(..)));
            let bytes = text.as_bytes();
            prop_assert_eq!(few.find(bytes), many.find(bytes));
            let is_in = secrets.iter().any(|secret| text.contains(secret));
            prop_assert_eq!((few.is_in(bytes), many.is_in(bytes)), (is_in, is_in));
            let value = Json::Array(vec![Json::Null, Json::from(text.clone())]);
            prop_assert_eq!(few.is_in_value(&value), is_in);
        }
    }
}
