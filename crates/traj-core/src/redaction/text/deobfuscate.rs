//! Undoes disguises: rewrites a string the way a reader would reassemble it.
//!
//! A rewritten string has a map back to the original. The rules search the
//! rewritten string; their findings are hidden in the original.

mod disguise;
mod joint;
mod lookalike;
mod rewritten;
mod traits;

use memchr::memmem;
use wide::u8x16;

use joint::joint;
use lookalike::{Fate, fate};
use rewritten::{Deobfuscated, Rewritten};

pub(super) use disguise::may_disguise;
pub(in crate::redaction) use joint::{LONGEST_JOINT, is_token};
pub(super) use traits::Traits;

/// An equals sign in quoted-printable text.
const QUOTED_EQUALS: &[u8] = b"=3D";
/// The name of that encoding in mail headers.
const QUOTED_PRINTABLE: &[u8] = b"quoted-printable";

/// How a string is rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rewriting {
    /// Removes invisible characters and folds look-alikes to ASCII.
    Plain,
    /// Decodes `\u0067`, `\x67`, `%67`, `&#103;`, `&amp;`, `=67` and soft line
    /// breaks.
    Decoded,
    /// Removes the joints between the pieces of a token: line breaks,
    /// continuations and string concatenation.
    Joined,
}

impl Rewriting {
    /// The rewritten string, if it differs.
    pub(super) fn text(self, text: &str) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        self.write(text, &mut out).then_some(out)
    }

    /// The rewritten string with a map back to the original, if it differs. The map
    /// takes eight times the memory of the string, and most strings need none.
    pub(super) fn mapped(self, text: &str) -> Option<Deobfuscated> {
        let mut out = Deobfuscated::default();
        self.write(text, &mut out).then_some(out)
    }

    /// Returns whether anything changes; if not, the output is not complete.
    fn write(self, text: &str, out: &mut impl Rewritten) -> bool {
        if text.len() > MAX_SHADOW {
            return false;
        }
        match self {
            Self::Plain => plain(text, out),
            Self::Decoded => decoded(text.as_bytes(), out),
            Self::Joined => joined(text.as_bytes(), out),
        }
    }
}

/// Longer strings are not rewritten, because the map has 32-bit offsets.
const MAX_SHADOW: usize = u32::MAX as usize / 2;

fn plain(text: &str, out: &mut impl Rewritten) -> bool {
    let bytes = text.as_bytes();
    // NULs between all characters are UTF-16 read as bytes; NULs between
    // words separate entries.
    let nuls = memchr::memchr_iter(0, bytes).count();
    let wide = nuls > 2 && nuls * 3 >= bytes.len();
    let (mut place, mut copied) = (0, 0);
    let mut changed = false;
    while let Some(&byte) = bytes.get(place) {
        let (fate, length) = match byte {
            0 | 0x1b => (Fate::Removed, 1),
            0x80.. => fate(&bytes[place..]),
            _ => {
                place += 1;
                continue;
            }
        };
        if fate == Fate::Kept {
            place += length;
            continue;
        }
        out.copy(&bytes[copied..place], copied);
        changed = true;
        match fate {
            Fate::Folded(folded) => out.put(folded, place, length),
            _ if byte == 0 && !wide && separates(bytes, place, out.last_byte()) => {
                out.put(b'\n', place, 1);
            }
            _ => {}
        }
        place += if byte == 0x1b { 1 + colour_length(&bytes[place + 1..]) } else { length };
        copied = place;
    }
    out.copy(&bytes[copied..], copied);
    changed
}

/// Whether the NUL at `place` separates entries: before an entry of an environment
/// block it becomes a line break, inside a word it is removed.
fn separates(bytes: &[u8], place: usize, last: Option<u8>) -> bool {
    let next = &bytes[place + 1..bytes.len().min(place + 48)];
    let is_name = |byte: &&u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b'_';
    let name = next.iter().take_while(is_name).count();
    next.is_empty()
        || next.get(name) == Some(&b'=')
        || !next[0].is_ascii_alphanumeric()
        || !last.is_some_and(|byte| byte.is_ascii_alphanumeric())
}

/// The length of the rest of a colour sequence, after its escape character.
fn colour_length(rest: &[u8]) -> usize {
    if rest.first() != Some(&b'[') {
        return 0;
    }
    let is_parameter = |byte: &&u8| matches!(byte, b'0'..=b'9' | b';' | b':' | b'?' | b' ');
    let length = 1 + rest[1..].iter().take_while(is_parameter).count();
    length + usize::from(rest.get(length).is_some_and(u8::is_ascii_alphabetic))
}

