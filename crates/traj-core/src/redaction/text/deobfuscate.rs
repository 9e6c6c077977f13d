//! Undoes disguises: the string as a reader would put it together again.
//!
//! A deobfuscated string has a map back to the original. Rules search it; what
//! they find is hidden in the original.

mod joint;
mod lookalike;

use memchr::memmem;
use wide::u8x16;

use joint::joint;
use lookalike::{fold, is_invisible};

pub(in crate::redaction) use joint::{LONGEST_JOINT, is_token};

/// Traits of a string that call for deobfuscation, found in one pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traits {
    /// An escape character, NUL, or anything beyond ASCII.
    pub(super) unusual: bool,
    /// A backslash: escapes such as `\u0067`, `\x67`.
    pub(in crate::redaction) backslash: bool,
    /// A line break.
    pub(in crate::redaction) breaks: bool,
    /// A quote or plus that may join pieces of a string.
    pub(super) joins: bool,
    /// The sign every marker begins with.
    pub(in crate::redaction) bracket: bool,
}

const UNUSUAL: u8 = 1;
const BACKSLASH: u8 = 2;
const BREAK: u8 = 4;
const JOIN: u8 = 8;
const BRACKET: u8 = 16;

/// An equals sign in quoted-printable text.
const QUOTED_EQUALS: &[u8] = b"=3D";
/// What such a text is called.
const QUOTED_PRINTABLE: &[u8] = b"quoted-printable";

impl Traits {
    /// The traits of `text`.
    pub(in crate::redaction) fn of(text: &[u8]) -> Self {
        let bit = |is_there: bool, bit: u8| if is_there { bit } else { 0 };
        // Comparisons without a branch or a table become vector instructions.
        let seen = text.iter().fold(0, |seen, byte| {
            seen | bit(*byte >= 0x80, UNUSUAL)
                | bit(*byte == 0, UNUSUAL)
                | bit(*byte == 0x1b, UNUSUAL)
                | bit(*byte == b'\\', BACKSLASH)
                | bit(*byte == b'\n', BREAK)
                | bit(*byte == b'+', JOIN)
                | bit(*byte == b'<', BRACKET)
        });
        Self {
            unusual: seen & UNUSUAL != 0,
            backslash: seen & BACKSLASH != 0,
            breaks: seen & BREAK != 0,
            joins: seen & JOIN != 0,
            bracket: seen & BRACKET != 0,
        }
    }

    /// Whether deobfuscation would not change the string.
    pub(super) fn are_plain(self) -> bool {
        self == Self { breaks: self.breaks, joins: self.joins, ..Self::default() }
    }
}

/// A rewritten text and the way back.
#[derive(Debug, Default)]
pub(super) struct Deobfuscated {
    /// The rewritten text.
    pub(in crate::redaction) text: Vec<u8>,
    /// For every byte of `text` the range of the original that it came from.
    places: Vec<(u32, u32)>,
    changed: bool,
}

impl Deobfuscated {
    fn with_capacity(length: usize) -> Self {
        Self {
            text: Vec::with_capacity(length),
            places: Vec::with_capacity(length),
            changed: false,
        }
    }

    fn push(&mut self, byte: u8, place: usize, length: usize) {
        let narrow = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        self.text.push(byte);
        self.places.push((narrow(place), narrow(place + length)));
    }

    fn finish(self) -> Option<Self> {
        self.changed.then_some(self)
    }

    /// The range of the original for `start..end`.
    pub(in crate::redaction) fn origin(&self, start: usize, end: usize) -> (usize, usize) {
        let (first, _) = self.places.get(start).copied().unwrap_or_default();
        let (_, last) = self.places.get(end.wrapping_sub(1)).copied().unwrap_or_default();
        (first as usize, (last as usize).max(first as usize))
    }

    /// Whether `start..end` is the same in the original.
    pub(super) fn is_verbatim(&self, start: usize, end: usize) -> bool {
        let (first, last) = self.origin(start, end);
        last - first == end - start
    }
}

/// Texts longer than this are not put together again; maps are 32 bit.
const MAX_SHADOW: usize = u32::MAX as usize / 2;

