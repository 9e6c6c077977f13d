//! Where a rewritten string goes: to a buffer, with or without a map back to the
//! original.

/// Takes a rewritten string.
pub(super) trait Rewritten {
    /// Appends a byte that came from `length` bytes at `place`.
    fn put(&mut self, byte: u8, place: usize, length: usize);
    /// Appends bytes that are the same at `place`.
    fn copy(&mut self, bytes: &[u8], place: usize);
    /// The last byte so far.
    fn last_byte(&self) -> Option<u8>;
}

impl Rewritten for Vec<u8> {
    fn put(&mut self, byte: u8, _place: usize, _length: usize) {
        self.push(byte);
    }

    fn copy(&mut self, bytes: &[u8], _place: usize) {
        self.extend_from_slice(bytes);
    }

    fn last_byte(&self) -> Option<u8> {
        self.last().copied()
    }
}

/// A rewritten string, with a map back to the original.
#[derive(Debug, Default)]
pub(in crate::redaction::text) struct Deobfuscated {
    /// The rewritten string.
    pub(super) text: Vec<u8>,
    /// For every byte of `text`, the range of the original that it came from.
    pub(super) places: Vec<(u32, u32)>,
}

impl Rewritten for Deobfuscated {
    fn put(&mut self, byte: u8, place: usize, length: usize) {
        let narrow = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        self.text.push(byte);
        self.places.push((narrow(place), narrow(place + length)));
    }

    fn copy(&mut self, bytes: &[u8], place: usize) {
        for (place, byte) in (place..).zip(bytes) {
            self.put(*byte, place, 1);
        }
    }

    fn last_byte(&self) -> Option<u8> {
        self.text.last().copied()
    }
}

impl Deobfuscated {
    /// The range of the original for `start..end`.
    pub(in crate::redaction::text) fn origin(&self, start: usize, end: usize) -> (usize, usize) {
        let (first, _) = self.places.get(start).copied().unwrap_or_default();
        let (_, last) = self.places.get(end.wrapping_sub(1)).copied().unwrap_or_default();
        (first as usize, (last as usize).max(first as usize))
    }

    /// Whether `start..end` has the same length in the original.
    pub(in crate::redaction::text) fn is_verbatim(&self, start: usize, end: usize) -> bool {
        let (first, last) = self.origin(start, end);
        last - first == end - start
    }
}
