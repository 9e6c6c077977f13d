//! Whether characters that look like ASCII may disguise something.
//!
//! Whole scripts share a few letters with ASCII, and typographic signs are common
//! in every text. Such a character matters only next to ASCII, or as part of a
//! word that spells a keyword. Most texts have neither, and need not be rewritten
//! and searched a second time.

mod group;

use wide::u8x16;

use self::group::Groups;
use super::lookalike::{Fate, fate, fate_of_two_bytes};

/// A longer word of look-alikes counts without being checked.
const LONGEST_WORD: usize = 32;
/// Maximum number of spaces and quotes between a sign and the ASCII text next to it.
const MAX_GAP: usize = 4;

/// The number of bytes that are compared together.
const BLOCK: usize = 16;

/// Whether an invisible character, a look-alike, a NUL or an escape character in
/// `text` may disguise something. `is_keyword` says whether a word contains a
/// keyword.
pub(in crate::redaction::text) fn may_disguise(
    text: &[u8],
    is_keyword: impl Fn(&[u8]) -> bool,
) -> bool {
    let mut place = 0;
    let mut groups = Groups::of(text);
    while let Some(at) = groups.next_unusual(place) {
        match harmless(text, at, &is_keyword) {
            Some(length) => place = at + length,
            None => return true,
        }
    }
    false
}

/// The length of the word or character at `at`; `None` if it may disguise something.
fn harmless(text: &[u8], at: usize, is_keyword: &impl Fn(&[u8]) -> bool) -> Option<usize> {
    match text[at] {
        0..0x80 => None,
        0xcd..=0xdf => word(text, at, is_keyword),
        _ => {
            let (fate, length) = fate(&text[at..]);
            let matters = match fate {
                Fate::Kept => false,
                Fate::Folded(folded) => {
                    folded.is_ascii_alphanumeric() || is_next_to_ascii(text, at, at + length)
                }
                Fate::Removed => is_next_to_ascii(text, at, at + length),
            };
            (!matters).then_some(length)
        }
    }
}

/// Whether an ASCII character joins the letters next to it to its word.
const fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// The length of the run of two-byte letters at `start`; `None` if it may disguise
/// something.
fn word(text: &[u8], start: usize, is_keyword: &impl Fn(&[u8]) -> bool) -> Option<usize> {
    let (end, may_be_removed) = word_end(text, start);
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| is_in_word(*byte));
    let before = start.checked_sub(1).and_then(|before| text.get(before));
    let is_joined = is_word(before) || is_word(text.get(end));
    let letters = text.get(start..end).unwrap_or_default();
    let (letters, _) = letters.as_chunks::<2>();
    let fate_of = |letter: &[u8; 2]| fate_of_two_bytes(letter[0], letter[1]);
    // In most words, one of the first letters is not a look-alike.
    let is_kept = |letter: &[u8; 2]| fate_of(letter) == Fate::Kept;
    let has_kept = letters.iter().take(4).fold(false, |kept, letter| kept | is_kept(letter));
    if has_kept && !is_joined && !may_be_removed {
        return Some((end - start).max(2));
    }
    let mut folded = [0; LONGEST_WORD];
    let mut count = 0;
    let mut has_kept = false;
    for letter in letters {
        match fate_of(letter) {
            Fate::Kept => has_kept = true,
            Fate::Removed => return None,
            Fate::Folded(letter) => {
                *folded.get_mut(count)? = letter;
                count += 1;
            }
        }
    }
    if count > 0 && is_joined {
        return None;
    }
    // A separate word, all of whose letters are look-alikes.
    if count > 0 && !has_kept {
        *folded.get_mut(count)? = text.get(end).copied().unwrap_or(b' ');
        if is_keyword(&folded[..=count]) {
            return None;
        }
    }
    Some((end - start).max(2))
}

/// Where the run of two-byte letters at `start` ends, and whether it may contain an
/// invisible character.
fn word_end(text: &[u8], start: usize) -> (usize, bool) {
    let mut place = start;
    let mut may_be_removed = false;
    while let Some(block) = text.get(place..).and_then(<[u8]>::first_chunk::<BLOCK>) {
        let block = u8x16::new(*block);
        let is = |byte: u8| block.simd_eq(u8x16::splat(byte));
        let within = |first: u8, last: u8| {
            block.max(u8x16::splat(first)).min(u8x16::splat(last)).simd_eq(block)
        };
        let others = !(within(0x80, 0xbf) | within(0xcd, 0xdf)).to_bitmask() & 0xffff;
        let length = others.trailing_zeros().min(BLOCK as u32);
        // The second bytes of U+034F and U+061C.
        let removed = (is(0x8f) | is(0x9c)).to_bitmask();
        may_be_removed |= removed & ((1 << length) - 1) != 0;
        place += length as usize;
        if others != 0 {
            return (place, may_be_removed);
        }
    }
    let rest = text.get(place..).unwrap_or_default();
    let is_in_word = |byte: &&u8| matches!(byte, 0x80..=0xbf | 0xcd..=0xdf);
    (place + rest.iter().take_while(is_in_word).count(), true)
}