/// Removes invisible characters and folds look-alikes to ASCII.
pub(super) fn plain(text: &str) -> Option<Deobfuscated> {
    if text.len() > MAX_SHADOW {
        return None;
    }
    let bytes = text.as_bytes();
    // NUL between all characters is UTF-16 read as bytes; between words it
    // separates entries.
    let nuls = memchr::memchr_iter(0, bytes).count();
    let wide = nuls > 2 && nuls * 3 >= bytes.len();
    let mut shadow = Deobfuscated::with_capacity(bytes.len());
    let mut chars = text.char_indices().peekable();
    while let Some((place, letter)) = chars.next() {
        match letter {
            '\0' if wide => shadow.changed = true,
            '\0' => {
                // An entry of an environment block begins after; anything
                // else was torn apart.
                let next = &bytes[place + 1..bytes.len().min(place + 48)];
                let name = next
                    .iter()
                    .take_while(|byte| {
                        byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b'_'
                    })
                    .count();
                if next.is_empty()
                    || next.get(name) == Some(&b'=')
                    || !next[0].is_ascii_alphanumeric()
                    || !shadow.text.last().is_some_and(u8::is_ascii_alphanumeric)
                {
                    shadow.push(b'\n', place, 1);
                }
                shadow.changed = true;
            }
            '\u{1b}' => {
                shadow.changed = true;
                if chars.peek().is_some_and(|(_, next)| *next == '[') {
                    chars.next();
                    while let Some((_, next)) = chars.peek() {
                        let done = next.is_ascii_alphabetic();
                        if !done && !matches!(next, '0'..='9' | ';' | ':' | '?' | ' ') {
                            break;
                        }
                        chars.next();
                        if done {
                            break;
                        }
                    }
                }
            }
            _ if letter.is_ascii() => shadow.push(letter as u8, place, 1),
            _ if is_invisible(letter) => shadow.changed = true,
            _ => match fold(letter) {
                Some(folded) => {
                    shadow.changed = true;
                    shadow.push(folded, place, letter.len_utf8());
                }
                None => {
                    for offset in 0..letter.len_utf8() {
                        shadow.push(bytes[place + offset], place, letter.len_utf8());
                    }
                }
            },
        }
    }
    shadow.finish()
}

/// Decodes `\u0067`, `\x67`, `%67`, `&#103;`, `&amp;`, `=67` and soft breaks.
pub(super) fn decoded(text: &[u8]) -> Option<Deobfuscated> {
    let printable = is_quoted_printable(text);
    if text.len() > MAX_SHADOW {
        return None;
    }
    let mut shadow = Deobfuscated::with_capacity(text.len());
    let mut place = 0;
    while place < text.len() {
        let (byte, length) = decode_one(&text[place..], printable);
        if length > 1 {
            shadow.changed = true;
        }
        if let Some(byte) = byte {
            shadow.push(byte, place, length.max(1));
        }
        place += length.max(1);
    }
    shadow.finish()
}

/// Whether a string begins with an escape, or with a sign that it has some.
pub(in crate::redaction) fn is_escape(text: &[u8]) -> bool {
    match text.first() {
        Some(b'\\') => text.starts_with(b"\\u00") || text.starts_with(b"\\x"),
        Some(b'%') => hex(text.get(1..3)).is_some(),
        Some(b'&') => entity(text).is_some(),
        _ => text.starts_with(QUOTED_EQUALS) || text.starts_with(QUOTED_PRINTABLE),
    }
}

/// Whether the text is in the quoted-printable form of mail: an equals sign
/// itself is written `=3D` there.
fn is_quoted_printable(text: &[u8]) -> bool {
    memmem::find(text, QUOTED_EQUALS).is_some() || memmem::find(text, QUOTED_PRINTABLE).is_some()
}

/// The byte an escape at the head of `rest` represents and its length.
fn decode_one(rest: &[u8], printable: bool) -> (Option<u8>, usize) {
    let plain = (Some(rest[0]), 1);
    match rest[0] {
        b'\\' => {
            let slashes = rest.iter().take(8).take_while(|byte| **byte == b'\\').count();
            match rest.get(slashes) {
                Some(b'u') => match hex(rest.get(slashes + 1..slashes + 5)) {
                    Some(code) if (0x20..0x7f).contains(&code) => {
                        (u8::try_from(code).ok(), slashes + 5)
                    }
                    _ => plain,
                },
                Some(b'x') => match hex(rest.get(slashes + 1..slashes + 3)) {
                    Some(code) if (0x20..0x7f).contains(&code) => {
                        (u8::try_from(code).ok(), slashes + 3)
                    }
                    _ => plain,
                },
                _ => plain,
            }
        }
        b'%' => match hex(rest.get(1..3)) {
            Some(code) if (0x20..0x7f).contains(&code) => (u8::try_from(code).ok(), 3),
            _ => plain,
        },
        b'=' if printable => match rest.get(1..3) {
            Some([b'\n', _]) => (None, 2),
            Some(b"\r\n") => (None, 3),
            digits => match hex(digits) {
                Some(code) if (0x21..0x7f).contains(&code) => (u8::try_from(code).ok(), 3),
                _ => plain,
            },
        },
        b'&' => entity(rest).unwrap_or(plain),
        _ => plain,
    }
}

