//! Finds the first byte of a string that JSON treats specially.

use wide::u8x16;

const WORD: usize = size_of::<u64>();

/// The same byte in every position of a word.
const fn all(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; WORD])
}

/// The number of bytes that are checked together.
const BLOCK: usize = 16;

/// The position of the first quote, backslash or control character.
///
/// Every byte that is read or written passes through here, so it works in
/// blocks, then in words.
pub(super) fn first_special(bytes: &[u8]) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    for (number, block) in blocks.iter().enumerate() {
        if let Some(at) = first_in_block(*block) {
            return Some(number * BLOCK + at);
        }
    }
    first_in_words(rest).map(|at| blocks.len() * BLOCK + at)
}

fn first_in_block(block: [u8; BLOCK]) -> Option<usize> {
    let block = u8x16::new(block);
    let is = |byte: u8| block.simd_eq(u8x16::splat(byte));
    let is_control = block.min(u8x16::splat(b' ' - 1)).simd_eq(block);
    let special = (is(b'"') | is(b'\\') | is_control).to_bitmask();
    (special != 0).then(|| special.trailing_zeros() as usize)
}

fn first_in_words(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<WORD>();
    for (number, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // Sets the high bit of each byte that is zero in `word ^ byte` or less
        // than a space. A borrow can also set it in a higher byte, but never in
        // a lower one, so the lowest bit is always right.
        let zero = |word: u64| word.wrapping_sub(all(1)) & !word;
        let below_blank = word.wrapping_sub(all(b' ')) & !word;
        let found = zero(word ^ all(b'"')) | zero(word ^ all(b'\\')) | below_blank;
        let found = found & all(0x80);
        if found != 0 {
            return Some(number * WORD + found.trailing_zeros() as usize / 8);
        }
    }
    let is_special = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
    rest.iter().position(is_special).map(|at| words.len() * WORD + at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_byte_by_byte_search_finds_the_same_position(
            bytes in prop::collection::vec(
                prop_oneof![4 => any::<u8>(), 4 => b' '..b'~', 1 => Just(b'"'), 1 => Just(0x1f)],
                0..160,
            ),
        ) {
            prop_assert_eq!(first_in_words(&bytes), first_special(&bytes));
            let naive = bytes.iter().position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\'));
            prop_assert_eq!(first_special(&bytes), naive);
        }
    }
}
