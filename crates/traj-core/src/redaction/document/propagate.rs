//! Hides secrets that were found once wherever they recur in the document.

use std::borrow::Cow;
use std::cmp::Reverse;

use memchr::memmem::Finder;

use super::DocumentPass;
use super::embedded_json::{enclosed, has_json_lines};
use crate::json::Json;
use crate::redaction::cache::session_secrets::SecretSearch;
use crate::redaction::engine::span::Span;
use crate::redaction::rule::RuleIndex;
use crate::redaction::text::value::{is_word, looks_chosen, looks_random};

/// A shorter secret is not remembered.
const SHORTEST: usize = 8;

/// Maximum number of secrets that are remembered in one document.
const MAX_LEARNED: usize = 256;

/// Up to this many secrets are searched for one by one: a few single searches cost less
/// than checking every position.
const MAX_SINGLE: usize = 6;

/// A secret is searched for by its first bytes, at most this many: preparing a search
/// for a longer string takes as long as searching a message.
const HEAD: usize = 16;

/// A search for the secrets of a document, with the rules that hid them.
pub(super) struct LearnedSecrets<'s> {
    /// The length of the shortest secret; a shorter string contains none.
    shortest: usize,
    secrets: Secrets<'s>,
}

enum Secrets<'s> {
    Few(Vec<Secret<'s>>),
    Many(SecretTable<'s>),
    /// Those of other documents too.
    Session(&'s SecretSearch),
}

/// A search for one secret, with the rule that hid it.
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

    /// The first position of the secret at or after `from`.
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

/// Many secrets, by a hash of their first bytes. Built for one document, and much
/// faster to build than an automaton.
struct SecretTable<'s> {
    /// For each hash, one more than the index of its last secret, or zero.
    last: Box<[u16]>,
    /// For each secret, the same for the previous secret with its hash.
    before: Vec<u16>,
    secrets: &'s [(Vec<u8>, RuleIndex)],
}

impl<'s> SecretTable<'s> {
    const BITS: u32 = 12;

    fn new(secrets: &'s [(Vec<u8>, RuleIndex)]) -> Self {
        let mut last = vec![0; 1 << Self::BITS].into_boxed_slice();
        let mut before = Vec::with_capacity(secrets.len());
        for (number, (secret, _)) in (1..).zip(secrets) {
            let first = secret.first_chunk().copied().unwrap_or_default();
            before.push(std::mem::replace(&mut last[Self::hash(first)], number));
        }
        Self { last, before, secrets }
    }

    fn hash(first: [u8; SHORTEST]) -> usize {
        let mixed = u64::from_le_bytes(first).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (u64::BITS - Self::BITS)) as usize
    }

    /// The longest secret at the first position at or after `from`.
    fn find_from(&self, text: &[u8], from: usize) -> Option<(usize, &'s (Vec<u8>, RuleIndex))> {
        let windows = text.get(from..)?.windows(SHORTEST);
        (from..).zip(windows).find_map(|(start, first)| {
            let mut number = self.last[Self::hash(first.try_into().unwrap_or_default())];
            let mut longest: Option<&(Vec<u8>, RuleIndex)> = None;
            while let Some(index) = usize::from(number).checked_sub(1) {
                let secret = &self.secrets[index];
                if longest.is_none_or(|longest| longest.0.len() < secret.0.len())
                    && text[start..].starts_with(&secret.0)
                {
                    longest = Some(secret);
                }
                number = self.before[index];
            }
            Some((start, longest?))
        })
    }
}

impl<'s> LearnedSecrets<'s> {
    /// Prepares the search; `None` if there are no secrets.
    pub(in crate::redaction) fn new(learned: &'s [(Vec<u8>, RuleIndex)]) -> Option<Self> {
        let shortest = learned.iter().map(|(secret, _)| secret.len()).min()?;
        if learned.len() <= MAX_SINGLE {
            let secrets = Secrets::Few(learned.iter().map(Secret::new).collect());
            return Some(Self { shortest, secrets });
        }
        Some(Self { shortest, secrets: Secrets::Many(SecretTable::new(learned)) })
    }

    /// A search for the secrets of a session.
    pub(in crate::redaction) const fn of_session(search: &'s SecretSearch) -> Self {
        Self { shortest: 1, secrets: Secrets::Session(search) }
    }

