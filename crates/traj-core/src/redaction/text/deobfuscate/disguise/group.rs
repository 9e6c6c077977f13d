//! Finds the next character that may disguise something, a group of bytes at a time.

use wide::u8x16;

use super::{BLOCK, is_in_word};

/// The number of bytes that are classified at once.
const GROUP: usize = 64;

/// The current group of a text.
pub(super) struct Groups<'t> {
    text: &'t [u8],
    /// Where the group begins, always at the start of a character.
    start: usize,
    group: Group,
}

impl<'t> Groups<'t> {
    /// Starts with the first group.
    pub(super) fn of(text: &'t [u8]) -> Self {
        Self { text, start: 0, group: Group::read(text, 0) }
    }

    /// The first byte at or after `place` that may matter: a NUL or an escape
    /// character, or the beginning of a character that may be a look-alike or
    /// invisible, unless its word plainly belongs to another script. Ideographs,
    /// syllables and pictures are never disguises, and neither are bytes inside a
    /// character.
    pub(super) fn next_unusual(&mut self, mut place: usize) -> Option<usize> {
        while place < self.text.len() {
            let within = place.wrapping_sub(self.start);
            if within >= GROUP {
                self.move_to(place);
                continue;
            }
            let before = self.start.checked_sub(1).map_or(b' ', |before| self.text[before]);
            match self.group.first(within, before) {
                First::At(found) => return Some(self.start + found),
                First::Behind(length) => {
                    place = self.start + length;
                    self.move_to(place);
                }
            }
        }
        None
    }

    fn move_to(&mut self, place: usize) {
        self.start = place;
        self.group = Group::read(self.text, place);
    }
}

/// The kinds of the bytes of a group, one bit for each byte.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Controls, and the first bytes of characters that need a closer look.
    signs: u64,
    /// The first bytes of two-byte letters.
    begins: u64,
    /// The first bytes of letters that do not look like an ASCII letter.
    kept: u64,
    /// Bytes that join a word to ASCII text.
    joins: u64,
}

/// The position of the first byte of a group that may matter.
enum First {
    At(usize),
    /// Not before this position.
    Behind(usize),
}

impl Group {
    /// Reads the group at `start`.
    fn read(text: &[u8], start: usize) -> Self {
        let rest = text.get(start..).unwrap_or_default();
        // A character may be recognised by its second byte, so one more byte is read.
        let mut padded = [b' '; GROUP + 1];
        let bytes: &[u8; GROUP + 1] = rest.first_chunk().unwrap_or_else(|| {
            for (to, from) in padded.iter_mut().zip(rest) {
                *to = *from;
            }
            &padded
        });
        let mut group = Self::default();
        let block = |place: usize| {
            let bytes = bytes.get(place..).and_then(<[u8]>::first_chunk);
            u8x16::new(bytes.copied().unwrap_or_default())
        };
        let places = (0..GROUP).step_by(BLOCK);
        for place in places.clone() {
            group.add_signs(place, block(place), block(place + 1));
        }
        if group.begins != 0 {
            for place in places {
                group.add_letters(place, block(place), block(place + 1));
            }
        }
        group
    }

    #[inline]
    fn add_signs(&mut self, place: usize, block: u8x16, next: u8x16) {
        let is = |bytes: u8x16, byte: u8| bytes.simd_eq(u8x16::splat(byte));
        let control = is(block, 0) | is(block, 0x1b);
        let begins = block.max(u8x16::splat(0xc2)).simd_eq(block);
        let ideograph = within(block, 0xe4, 0xe9) | within(block, 0xeb, 0xec);
        // Of the signs and syllables that begin with 0xe3, only signs have look-alikes.
        let syllable = is(block, 0xe3) & !is(next, 0x80);
        let picture = is(block, 0xf0) & is(next, 0x9f);
        let two = within(block, 0xcd, 0xdf);
        self.signs |= bits(control | begins & !(ideograph | syllable | picture | two), place);
        self.begins |= bits(two, place);
    }

    #[inline]
    fn add_letters(&mut self, place: usize, block: u8x16, next: u8x16) {
        let is = |bytes: u8x16, byte: u8| bytes.simd_eq(u8x16::splat(byte));
        // U+034F and U+061C
        let removed = is(block, 0xcd) & is(next, 0x8f) | is(block, 0xd8) & is(next, 0x9c);
        self.signs |= bits(removed, place);
        let small = block | u8x16::splat(0x20);
        let joins = within(small, b'a', b'z') | within(block, b'0', b'9');
        self.joins |= bits(joins | is(block, b'_') | is(block, b'-'), place);
        // Most of the small Cyrillic letters, and Hebrew, Arabic and the scripts after
        // them.
        let first = within(next, 0xb1, 0xb2)
            | is(next, 0xb4)
            | within(next, 0xb6, 0xb9)
            | within(next, 0xbb, 0xbd);
        let second = is(next, 0x84) | within(next, 0x86, 0x87) | within(next, 0x89, 0x8f);
        let cyrillic = is(block, 0xd0) & first | is(block, 0xd1) & second;
        self.kept |= bits(cyrillic | within(block, 0xd7, 0xdf), place);
    }

    /// The first byte at or after `from` that may matter, with the byte `before` the
    /// group.
    #[inline]
    fn first(self, from: usize, before: u8) -> First {
        let above = u64::MAX << from;
        let sign = (self.signs & above).trailing_zeros();
        // The words before the first sign.
        let letters = (self.begins | self.begins << 1) & above;
        let mut words = letters & !u64::MAX.checked_shl(sign).unwrap_or(0);
        while words != 0 {
            let start = words.trailing_zeros() as usize;
            let length = (!(words >> start)).trailing_zeros() as usize;
            let end = start + length;
            // The rest of the word may be in the next group.
            if end >= GROUP {
                return if start > 0 { First::Behind(start) } else { First::At(0) };
            }
            let word = (u64::MAX >> (GROUP - length)) << start;
            let is_joined = match start.checked_sub(1) {
                Some(before) => self.joins >> before & 1 != 0,
                None => is_in_word(before),
            };
            if is_joined || self.joins >> end & 1 != 0 || self.kept & word == 0 {
                return First::At(start);
            }
            words &= !word;
        }
        let sign = sign as usize;
        if sign < GROUP { First::At(sign) } else { First::Behind(GROUP) }
    }
}

/// The bytes from `first` to `last`.
#[inline]
pub(super) fn within(bytes: u8x16, first: u8, last: u8) -> u8x16 {
    bytes.max(u8x16::splat(first)).min(u8x16::splat(last)).simd_eq(bytes)
}

/// The bits of a block at `place` of its group.
#[inline]
fn bits(found: u8x16, place: usize) -> u64 {
    u64::from(found.to_bitmask() & 0xffff) << place
}
