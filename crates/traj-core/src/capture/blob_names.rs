//! Which blobs a sidecar's lines name.

use std::collections::BTreeSet;

use super::BlobDigest;

/// Digits of a blob's name.
const DIGITS: usize = 64;

/// Finds the names of blobs in text that comes in pieces of any size.
///
/// Lines are not parsed: whatever looks like a name is taken for one. So a line
/// that is torn, or was rewritten by others, still holds on to its blobs.
#[derive(Debug, Default)]
pub struct BlobNames {
    names: BTreeSet<BlobDigest>,
    /// The digits that were read last; of too many only that there are too many.
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

    /// All names that were read.
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
    fn a_name_has_as_many_digits_as_it_must_and_no_more() {
        let (one, other) = (BlobDigest::of(b"one"), BlobDigest::of(b"other"));
        let text = format!(r#"{{"blob":"{one}","x":"{other}0","y":"ab {other}"#);
        assert_eq!(BlobNames::of(text.as_bytes()), BTreeSet::from([one.clone(), other]));
        let long = format!("0{one}");
        assert!(BlobNames::of(long.as_bytes()).is_empty());
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_pieces_end(
            text in "([0-9a-f]{62,66}|[x\"]){0,6}",
            size in 1_usize..80,
        ) {
            let mut names = BlobNames::default();
            text.as_bytes().chunks(size).for_each(|piece| names.read(piece));
            prop_assert_eq!(names.finish(), BlobNames::of(text.as_bytes()));
        }
    }
}
