//! Texts that were looked at and left as they are, so that whoever reads his
//! own output back need not look at every one of them again.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::SharedSeed;
use foldhash::quality::SeedableRandomState;

/// Looking at a shorter text again costs no more than remembering it.
pub(super) const SHORTEST: usize = 48;

/// The bit of a slot that says whether there was something to note.
const NOTED: u64 = 1;

/// What is known of a text that nothing had to be hidden in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clean {
    /// Nothing was noted either.
    Silent,
    /// Markers or survivors were noted, which a report may want to count.
    Noted,
}

/// Hashes texts under a key of its own that nobody else knows, so that no text
/// can be made to pass for another.
#[derive(Clone, Debug)]
pub struct TextHasher(SeedableRandomState);

impl Default for TextHasher {
    fn default() -> Self {
        let key = RandomState::new().hash_one(0_u8);
        Self(SeedableRandomState::with_seed(key, SharedSeed::global_fixed()))
    }
}

impl TextHasher {
    /// The hash of a text.
    #[must_use]
    pub fn hash(&self, text: &[u8]) -> u64 {
        self.0.hash_one(text)
    }
}

/// A bounded memory of texts that a redactor found nothing in.
///
/// It holds a hash of each text; a newer text takes the place of an older one
/// when there is no room. What is not remembered is looked at again: forgetting
/// costs time, nothing else.
#[derive(Debug)]
pub(super) struct CleanTexts {
    slots: Box<[AtomicU64]>,
    hasher: TextHasher,
}

impl CleanTexts {
    /// The most texts that are ever remembered: eight bytes each.
    const MOST: usize = 1 << 20;

    /// A memory with room for about `texts` texts, within bounds.
    pub(super) fn with_room(texts: usize) -> Self {
        // Half empty, so that few texts fall on the same slot.
        let slots = texts.saturating_mul(2).clamp(64, Self::MOST).next_power_of_two();
        let slots = (0..slots).map(|_| AtomicU64::new(0)).collect();
        Self { slots, hasher: TextHasher::default() }
    }

    pub(super) fn hash(&self, text: &[u8]) -> u64 {
        self.hasher.hash(text)
    }

    pub(super) fn put(&self, hash: u64, clean: Clean) {
        let noted = if clean == Clean::Noted { NOTED } else { 0 };
        if let Some(slot) = self.slot(hash) {
            // A slot is one number: a reader sees the old or the new one.
            slot.store(hash & !NOTED | noted, Ordering::Relaxed);
        }
    }

    pub(super) fn get(&self, hash: u64) -> Option<Clean> {
        let known = self.slot(hash)?.load(Ordering::Relaxed);
        // A hash of nothing but zeros looks like an empty slot, and is taken for one.
        if known & !NOTED != hash & !NOTED || known == 0 {
            return None;
        }
        Some(if known & NOTED == 0 { Clean::Silent } else { Clean::Noted })
    }

    fn slot(&self, hash: u64) -> Option<&AtomicU64> {
        // The upper half chooses, so that the bit of the lower half is free.
        self.slots.get((hash >> 32) as usize & (self.slots.len() - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_known_and_nothing_else() {
        let known = CleanTexts::with_room(1_000);
        let hashes: Vec<u64> =
            (0..1_000).map(|number| known.hash(format!("text {number}").as_bytes())).collect();
        for hash in hashes.iter().step_by(2) {
            known.put(*hash, Clean::Silent);
        }
        let is_known = |hash: &&u64| known.get(**hash).is_some();
        // Newer ones may have taken the place of some.
        assert!(hashes.iter().step_by(2).filter(is_known).count() > 300);
        assert!(!hashes.iter().skip(1).step_by(2).any(|hash| is_known(&hash)));
    }

    #[test]
    fn a_note_is_remembered_with_its_text() {
        let known = CleanTexts::with_room(10);
        let (one, other) = (known.hash(b"one"), known.hash(b"other"));
        known.put(one, Clean::Noted);
        assert_eq!((known.get(one), known.get(other)), (Some(Clean::Noted), None));
        known.put(one, Clean::Silent);
        assert_eq!(known.get(one), Some(Clean::Silent));
    }

    #[test]
    fn room_is_bounded() {
        assert_eq!(CleanTexts::with_room(usize::MAX).slots.len(), CleanTexts::MOST);
        assert_eq!(CleanTexts::with_room(0).slots.len(), 64);
    }
}
