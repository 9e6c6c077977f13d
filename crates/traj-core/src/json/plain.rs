//! How far a text goes before a byte that JSON treats specially.

const WORD: usize = size_of::<u64>();

/// The same byte in all places of a word.
const fn all(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; WORD])
}

/// Bytes that are asked together whether any of them is special.
const BLOCK: usize = 32;

/// Names and ids are mostly shorter than this.
const HEAD: usize = 2 * WORD;

/// Where the first quote, backslash or control character stands.
///
/// This sees every byte that is read or written: short texts in words, long
/// ones a block at a time, which is a few vector instructions, and then in
/// words where in the block it stands.
pub(super) fn first_special(bytes: &[u8]) -> Option<usize> {
    let Some((head, rest)) = bytes.split_first_chunk::<HEAD>() else {
        return first_in_words(bytes);
    };
    if let Some(at) = first_in_words(head) {
        return Some(at);
    }
    let (blocks, rest) = rest.as_chunks::<BLOCK>();
    for (number, block) in blocks.iter().enumerate() {
        let is_special = block.iter().fold(0, |seen, byte| seen | u8::from(is_special(*byte)));
        if is_special != 0 {
            return first_in_words(block).map(|at| HEAD + number * BLOCK + at);
        }
    }
    first_in_words(rest).map(|at| HEAD + blocks.len() * BLOCK + at)
}

/// Without a branch, so that many are asked at once.
const fn is_special(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
}

fn first_in_words(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<WORD>();
    for (number, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The upper bit of each byte that is zero in `word ^ byte`, or below a
        // blank. A borrow can set it in a byte above such a one, never below:
        // the lowest is always right.
        let zero = |word: u64| word.wrapping_sub(all(1)) & !word;
        let below_blank = word.wrapping_sub(all(b' ')) & !word;
        let found = zero(word ^ all(b'"')) | zero(word ^ all(b'\\')) | below_blank;
        let found = found & all(0x80);
        if found != 0 {
            return Some(number * WORD + found.trailing_zeros() as usize / 8);
        }
    }
    rest.iter().position(|byte| is_special(*byte)).map(|at| words.len() * WORD + at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_where_a_search_byte_by_byte_finds_it(
            bytes in prop::collection::vec(
                prop_oneof![4 => any::<u8>(), 4 => b' '..b'~', 1 => Just(b'"'), 1 => Just(0x1f)],
                0..160,
            ),
        ) {
            let naive = bytes.iter().position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\'));
            prop_assert_eq!(first_special(&bytes), naive);
        }
    }
}
