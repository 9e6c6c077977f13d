//! Invisible characters, and characters that look like ASCII.

/// What becomes of a character that is not ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Kept,
    Removed,
    Folded(u8),
}

/// The fate of the character that `rest` begins with, and its length. The first
/// byte must not be ASCII.
#[inline]
pub(super) fn fate(rest: &[u8]) -> (Fate, usize) {
    let low = |place: usize| rest.get(place).map_or(0, |byte| u32::from(byte & 0x3f));
    match rest.first().copied().unwrap_or_default() {
        first @ 0xc0..=0xdf => {
            (fate_of_two_bytes(first, rest.get(1).copied().unwrap_or_default()), 2)
        }
        first @ 0xe0..=0xef => {
            let code = u32::from(first & 0x0f) << 12 | low(1) << 6 | low(2);
            // Most scripts of the world have no look-alikes.
            let is_kept = matches!(code, 0x3003..=0xa6ff | 0xac00..=0xfdff | 0x0800..=0x115e);
            (if is_kept { Fate::Kept } else { fate_of(code) }, 3)
        }
        first @ 0xf0.. => {
            let code = u32::from(first & 7) << 18 | low(1) << 12 | low(2) << 6 | low(3);
            let is_kept = matches!(code, 0x1f000..=0x3ffff);
            (if is_kept { Fate::Kept } else { fate_of(code) }, 4)
        }
        _ => (Fate::Kept, 1),
    }
}

/// The fate of a character of two bytes.
#[inline]
pub(super) fn fate_of_two_bytes(first: u8, second: u8) -> Fate {
    let code = usize::from(first & 0x1f) << 6 | usize::from(second & 0x3f);
    TWO_BYTES[code & 0x7ff]
}

/// The fate of every character that takes two bytes.
static TWO_BYTES: [Fate; 0x800] = {
    let mut table = [Fate::Kept; 0x800];
    let mut code = 0x80;
    while code < 0x800 {
        table[code] = fate_of(code as u32);
        code += 1;
    }
    table
};

const fn fate_of(code: u32) -> Fate {
    let Some(letter) = char::from_u32(code) else { return Fate::Kept };
    if is_invisible(letter) {
        return Fate::Removed;
    }
    match fold(letter) {
        Some(folded) => Fate::Folded(folded),
        None => Fate::Kept,
    }
}

/// Whether a character is invisible.
const fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The ASCII character that a look-alike represents.
const fn fold(letter: char) -> Option<u8> {
    let code = letter as u32;
    // Full-width forms.
    if code >= 0xff01 && code <= 0xff5e {
        return Some((code - 0xfee0) as u8);
    }
    // Mathematical alphabets repeat A–Z a–z every 52 and the digits every 10.
    if code >= 0x1d400 && code <= 0x1d6a3 {
        let place = ((code - 0x1d400) % 52) as u8;
        return Some(if place < 26 { b'A' + place } else { b'a' + place - 26 });
    }
    if code >= 0x1d7ce && code <= 0x1d7ff {
        return Some(b'0' + ((code - 0x1d7ce) % 10) as u8);
    }
    let folded = match letter {
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => b' ',
        'а' | 'α' | 'ɑ' | 'ａ' => b'a',
        'Ь' | 'ƅ' => b'b',
        'с' | 'ϲ' | 'ⅽ' => b'c',
        'ԁ' | 'ⅾ' => b'd',
        'е' | 'ё' | 'ε' | 'ҽ' => b'e',
        'ɡ' | 'ց' => b'g',
        'һ' | 'հ' => b'h',
        'і' | 'ι' | 'ı' | 'ⅰ' | 'í' => b'i',
        'ј' | 'ϳ' => b'j',
        'к' | 'κ' => b'k',
        'ⅼ' | 'ӏ' => b'l',
        'ո' | 'п' => b'n',
        'о' | 'ο' | 'օ' | 'ⲟ' => b'o',
        'р' | 'ρ' => b'p',
        'ԛ' => b'q',
        'г' | 'ᴦ' => b'r',
        'ѕ' | 'ꜱ' => b's',
        'т' | 'τ' => b't',
        'υ' | 'ս' | 'ᴜ' => b'u',
        'ѵ' | 'ν' | 'ⅴ' => b'v',
        'ԝ' | 'ω' | 'ш' => b'w',
        'х' | 'χ' | 'ⅹ' => b'x',
        'у' | 'γ' | 'ү' => b'y',
        'ᴢ' => b'z',
        'А' | 'Α' => b'A',
        'В' | 'Β' => b'B',
        'С' | 'Ϲ' => b'C',
        'Е' | 'Ε' => b'E',
        'Н' | 'Η' => b'H',
        'І' | 'Ι' | 'Ӏ' => b'I',
        'Ј' => b'J',
        'К' | 'Κ' => b'K',
        'М' | 'Μ' => b'M',
        'Ν' => b'N',
        'О' | 'Ο' => b'O',
        'Р' | 'Ρ' => b'P',
        'Ѕ' => b'S',
        'Т' | 'Τ' => b'T',
        'Х' | 'Χ' => b'X',
        'У' | 'Υ' => b'Y',
        'Ζ' => b'Z',
        '‐' | '‑' | '‒' | '–' | '—' | '−' | '﹣' => b'-',
        '＿' | '﹍' => b'_',
        '“' | '”' | '„' | '«' | '»' | '″' => b'"',
        '‘' | '’' | '‚' | '′' | '‹' | '›' => b'\'',
        '：' | '﹕' | '∶' | '꞉' | 'ː' => b':',
        '＝' | '﹦' | '꞊' | '→' | '⇒' | '➜' => b'=',
        '․' | '。' => b'.',
        '⁄' | '∕' => b'/',
        _ => return None,
    };
    Some(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_cuts_agree_with_the_tables() {
        for letter in (0x80..=0x10_ffff).filter_map(char::from_u32) {
            let mut bytes = [0; 4];
            let bytes = letter.encode_utf8(&mut bytes).as_bytes();
            assert_eq!(fate(bytes), (fate_of(letter as u32), bytes.len()), "{letter:?}");
        }
    }
}