fn entity(rest: &[u8]) -> Option<(Option<u8>, usize)> {
    // Most of these signs are operators of a program.
    if !matches!(rest.get(1), Some(b'#' | b'a' | b'q' | b'l' | b'g' | b'e' | b'c')) {
        return None;
    }
    for (name, byte) in [
        (&b"&amp;"[..], b'&'),
        (b"&quot;", b'"'),
        (b"&apos;", b'\''),
        (b"&#39;", b'\''),
        (b"&lt;", b'<'),
        (b"&gt;", b'>'),
        (b"&equals;", b'='),
        (b"&colon;", b':'),
    ] {
        if rest.starts_with(name) {
            return Some((Some(byte), name.len()));
        }
    }
    let digits = rest.strip_prefix(b"&#")?;
    let end = digits.iter().take(8).position(|byte| *byte == b';')?;
    let number = std::str::from_utf8(&digits[..end]).ok()?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(number) => u32::from_str_radix(number, 16).ok()?,
        None => number.parse().ok()?,
    };
    (0x20..0x7f).contains(&code).then_some((u8::try_from(code).ok(), end + 3))
}

fn hex(digits: Option<&[u8]>) -> Option<u32> {
    let digits = digits?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Takes out line breaks, continuations and the joints of split strings, so
/// that a token over two lines is one again.
pub(super) fn joined(text: &[u8]) -> Option<Deobfuscated> {
    if text.len() > MAX_SHADOW {
        return None;
    }
    let mut shadow = Deobfuscated::with_capacity(text.len());
    let mut place = 0;
    while place < text.len() {
        let length = joint(&text[place..]);
        if length > 0 && shadow.text.last().is_some_and(|byte| is_token(*byte)) {
            shadow.changed = true;
            place += length;
        } else {
            shadow.push(text[place], place, 1);
            place += 1;
        }
    }
    shadow.finish()
}

/// Whether something from `start` to `end`, after a token, could join it to the
/// rest. Most strings have no joint and need no deobfuscation.
pub(super) fn has_joint(text: &[u8], start: usize, end: usize) -> bool {
    let joins = |at: usize| {
        at.checked_sub(1).is_some_and(|before| is_token(text[before])) && joint(&text[at..]) > 0
    };
    // Up to two bytes of a joint come before its line break.
    let end = text.len().min(end + 2);
    let stretch = text.get(start..end).unwrap_or_default();
    let breaks = |at: usize| {
        let at = start + at;
        let is_before = |count: usize| {
            at.checked_sub(count).is_some_and(|at| matches!(text[at], b'\r' | b'=' | b'\\'))
        };
        joins(at) || is_before(1) && (joins(at - 1) || is_before(2) && joins(at - 2))
    };
    any_joint_sign(stretch, |at| match stretch[at] {
        b'\n' => breaks(at),
        _ => joins(start + at),
    })
}

/// Whether something holds for any line break, backslash or quote of a text.
fn any_joint_sign(text: &[u8], mut holds: impl FnMut(usize) -> bool) -> bool {
    const BLOCK: usize = 16;
    // Every line has one: to ask for the next one by itself would cost more
    // than to read what is between.
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    for (number, block) in blocks.iter().enumerate() {
        let block = u8x16::new(*block);
        let is = |sign: u8| block.simd_eq(u8x16::splat(sign));
        let signs = is(b'\n') | is(b'\\') | is(b'"') | is(b'\'') | is(b'`');
        let mut found = signs.to_bitmask();
        while found != 0 {
            if holds(number * BLOCK + found.trailing_zeros() as usize) {
                return true;
            }
            found &= found - 1;
        }
    }
    let read = text.len() - rest.len();
    let is_sign = |byte: &u8| matches!(byte, b'\n' | b'\\' | b'"' | b'\'' | b'`');
    (read..).zip(rest).any(|(at, byte)| is_sign(byte) && holds(at))
}

#[cfg(test)]
mod tests;
