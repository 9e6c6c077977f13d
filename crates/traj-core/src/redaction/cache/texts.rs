//! A cache of searched strings and their findings. A string that recurs, in
//! another file or when the output is read back, is not searched again.

mod found_spans;

use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::SharedSeed;
use foldhash::quality::SeedableRandomState;

use found_spans::FoundTexts;
pub(in crate::redaction) use found_spans::KnownSpan;

/// Shortest cached string; hashing a shorter one gains nothing.
pub(in crate::redaction) const SHORTEST: usize = 48;

/// The bit of a slot that stands for [`CleanString::Noted`].
const NOTED: u64 = 1;

/// How many slots a string may use. With only one, two strings with the same slot
/// would keep evicting each other.
const WAYS: usize = 4;

/// What is known about a string that had nothing to hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redaction) enum CleanString {
    /// There was nothing to report either.
    Silent,
    /// It has markers or survivors, which a report may have to count.
    Noted,
}

/// Hashes strings with a secret key, so that nobody can craft a string with the
/// hash of another.
#[derive(Clone, Debug)]
pub struct TextHasher(SeedableRandomState);

/// The seed that all hashers of a process share. It is random, because a string
/// could be crafted to cancel out known factors.
static SHARED_SEED: LazyLock<SharedSeed> =
    LazyLock::new(|| SharedSeed::from_u64(RandomState::new().hash_one(1_u8)));

impl Default for TextHasher {
    fn default() -> Self {
        let key = RandomState::new().hash_one(0_u8);
        Self(SeedableRandomState::with_seed(key, &SHARED_SEED))
    }
}

impl TextHasher {
    /// The hash of a string.
    #[must_use]
    pub fn hash(&self, text: &[u8]) -> u64 {
        self.0.hash_one(text)
    }
}

/// A bounded cache of strings without secrets, and of the ranges that were hidden
/// in other strings.
///
/// It stores a hash of each string. When the cache is full, a new string replaces
/// an old one. Evicted strings are searched again, which costs only time.
#[derive(Debug)]
pub(in crate::redaction) struct KnownTexts {
    slots: Box<[AtomicU64]>,
    found: FoundTexts,
    hasher: TextHasher,
}

impl KnownTexts {
    /// Maximum number of cached strings; each takes eight bytes.
    const MOST: usize = 1 << 20;

    /// A cache for about `texts` strings, within bounds.
    pub(in crate::redaction) fn with_room(texts: usize) -> Self {
        let slots = texts.clamp(64, Self::MOST).next_power_of_two();
        // Strings with something to hide are fewer, and each takes more memory.
        let found = FoundTexts::with_room(slots / 8);
        let slots = (0..slots).map(|_| AtomicU64::new(0)).collect();
        Self { slots, found, hasher: TextHasher::default() }
    }

    pub(in crate::redaction) fn hash(&self, text: &[u8]) -> u64 {
        self.hasher.hash(text)
    }

    pub(in crate::redaction) fn put(&self, hash: u64, clean: CleanString) {
        let noted = if clean == CleanString::Noted { NOTED } else { 0 };
        let slots = self.slots_of(hash);
        let place = slots.iter().position(|slot| {
            let known = slot.load(Ordering::Relaxed);
            known == 0 || known & !NOTED == hash & !NOTED
        });
        // If all slots are taken, the hash selects the one to overwrite.
        let place = place.unwrap_or((hash >> 1) as usize % WAYS);
        if let Some(slot) = slots.get(place) {
            // A slot is one atomic number: readers see the old or the new value.
            slot.store(hash & !NOTED | noted, Ordering::Relaxed);
        }
    }

    pub(in crate::redaction) fn get(&self, hash: u64) -> Option<CleanString> {
        self.slots_of(hash).iter().find_map(|slot| {
            let known = slot.load(Ordering::Relaxed);
            // An all-zero hash is indistinguishable from an empty slot: not cached.
            if known & !NOTED != hash & !NOTED || known == 0 {
                return None;
            }
            Some(if known & NOTED == 0 { CleanString::Silent } else { CleanString::Noted })
        })
    }

    /// Stores the ranges that were hidden in a string.
    pub(in crate::redaction) fn put_found(&self, hash: u64, spans: &[KnownSpan]) {
        self.found.put(hash, spans);
    }

    /// The ranges to hide in a string, if they are cached.
    pub(in crate::redaction) fn get_found(&self, hash: u64) -> Option<Box<[KnownSpan]>> {
        self.found.get(hash)
    }

