//! Texts in which something was hidden, and where: the same text comes again,
//! in the session and in the sidecar, and need not be searched again.

use std::sync::{Mutex, PoisonError};

use crate::redaction::span::Span;

/// What is kept of a text is small.
const MOST_SPANS: usize = 16;

/// A bounded memory of what had to go in texts.
///
/// As with [`super::KnownTexts`], it holds a hash of each text, and a newer text
/// takes the place of an older one.
#[derive(Debug)]
pub(super) struct FoundTexts {
    slots: Box<[Mutex<Option<Found>>]>,
}

#[derive(Debug)]
struct Found {
    hash: u64,
    spans: Box<[Span]>,
}

impl FoundTexts {
    /// A memory of `slots` texts; a power of two.
    pub(super) fn with_slots(slots: usize) -> Self {
        Self { slots: (0..slots).map(|_| Mutex::new(None)).collect() }
    }

    pub(super) fn put(&self, hash: u64, spans: &[Span]) {
        if spans.len() <= MOST_SPANS
            && let Some(slot) = self.slot(hash)
        {
            let found = Found { hash, spans: spans.into() };
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        }
    }

    pub(super) fn get(&self, hash: u64) -> Option<Box<[Span]>> {
        let slot = self.slot(hash)?.lock().unwrap_or_else(PoisonError::into_inner);
        slot.as_ref().filter(|found| found.hash == hash).map(|found| found.spans.clone())
    }

    fn slot(&self, hash: u64) -> Option<&Mutex<Option<Found>>> {
        self.slots.get(hash as usize & (self.slots.len() - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redaction::rule::Frame;

    #[test]
    fn what_was_found_is_known_until_another_takes_its_place() {
        let found = FoundTexts::with_slots(8);
        let span = |start: usize| Span::frame(start, start + 9, Frame::Password.rule());
        found.put(1, &[span(4), span(20)]);
        assert_eq!(found.get(1).as_deref(), Some(&[span(4), span(20)][..]));
        assert_eq!(found.get(9), None);
        found.put(9, &[span(7)]);
        assert_eq!(found.get(1), None);
        assert_eq!(found.get(9).as_deref(), Some(&[span(7)][..]));
        found.put(2, &[span(0); MOST_SPANS + 1]);
        assert_eq!(found.get(2), None);
    }
}