    /// The positions of the secrets, in order and without overlap (leftmost,
    /// then longest).
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
            Secrets::Many(table) => {
                let mut spans = Vec::new();
                let mut from = 0;
                while let Some((start, (secret, rule))) = table.find_from(text, from) {
                    from = start + secret.len();
                    spans.push(Span::frame(start, from, *rule));
                }
                spans
            }
            Secrets::Session(search) => search.find(text),
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
            Secrets::Many(table) => table.find_from(text, 0).is_some(),
            Secrets::Session(search) => search.is_in(text),
        }
    }

    /// Whether a document contains a secret outside the members listed in
    /// `apart`.
    pub(super) fn is_in_document(&self, value: &Json<'_>, apart: &[&str]) -> bool {
        match value {
            Json::Object(object) if !apart.is_empty() => object
                .iter()
                .filter(|(name, _)| !apart.contains(name))
                .any(|(name, item)| self.is_in(name.as_bytes()) || self.is_in_value(item)),
            _ => self.is_in_value(value),
        }
    }

    /// Whether a value contains a secret. In most documents, none recurs.
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

/// How often a string is searched again after a known secret was hidden in it.
const MOST_ROUNDS: usize = 4;

/// Whether a letter or digit is directly before or after a span.
fn is_glued(text: &[u8], span: &Span) -> bool {
    let is_letter = |place: usize| text.get(place).is_some_and(u8::is_ascii_alphanumeric);
    is_letter(span.end) || span.start.checked_sub(1).is_some_and(is_letter)
}

impl DocumentPass<'_> {
    /// Remembers a secret, unless it could be an ordinary word.
    pub(in crate::redaction) fn learn(&mut self, secret: &str, rule: RuleIndex) {
        let bytes = secret.as_bytes();
        let fit = self.learned.len() < MAX_LEARNED && (SHORTEST..=512).contains(&bytes.len())
            && !bytes.contains(&b'\n')
            && !is_word(bytes)
            && !secret.contains("<redacted:")
            // `looks_chosen` is cheaper and true for most secrets.
            && (looks_chosen(bytes) || looks_random(bytes));
        if !fit {
            return;
        }
        let head = bytes.first_chunk().map_or(0, |head| u64::from_le_bytes(*head));
        let mut same =
            self.learned_heads.iter().zip(&self.learned).filter(|(known, _)| **known == head);
        if !same.any(|(_, (known, _))| known == bytes) {
            self.learned.push((bytes.to_vec(), rule));
            self.learned_heads.push(head);
        }
    }

    /// Hides the remembered secrets in a string.
    pub(super) fn repeat_text(
        &mut self,
        text: &str,
        learned: &LearnedSecrets<'_>,
    ) -> Option<String> {
        let spans = learned.find(text.as_bytes());
        if spans.is_empty() {
            return None;
        }
        let mut hidden = self.hide_spans(text, &spans);
        // The marker ends a value, or continues one, where the secret did not. In JSON,
        // the quotes show where a value ends; only a token may begin after a marker.
        let is_json = enclosed(text).is_some() || has_json_lines(text);
        if !is_json || spans.iter().any(|span| is_glued(text.as_bytes(), span)) {
            for _ in 0..MOST_ROUNDS {
                let spans = self.finder.find(&hidden).spans;
                if spans.is_empty() {
                    break;
                }
                hidden = self.hide_spans(&hidden, &spans);
            }
        }
        Some(hidden)
    }

    /// Like [`DocumentPass::repeat_text`], for every string of a document outside
    /// the members listed in `apart`.
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

    /// Like [`DocumentPass::repeat_text`], for every string of a value.
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
        /// Single searches find the same as the table, and as a naive
        /// search.
        #[test]
        fn single_searches_agree_with_the_table(
            secrets in proptest::collection::btree_set("[ab]{8,20}", 1..MAX_SINGLE),
            text in "[ab]{0,200}",
        ) {
            let hidden = |secret: String| (secret.into_bytes(), Frame::Password.rule());
            let others = (0..MAX_SINGLE).map(|number| format!("other {number}"));
            let many: Vec<_> = secrets.iter().cloned().chain(others).map(hidden).collect();
            let few: Vec<_> = secrets.iter().cloned().map(hidden).collect();
            let (few, many) = (LearnedSecrets::new(&few).unwrap(), LearnedSecrets::new(&many).unwrap());
            prop_assert!(matches!(few.secrets, Secrets::Few(_)));
            prop_assert!(matches!(many.secrets, Secrets::Many(_)));
            let bytes = text.as_bytes();
            prop_assert_eq!(few.find(bytes), many.find(bytes));
            let is_in = secrets.iter().any(|secret| text.contains(secret));
            prop_assert_eq!((few.is_in(bytes), many.is_in(bytes)), (is_in, is_in));
            let value = Json::Array(vec![Json::Null, Json::from(text.clone())]);
            prop_assert_eq!(few.is_in_value(&value), is_in);
        }
    }
}
