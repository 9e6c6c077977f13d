//! The secrets of a whole session: what one document names is hidden in all
//! others.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::json::Json;
use crate::redaction::engine::span::Span;
use crate::redaction::redactor::session_streams::SessionStreams;
use crate::redaction::rule::RuleIndex;

/// Maximum number of secrets that are kept. With more, the first ones in the order of their bytes
/// are kept, so that the result does not depend on who found them first.
const MAX_SECRETS: usize = 4096;

/// Collects the secrets that a redactor finds. Several threads can share it.
///
/// The values are only in memory. Neither `Debug` nor an error shows one.
#[derive(Default)]
pub struct SessionSecrets {
    found: Mutex<BTreeMap<Vec<u8>, RuleIndex>>,
    /// What may span several rows.
    pub(in crate::redaction) streams: Mutex<SessionStreams>,
}

impl SessionSecrets {
    /// Adds secrets with the rules that hid them.
    pub(in crate::redaction) fn add(&self, learned: &[(Vec<u8>, RuleIndex)]) {
        if learned.is_empty() {
            return;
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        for (secret, rule) in learned {
            match found.get_mut(secret) {
                // The order in which threads find a secret does not matter.
                Some(known) => *known = (*known).min(*rule),
                None => {
                    found.insert(secret.clone(), *rule);
                }
            }
            if found.len() > MAX_SECRETS {
                found.pop_last();
            }
        }
    }

    /// A search for the collected secrets; `None` if there are none.
    #[must_use]
    pub fn search(&self) -> Option<SecretSearch> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        SecretSearch::new(&found)
    }
}

impl fmt::Debug for SessionSecrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SessionSecrets").finish_non_exhaustive()
    }
}

/// The bytes of secrets up to which the search uses a full table, which is twice as fast and takes
/// some 500 times as much memory.
const TABLE_BYTES: usize = 16 << 10;

/// A search for secrets that are already known, in time linear in the text.
pub struct SecretSearch {
    automaton: AhoCorasick,
    rules: Vec<RuleIndex>,
    longest: usize,
}

impl SecretSearch {
    fn new(found: &BTreeMap<Vec<u8>, RuleIndex>) -> Option<Self> {
        let mut patterns = Vec::with_capacity(found.len());
        let mut rules = Vec::with_capacity(found.len());
        for (secret, rule) in found {
            if let Some(escaped) = escaped(secret) {
                patterns.push(escaped);
                rules.push(*rule);
            }
            patterns.push(secret.clone());
            rules.push(*rule);
        }
        let longest = patterns.iter().map(Vec::len).max()?;
        let bytes: usize = patterns.iter().map(Vec::len).sum();
        let kind = (bytes <= TABLE_BYTES).then_some(AhoCorasickKind::DFA);
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(kind)
            .build(patterns)
            .ok()?;
        Some(Self { automaton, rules, longest })
    }

    /// Whether a secret is in `bytes`.
    #[must_use]
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        self.automaton.is_match(bytes)
    }

    /// The length of the longest secret.
    #[must_use]
    pub const fn longest(&self) -> usize {
        self.longest
    }

    /// The positions of the secrets, in order and without overlap.
    pub(in crate::redaction) fn find(&self, text: &[u8]) -> Vec<Span> {
        self.automaton
            .find_iter(text)
            .filter_map(|found| {
                let rule = self.rules.get(found.pattern().as_usize())?;
                Some(Span::frame(found.start(), found.end(), *rule))
            })
            .collect()
    }
}

/// A secret as it is written in a JSON string, if that differs.
fn escaped(secret: &[u8]) -> Option<Vec<u8>> {
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
    let text = secret.iter().any(is_special).then(|| std::str::from_utf8(secret).ok()).flatten()?;
    let mut quoted = String::with_capacity(text.len() + 8);
    Json::from(text.to_owned()).write_compact(&mut quoted);
    quoted.as_bytes().get(1..quoted.len() - 1).map(<[u8]>::to_vec)
}

impl fmt::Debug for SecretSearch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SecretSearch").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::redaction::rule::Frame;
    use crate::redaction::{MarkerKey, RedactionPolicy, RedactionReport, Redactor};

    #[test]
    fn a_secret_of_one_document_is_hidden_in_another() {
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let secrets = Arc::new(SessionSecrets::default());
        let report = &mut RedactionReport::new();
        let plain = "deployed with tango77Kestrel as agreed";
        let first = redactor.collecting(&secrets);
        assert_eq!(first.text(plain, report).into_inner(), plain);
        let named = Json::parse(r#"{"password":"tango77Kestrel"}"#).unwrap();
        drop(first.json(named, report));
        let search = secrets.search().unwrap();
        assert!(search.is_in(plain.as_bytes()) && !search.is_in(b"deployed"));
        let second = redactor.knowing(search);
        let hidden = second.text(plain, report).into_inner();
        assert!(hidden.starts_with("deployed with <redacted:password:"), "{hidden}");
        assert_eq!(second.text(&hidden, report).into_inner(), hidden);
        assert!(!format!("{secrets:?}").contains("tango77"));
    }

    #[test]
    fn the_number_of_secrets_is_bounded_and_their_order_does_not_matter() {
        let number =
            |number: usize| (format!("secret-{number:08}").into_bytes(), Frame::Token.rule());
        let (one, other) = (SessionSecrets::default(), SessionSecrets::default());
        for place in 0..2 * MAX_SECRETS {
            one.add(&[number(place)]);
            other.add(&[number(2 * MAX_SECRETS - 1 - place)]);
        }
        let kept = |secrets: &SessionSecrets| secrets.found.lock().unwrap().clone();
        assert_eq!(kept(&one), kept(&other));
        assert_eq!(kept(&one).len(), MAX_SECRETS);
    }
}
