//! Signs that a string may need to be rewritten, found in one pass.

use wide::u8x16;

/// The signs in a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::redaction::text) struct Traits {
    /// An escape character, a NUL or a non-ASCII byte.
    pub(in crate::redaction::text) unusual: bool,
    /// A backslash, as in `\u0067`, `\x67`.
    pub(in crate::redaction::text) backslash: bool,
    /// A line break.
    pub(in crate::redaction::text) breaks: bool,
    /// A plus, which may join pieces of a string.
    pub(in crate::redaction::text) joins: bool,
    /// A `<`, which every marker begins with.
    pub(in crate::redaction::text) bracket: bool,
}

/// The number of bytes that are compared together.
const BLOCK: usize = 16;

impl Traits {
    /// The traits of `text`.
    pub(in crate::redaction::text) fn of(text: &[u8]) -> Self {
        let (blocks, rest) = text.as_chunks::<BLOCK>();
        let mut seen = Seen::new();
        for block in blocks {
            seen.add(*block);
        }
        // Padding with spaces sets no trait.
        let mut last = [b' '; BLOCK];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        seen.add(last);
        seen.traits()
    }

    /// Whether there are no signs, apart from line breaks and pluses, which
    /// matter only if a token prefix was seen.
    pub(in crate::redaction::text) fn are_plain(self) -> bool {
        self == Self { breaks: self.breaks, joins: self.joins, ..Self::default() }
    }
}

/// For each sign and place in a block, whether it was seen there.
struct Seen {
    high: u8x16,
    control: u8x16,
    backslash: u8x16,
    breaks: u8x16,
    joins: u8x16,
    bracket: u8x16,
}

impl Seen {
    const fn new() -> Self {
        let none = u8x16::ZERO;
        Self {
            high: none,
            control: none,
            backslash: none,
            breaks: none,
            joins: none,
            bracket: none,
        }
    }

    #[inline]
    fn add(&mut self, block: [u8; BLOCK]) {
        let block = u8x16::new(block);
        let is = |byte: u8| block.simd_eq(u8x16::splat(byte));
        self.high |= block;
        self.control |= is(0) | is(0x1b);
        self.backslash |= is(b'\\');
        self.breaks |= is(b'\n');
        self.joins |= is(b'+');
        self.bracket |= is(b'<');
    }

    fn traits(&self) -> Traits {
        let any = |places: u8x16| places.to_bitmask() != 0;
        Traits {
            // The upper bit of a byte that is not ASCII is set.
            unusual: any(self.high) || any(self.control),
            backslash: any(self.backslash),
            breaks: any(self.breaks),
            joins: any(self.joins),
            bracket: any(self.bracket),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_sign_is_seen_anywhere(text in "[a-z +<\\\\\n\0\x1bé]{0,70}") {
            let has = |signs: &[u8]| text.bytes().any(|byte| signs.contains(&byte));
            let expected = Traits {
                unusual: has(b"\0\x1b") || !text.is_ascii(),
                backslash: has(b"\\"),
                breaks: has(b"\n"),
                joins: has(b"+"),
                bracket: has(b"<"),
            };
            prop_assert_eq!(Traits::of(text.as_bytes()), expected);
        }
    }
}