fn decoded(text: &[u8], out: &mut impl Rewritten) -> bool {
    let printable = is_quoted_printable(text);
    let (mut place, mut copied) = (0, 0);
    let mut changed = false;
    while let Some(&byte) = text.get(place) {
        if !matches!(byte, b'\\' | b'%' | b'=' | b'&') {
            place += 1;
            continue;
        }
        let (decoded, length) = decode_one(&text[place..], printable);
        if length <= 1 {
            place += 1;
            continue;
        }
        out.copy(&text[copied..place], copied);
        changed = true;
        if let Some(decoded) = decoded {
            out.put(decoded, place, length);
        }
        place += length;
        copied = place;
    }
    out.copy(&text[copied..], copied);
    changed
}

/// Whether a string begins with an escape, or with a sign of the
/// quoted-printable encoding.
pub(in crate::redaction) fn is_escape(text: &[u8]) -> bool {
    match text.first() {
        Some(b'\\') => text.starts_with(b"\\u00") || text.starts_with(b"\\x"),
        Some(b'%') => hex(text.get(1..3)).is_some(),
        Some(b'&') => entity(text).is_some(),
        _ => text.starts_with(QUOTED_EQUALS) || text.starts_with(QUOTED_PRINTABLE),
    }
}

/// Whether the string seems to be quoted-printable: it names that encoding, or
/// contains the escaped equals sign `=3D`.
fn is_quoted_printable(text: &[u8]) -> bool {
    memmem::find(text, QUOTED_EQUALS).is_some() || memmem::find(text, QUOTED_PRINTABLE).is_some()
}

/// Decodes the escape or byte at the start of `rest`; returns the byte and the
/// length read.
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
        b'%' => {
            // `%2567` is `%67`, encoded twice.
            let digits = 1 + percents(rest);
            match hex(rest.get(digits..digits + 2)) {
                Some(code) if (0x20..0x7f).contains(&code) => (u8::try_from(code).ok(), digits + 2),
                _ => plain,
            }
        }
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

/// The length of the percent signs after the first one that are themselves encoded.
fn percents(rest: &[u8]) -> usize {
    const MOST: usize = 4;
    let is_encoded = |place: &usize| {
        rest.get(*place..*place + 2) == Some(b"25")
            && hex(rest.get(*place + 2..*place + 4)).is_some()
    };
    (0..MOST).map(|number| 1 + 2 * number).take_while(is_encoded).count() * 2
}

/// The ASCII character that a rewriting reads at the start of `rest`, perhaps after
/// signs that it removes; `None` if it reads what is there.
pub(super) fn disguised(mut rest: &[u8]) -> Option<u8> {
    loop {
        let (found, length) = match rest.first()? {
            0 => (Fate::Removed, 1),
            0x1b => (Fate::Removed, 1 + colour_length(&rest[1..])),
            0x80.. => fate(rest),
            _ => (Fate::Kept, 1),
        };
        match found {
            Fate::Removed => rest = rest.get(length..)?,
            Fate::Folded(folded) => return Some(folded),
            Fate::Kept => {
                let (decoded, length) = decode_one(rest, true);
                return decoded.filter(|_| length > 1);
            }
        }
    }
}

fn entity(rest: &[u8]) -> Option<(Option<u8>, usize)> {
    // Most ampersands are operators in code.
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

fn joined(text: &[u8], out: &mut impl Rewritten) -> bool {
    let (mut place, mut copied) = (0, 0);
    let mut changed = false;
    while let Some(&byte) = text.get(place) {
        if !matches!(byte, b'\n' | b'\r' | b'=' | b'\\' | b'"' | b'\'' | b'`') {
            place += 1;
            continue;
        }
        // The last byte that was kept.
        let last = if place > copied { text.get(place - 1).copied() } else { out.last_byte() };
        let length = if last.is_some_and(is_token) { joint(&text[place..]) } else { 0 };
        if length == 0 {
            place += 1;
            continue;
        }
        out.copy(&text[copied..place], copied);
        changed = true;
        place += length;
        copied = place;
    }
    out.copy(&text[copied..], copied);
    changed
}

/// Whether there is a joint after a token character in `start..end`. Most strings
/// have none and need no rewriting.
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

/// Whether `holds` is true for the position of any line break, backslash or
/// quote.
fn any_joint_sign(text: &[u8], mut holds: impl FnMut(usize) -> bool) -> bool {
    const BLOCK: usize = 16;
    // These signs are frequent: a separate search for each next one would cost
    // more than comparing every byte.
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