    /// The slots that a string may use.
    fn slots_of(&self, hash: u64) -> &[AtomicU64] {
        // Only the upper half selects a slot, so the lowest bit is free for `NOTED`.
        let first = (hash >> 32) as usize & (self.slots.len() - 1) & !(WAYS - 1);
        self.slots.get(first..first + WAYS).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;
    use crate::redaction::rule::template;
    use crate::redaction::{
        MarkerKey, PathLabels, RedactionPolicy, RedactionReport, Redactor, RuleSet,
    };

    #[test]
    fn only_stored_strings_are_known() {
        let known = KnownTexts::with_room(1_000);
        let hashes: Vec<u64> =
            (0..1_000).map(|number| known.hash(format!("text {number}").as_bytes())).collect();
        for hash in hashes.iter().step_by(2) {
            known.put(*hash, CleanString::Silent);
        }
        let is_known = |hash: &&u64| known.get(**hash).is_some();
        // Newer strings may have evicted a few.
        assert!(hashes.iter().step_by(2).filter(is_known).count() > 450);
        assert!(!hashes.iter().skip(1).step_by(2).any(|hash| is_known(&hash)));
    }

    #[test]
    fn a_note_is_stored_with_its_string() {
        let known = KnownTexts::with_room(10);
        let (one, other) = (known.hash(b"one"), known.hash(b"other"));
        known.put(one, CleanString::Noted);
        assert_eq!((known.get(one), known.get(other)), (Some(CleanString::Noted), None));
        known.put(one, CleanString::Silent);
        assert_eq!(known.get(one), Some(CleanString::Silent));
    }

    #[test]
    fn the_size_is_bounded() {
        assert_eq!(KnownTexts::with_room(usize::MAX).slots.len(), KnownTexts::MOST);
        assert_eq!(KnownTexts::with_room(0).slots.len(), 64);
    }

    const FILLER: &str = "It was said in the log of the build that nothing else had changed.";

    /// The examples of all rules, alone and within other text.
    fn texts() -> Vec<String> {
        let rules = RuleSet::builtin().rules;
        let examples =
            rules.iter().flat_map(|rule| rule.examples.iter().chain(rule.counter_examples.iter()));
        examples
            .map(|text| template::fill(text, 1).replace(['⟦', '⟧'], ""))
            .flat_map(|text| [format!("{FILLER}\n{text}\n{FILLER} {text}"), text])
            .collect()
    }

    fn object(members: [(&'static str, Json<'static>); 2]) -> Json<'static> {
        Json::Object(members.into_iter().collect())
    }

    /// Documents in which two strings are side by side, nested, or under a name.
    fn documents(one: &str, other: &str) -> [Json<'static>; 6] {
        let text = |text: &str| Json::from(text.to_owned());
        let (head, tail) = other.split_at(other.floor_char_boundary(other.len() / 2));
        let list = |items: &[&str]| Json::Array(items.iter().map(|item| text(item)).collect());
        [
            object([("note", list(&[one, "x", one])), ("content", text(other))]),
            object([("name", text(one)), ("value", text(other))]),
            object([("pair", list(&[one, other])), ("id", text(one))]),
            object([
                ("text", text(one)),
                ("data", object([("key", text(other)), ("text", text(one))])),
            ]),
            object([
                ("stream", list(&[&format!("{FILLER}{one}{head}"), tail, "the end"])),
                ("pair", list(&[head, &format!("{tail}{one}")])),
            ]),
            object([
                ("password", text(&format!("/srv/importer/x\n{one}"))),
                ("secret", list(&[&format!("/srv/importer/{head}"), "token", other])),
            ]),
        ]
    }

    fn redact(redactor: &Redactor, document: Json<'static>) -> (String, RedactionReport) {
        let mut report = RedactionReport::listing();
        let line = redactor.json(document, &mut report).to_line().into_inner();
        (line, report)
    }

    /// A redactor with a cache gives the same results and counts as one without,
    /// whatever it has seen before. Where it reports a settled result, the rules
    /// find nothing in it.
    #[test]
    fn a_cache_does_not_change_the_results() {
        let workspaces = vec!["/srv/importer".to_owned()];
        let paths = PathLabels { workspaces, ..PathLabels::default() };
        let policy = RedactionPolicy::standard(MarkerKey::new([7; 32])).with_paths(paths);
        let plain = Redactor::new(policy);
        let remembering = plain.remembering(1_000);
        let texts = texts();
        let mut settled = 0;
        for (one, other) in texts.iter().zip(texts.iter().cycle().skip(1)) {
            for document in documents(one, other) {
                let (expected, expected_report) = redact(&plain, document.clone());
                for _ in 0..2 {
                    let (line, report) = redact(&remembering, document.clone());
                    assert_eq!(line, expected);
                    assert_eq!(report.to_json().unwrap(), expected_report.to_json().unwrap());
                    if report.unsettled() == 0 {
                        settled += u64::from(report.changes() > 0);
                        let mut again = RedactionReport::new();
                        plain.recheck_json(Json::parse(&line).unwrap(), &mut again);
                        assert_eq!(again.changes(), 0, "{line}");
                    }
                }
            }
        }
        assert!(settled > 100, "{settled}");
    }
}
