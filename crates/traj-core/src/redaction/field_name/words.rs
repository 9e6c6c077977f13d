//! Splits a name into words: `userToken`, `USER_TOKEN` and `user-token` have two.

use crate::redaction::text::value::is_same;

/// Maximum number of words of a name that are considered.
pub(super) const MAX_WORDS: usize = 16;

/// Splits a name into at most [`MAX_WORDS`] words; returns their number.
pub(super) fn words<'n>(name: &'n [u8], words: &mut [&'n [u8]; MAX_WORDS]) -> usize {
    let mut count = 0;
    let mut start = 0;
    let mut place = 0;
    while place <= name.len() {
        let cut = if place == name.len() {
            true
        } else {
            let byte = name[place];
            !byte.is_ascii_alphanumeric()
                || (place > start && byte.is_ascii_uppercase() && {
                    let before = name[place - 1];
                    before.is_ascii_lowercase()
                        || before.is_ascii_digit()
                        || (before.is_ascii_uppercase()
                            && name.get(place + 1).is_some_and(u8::is_ascii_lowercase)
                            && name.get(place + 2).is_some_and(u8::is_ascii_lowercase))
                })
        };
        if cut {
            if place > start && count < MAX_WORDS {
                words[count] = &name[start..place];
                count += 1;
            }
            start = place;
            if place < name.len() && !name[place].is_ascii_alphanumeric() {
                start += 1;
            }
        }
        place += 1;
    }
    count
}

/// Whether a word is `other`, ignoring case.
pub(super) fn is(word: &[u8], other: &str) -> bool {
    is_same(word, other)
}

/// Whether a word is one of `others`, ignoring case.
pub(super) fn is_any(word: &[u8], others: &[&str]) -> bool {
    others.iter().any(|other| is(word, other))
}

/// Whether a word is longer than `suffix` and ends with it, ignoring case.
pub(super) fn ends_with(word: &[u8], suffix: &str) -> bool {
    word.len() > suffix.len()
        && word
            .get(word.len() - suffix.len()..)
            .is_some_and(|tail| tail.eq_ignore_ascii_case(suffix.as_bytes()))
}
