//! A cache of the hidden ranges of strings: the same string occurs in the session
//! and in the sidecar, and need not be searched again.

use std::sync::{Mutex, PoisonError};

use crate::redaction::engine::span::Span;
use crate::redaction::marker::Digits;

/// Maximum number of ranges of a cached string, to bound memory use.
const MOST_SPANS: usize = 16;

/// How many strings share a shelf. With one place per shelf, two strings with the
/// same shelf would keep evicting each other; with a third of the places in use,
/// that affects a third of the strings.
const PLACES: usize = 8;

/// A hidden part of a string, and the digits of its marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redaction) struct KnownSpan {
    pub(in crate::redaction) span: Span,
    pub(in crate::redaction) digits: Digits,
}

/// A bounded cache of the hidden ranges of strings.
///
/// Like [`super::KnownTexts`], it stores a hash of each string, and a new string
/// replaces an old one.
#[derive(Debug)]
pub(super) struct FoundTexts {
    shelves: Box<[Mutex<Shelf>]>,
}

/// The strings whose hashes have the same lower bits.
#[derive(Debug, Default)]
struct Shelf {
    places: [Option<Found>; PLACES],
    /// The place that was filled first, to be overwritten next.
    oldest: usize,
}

#[derive(Debug)]
struct Found {
    hash: u64,
    spans: Box<[KnownSpan]>,
}

impl FoundTexts {
    /// A cache for `texts` strings, a power of two and at least [`PLACES`].
    pub(super) fn with_room(texts: usize) -> Self {
        Self { shelves: (0..texts / PLACES).map(|_| Mutex::default()).collect() }
    }

    pub(super) fn put(&self, hash: u64, spans: &[KnownSpan]) {
        if spans.len() <= MOST_SPANS
            && let Some(shelf) = self.shelf(hash)
        {
            let found = Found { hash, spans: spans.into() };
            let mut shelf = shelf.lock().unwrap_or_else(PoisonError::into_inner);
            let oldest = shelf.oldest;
            if let Some(place) = shelf.places.get_mut(oldest) {
                *place = Some(found);
            }
            shelf.oldest = (oldest + 1) % PLACES;
        }
    }

    pub(super) fn get(&self, hash: u64) -> Option<Box<[KnownSpan]>> {
        let shelf = self.shelf(hash)?.lock().unwrap_or_else(PoisonError::into_inner);
        let found = shelf.places.iter().flatten().find(|found| found.hash == hash)?;
        Some(found.spans.clone())
    }

    fn shelf(&self, hash: u64) -> Option<&Mutex<Shelf>> {
        self.shelves.get(hash as usize & (self.shelves.len() - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redaction::marker::{self, MarkerKey, Stamp};
    use crate::redaction::rule::Frame;

    #[test]
    fn ranges_are_known_until_newer_strings_evict_them() {
        let found = FoundTexts::with_room(2 * PLACES);
        let stamp = Stamp::new(&MarkerKey::new([7; 32]));
        let span = |start: usize| KnownSpan {
            span: Span::frame(start, start + 9, Frame::Password.rule()),
            digits: marker::digits(&stamp, "password", &[start as u8]),
        };
        found.put(1, &[span(4), span(20)]);
        assert_eq!(found.get(1).as_deref(), Some(&[span(4), span(20)][..]));
        // All strings use the same shelf, which has space for all but one.
        let others: Vec<u64> = (1..=PLACES as u64).map(|number| 1 + 2 * number).collect();
        for hash in &others {
            assert_eq!(found.get(*hash), None);
            found.put(*hash, &[span(7)]);
        }
        assert_eq!(found.get(1), None);
        for hash in others {
            assert_eq!(found.get(hash).as_deref(), Some(&[span(7)][..]));
        }
        found.put(2, &[span(0); MOST_SPANS + 1]);
        assert_eq!(found.get(2), None);
    }
}
