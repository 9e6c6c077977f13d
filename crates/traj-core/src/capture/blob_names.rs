//! Finds the blobs that a sidecar's lines name.

use std::collections::BTreeSet;

use super::BlobDigest;

/// The length of a blob's name in digits.
const DIGITS: usize = 64;

/// Finds blob names in text that arrives in pieces of any size.
///
/// Lines are not parsed: anything that looks like a name counts as one. So even
/// a torn or rewritten line keeps its blobs alive.
#[derive(Debug, Default)]
pub struct BlobNames {
    names: BTreeSet<BlobDigest>,
    /// The current run of digits, capped at one more than a name has.
    digits: String,
}

impl BlobNames {
    /// The names in a text.
    #[must_use]
    pub fn of(text: &[u8]) -> BTreeSet<BlobDigest> {
        let mut names = Self::default();
        names.read(text);
        names.finish()
    }

    /// Reads the next piece.
    pub fn read(&mut self, piece: &[u8]) {
        for byte in piece {
            if byte.is_ascii_digit() || (b'a'..=b'f').contains(byte) {
                if self.digits.len() <= DIGITS {
                    self.digits.push(char::from(*byte));
                }
            } else if !self.digits.is_empty() {
                self.end_digits();
            }
        }
    }

    /// All names found.
    #[must_use]
    pub fn finish(mut self) -> BTreeSet<BlobDigest> {
        self.end_digits();
        self.names
    }

    fn end_digits(&mut self) {
        self.names.extend(BlobDigest::parse(&self.digits));
        self.digits.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_has_exactly_the_required_number_of_digits() {
        let (one, other) = (BlobDigest::of(b"one"), BlobDigest::of(b"other"));
        let text = format!(r#"{{"blob":"{one}","x":"{other}0","y":"ab {other}"#);
        assert_eq!(BlobNames::of(text.as_bytes()), BTreeSet::from([one.clone(), other]));
        let long = format!("0{one}");
        assert!(BlobNames::of(long.as_bytes()).is_empty());
    }

    proptest! {
        #[test]
        fn names_are_found_across_pieces(
            text in "([0-9a-f]{62,66}|[x\"]){0,6}",
            size in 1_usize..80,
        ) {
            let mut names = BlobNames::default();
            text.as_bytes().chunks(size).for_each(|piece| names.read(piece));
            prop_assert_eq!(names.finish(), BlobNames::of(text.as_bytes()));
        }
    }
}
