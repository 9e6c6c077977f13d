//! A cache of recurring names and short strings, with the facts about each.
//!
//! Every event of a run has the same member names and mostly the same ids,
//! kinds and models. They are stored and compared in full, so no other string
//! can be mistaken for one of them. The cache is small and never evicts; a string
//! that does not fit is searched again.

use std::hash::BuildHasher as _;
use std::sync::OnceLock;

use super::texts;
use crate::redaction::document::member::NameFacts;

/// Longest cached string; `texts` caches longer ones by their hash.
pub(in crate::redaction) const LONGEST: usize = texts::SHORTEST - 1;

/// Maximum number of cached strings; a power of two.
const ROOM: usize = 1_024;

/// A string with this many digits is a counter or an id and rarely recurs.
const MANY_DIGITS: usize = 4;

/// One cached string.
#[derive(Debug)]
struct KeptString<F> {
    /// Part of its hash, so that most other strings differ at once.
    tag: u32,
    text: Box<str>,
    facts: F,
}

/// The caches of a redactor.
#[derive(Debug)]
pub(in crate::redaction) struct NameCache {
    /// Member names.
    pub(in crate::redaction) names: ShortStrings<NameFacts>,
    /// Short strings with nothing to hide or report.
    pub(in crate::redaction) texts: ShortStrings<()>,
}

impl NameCache {
    pub(in crate::redaction) fn new() -> Self {
        Self { names: ShortStrings::new(), texts: ShortStrings::new() }
    }
}

/// Short strings with the facts about them.
#[derive(Debug)]
pub(in crate::redaction) struct ShortStrings<F> {
    slots: Box<[OnceLock<KeptString<F>>]>,
    hasher: foldhash::fast::RandomState,
}

impl<F> ShortStrings<F> {
    pub(in crate::redaction) fn new() -> Self {
        let slots = (0..ROOM).map(|_| OnceLock::new()).collect();
        Self { slots, hasher: foldhash::fast::RandomState::default() }
    }

    /// The facts about a string, if it is cached.
    pub(in crate::redaction) fn get(&self, text: &str) -> Option<&F> {
        if text.len() > LONGEST {
            return None;
        }
        let (tag, [first, second]) = self.places(text);
        let kept_at = |place: usize| {
            let kept = self.slots.get(place)?.get()?;
            (kept.tag == tag && *kept.text == *text).then_some(&kept.facts)
        };
        kept_at(first).or_else(|| kept_at(second))
    }

    /// Stores the facts about a string, if there is space.
    pub(in crate::redaction) fn put(&self, text: &str, facts: F) {
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        if text.len() > LONGEST || digits >= MANY_DIGITS {
            return;
        }
        let (tag, places) = self.places(text);
        let mut slots = places.into_iter().filter_map(|place| self.slots.get(place));
        if let Some(slot) = slots.find(|slot| slot.get().is_none()) {
            // If another thread was faster, this string is not stored.
            slot.set(KeptString { tag, text: text.into(), facts }).ok();
        }
    }

    /// The tag of a string, and the slots that may store it.
    fn places(&self, text: &str) -> (u32, [usize; 2]) {
        let hash = self.hasher.hash_one(text.as_bytes());
        let place = |shift: u32| (hash >> shift) as usize & (ROOM - 1);
        ((hash >> 32) as u32, [place(0), place(16)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_strings_are_found_with_their_facts() {
        let familiar = ShortStrings::new();
        let texts = ["role", "content", "toolCallId", "", "größe"];
        for (number, text) in texts.iter().enumerate() {
            familiar.put(text, number);
        }
        for (number, text) in texts.iter().enumerate() {
            assert_eq!(familiar.get(text), Some(&number));
        }
        assert_eq!(familiar.get("rope"), None);
    }

    #[test]
    fn a_string_in_the_same_slot_is_not_mistaken_for_another() {
        let familiar = ShortStrings::new();
        let (tag, places) = familiar.places("password");
        for place in places {
            let kept = KeptString { tag, text: "harmless".into(), facts: () };
            assert!(familiar.slots[place].set(kept).is_ok());
        }
        assert_eq!(familiar.get("password"), None);
        // There is no space for it, and that is not an error.
        familiar.put("password", ());
        assert_eq!(familiar.get("password"), None);
    }

    #[test]
    fn the_size_is_bounded_and_the_first_strings_stay() {
        let familiar = ShortStrings::new();
        let names: Vec<String> = (0..999)
            .flat_map(|number| ["a", "b", "c", "d", "e"].map(|name| format!("{name}{number}")))
            .collect();
        for name in &names {
            familiar.put(name, ());
        }
        assert_eq!(familiar.get(&names[0]), Some(&()));
        assert!(names.iter().filter(|name| familiar.get(name).is_some()).count() <= ROOM);
        for seldom in ["2026-06-01T10:00:00.000Z", &"x".repeat(LONGEST + 1)] {
            familiar.put(seldom, ());
            assert_eq!(familiar.get(seldom), None);
        }
    }
}
