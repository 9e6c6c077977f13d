//! An entry's id as a value of fixed size.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Represents an entry id when a tree is too large to hold its ids as strings.
///
/// Ids of up to fifteen bytes (including the usual eight hex digits) are kept
/// exactly; longer ones are hashed to 120 bits. Keys are compared within one
/// process only and never stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryKey(u128);

impl EntryKey {
    /// The key of an id.
    #[must_use]
    pub fn of(id: &str) -> Self {
        let bytes = id.as_bytes();
        if bytes.len() <= 15 {
            let packed = bytes.iter().fold(0_u128, |key, byte| (key << 8) | u128::from(*byte));
            // The length keeps "" and "\0" apart.
            return Self((packed << 8) | bytes.len() as u128);
        }
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, bytes).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        // A packed id never has length 0xff.
        Self((((half(0) << 64) | half(1)) << 8) | 0xff)
    }

    /// Whether the id is the empty string, which ends every walk.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Self::of("")
    }

    /// The key as bytes that sort in the same order.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The key from the bytes of [`Self::to_bytes`].
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::EntryKey;

    #[test]
    fn short_ids_are_exact_and_long_ones_differ() {
        let ids =
            ["", "\0", "a", "ab", "ba", "0123456789abcde", "0123456789abcdef", "0123456789abcdeg"];
        for (at, left) in ids.iter().enumerate() {
            for right in &ids[at + 1..] {
                assert_ne!(EntryKey::of(left), EntryKey::of(right), "{left:?} {right:?}");
            }
            assert_eq!(EntryKey::from_bytes(EntryKey::of(left).to_bytes()), EntryKey::of(left));
        }
    }
}