/// Whether there is a letter, a digit or a sign of ASCII before `start` or after
/// `end`, perhaps after spaces and quotes.
fn is_next_to_ascii(text: &[u8], start: usize, end: usize) -> bool {
    let is_gap =
        |byte: &&u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'*');
    let first = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii);
    let before = text[..start].iter().rev();
    let behind = text[end..].iter();
    let gap = before.clone().take(MAX_GAP).take_while(is_gap).count();
    first(before.clone().nth(gap)) || {
        let gap = behind.clone().take(MAX_GAP).take_while(is_gap).count();
        first(behind.clone().nth(gap))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_some_keyword(word: &[u8]) -> bool {
        word.starts_with(b"pacc") || word.starts_with(b"xo")
    }

    /// Checks every character in turn.
    fn may_disguise_one_by_one(text: &str) -> bool {
        let bytes = text.as_bytes();
        let mut place = 0;
        while let Some(byte) = bytes.get(place) {
            match byte {
                0 | 0x1b | 0x80.. => match harmless(bytes, place, &is_some_keyword) {
                    Some(length) => place += length,
                    None => return true,
                },
                _ => place += 1,
            }
        }
        false
    }

    /// Words of which some, none or all letters are look-alikes; what joins them;
    /// and other characters.
    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => "[жцавсрохпד-תا-ي]{1,9}",
            4 => "[б-яא-תا-ي]{1,40}",
            2 => "[ ,.一あ한🎉]{1,9}",
            1 => "[a_1γς-]",
            1 => "[\x00\x1b\u{200b}\u{a0}\u{61c}\u{34f}\u{fe0f}“ａ。]",
        ]
    }

    proptest! {
        #[test]
        fn groups_agree_with_a_look_at_every_character(
            pieces in prop::collection::vec((piece(), prop::bool::weighted(0.8)), 0..40),
        ) {
            let spaced = |(piece, is_apart): (String, bool)| if is_apart { piece + " " } else { piece };
            let text: String = pieces.into_iter().map(spaced).collect();
            // Most texts are decided by their beginning, so every suffix is checked
            // too.
            for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                let rest = text.get(at..).unwrap_or_default();
                prop_assert_eq!(
                    may_disguise(rest.as_bytes(), is_some_keyword),
                    may_disguise_one_by_one(rest),
                    "{:?}", rest
                );
            }
        }

        #[test]
        fn a_word_ends_where_its_letters_end(text in "[жапm\u{61c}م一 ]{0,40}") {
            let bytes = text.as_bytes();
            let is_two = |byte: &&u8| matches!(byte, 0xcd..=0xdf | 0x80..=0xbf);
            let length = bytes.iter().take_while(is_two).count();
            let (end, may_be_removed) = word_end(bytes, 0);
            prop_assert_eq!(end, length);
            prop_assert!(may_be_removed || !bytes[..end].windows(2).any(|two| two == [0xd8, 0x9c]));
        }
    }

    fn may_disguise_word(text: &str) -> bool {
        may_disguise(text.as_bytes(), |word| word.starts_with(b"pass") || word == b"pw:")
    }

    #[test]
    fn look_alikes_next_to_ascii_and_whole_keywords_count() {
        for text in [
            "pаsswоrd",
            "раѕѕ",
            "это раѕѕ, да",
            "рԝ:",
            "ＡＰＩ＿ＫＥＹ＝",
            "密码：“hunter2”",
            "gh\u{200b}p_x",
            "key\u{a0}x",
            "a — b",
            "a\0b",
            "\u{1b}[1m",
            "да\u{61c}да",
        ] {
            assert!(may_disguise_word(text), "{text}");
        }
    }

    #[test]
    fn words_and_signs_of_other_scripts_do_not() {
        for text in [
            "plain",
            "как карта, потом текст",
            "你好，世界。这是？",
            "今日は、いい天気。",
            "مرحبا، كيف",
            "한국어 문장",
            "ok 🎉 done",
            "❤\u{fe0f}🎉",
        ] {
            assert!(!may_disguise_word(text), "{text}");
        }
    }
}
