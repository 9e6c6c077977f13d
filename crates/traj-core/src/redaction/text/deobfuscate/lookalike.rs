//! Characters that cannot be seen, and characters that look like ASCII.

/// Whether a character cannot be seen.
pub(super) fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The ASCII character a look-alike represents.
pub(super) fn fold(letter: char) -> Option<u8> {
    let code = letter as u32;
    // Full-width forms.
    if (0xff01..=0xff5e).contains(&code) {
        return u8::try_from(code - 0xfee0).ok();
    }
    // Mathematical alphabets repeat A–Z a–z every 52 and the digits every 10.
    if (0x1d400..=0x1d6a3).contains(&code) {
        let place = u8::try_from((code - 0x1d400) % 52).ok()?;
        return Some(if place < 26 { b'A' + place } else { b'a' + place - 26 });
    }
    if (0x1d7ce..=0x1d7ff).contains(&code) {
        return u8::try_from((code - 0x1d7ce) % 10).ok().map(|digit| b'0' + digit);
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
