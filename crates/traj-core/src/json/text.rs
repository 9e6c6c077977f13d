//! Parses a JSON string: escapes, surrogates, and no copy where borrowing is
//! possible.

use std::borrow::Cow;

use super::parse::ParseErrorKind;
use super::plain::first_special;

/// A parsed string, and where it ended.
pub(super) struct StringLiteral<'a> {
    pub(super) text: Cow<'a, str>,
    /// Offset just after the closing quote.
    pub(super) end: usize,
}

/// Parses the string whose first character after the quote is at `start`.
pub(super) fn read(
    source: &str,
    start: usize,
) -> Result<StringLiteral<'_>, (usize, ParseErrorKind)> {
    let bytes = source.as_bytes();
    let stop = plain_end(bytes, start)?;
    if bytes[stop] == b'"' {
        // Quotes and backslashes are ASCII, so both ends are character
        // boundaries.
        let text = Cow::Borrowed(source.get(start..stop).unwrap_or_default());
        return Ok(StringLiteral { text, end: stop + 1 });
    }
    read_escaped(source, start, stop)
}

/// Parses a string that is plain up to `stop`, its first escape.
fn read_escaped(
    source: &str,
    start: usize,
    mut stop: usize,
) -> Result<StringLiteral<'_>, (usize, ParseErrorKind)> {
    let bytes = source.as_bytes();
    // Room for the whole string, unless it contains an escaped quote.
    let left = memchr::memchr(b'"', &bytes[stop..]).unwrap_or_default();
    let mut text = String::with_capacity(stop - start + left);
    let mut from = start;
    loop {
        text.push_str(source.get(from..stop).unwrap_or_default());
        if bytes[stop] == b'"' {
            return Ok(StringLiteral { text: Cow::Owned(text), end: stop + 1 });
        }
        from = escape(bytes, stop + 1, &mut text)?;
        stop = plain_end(bytes, from)?;
    }
}

/// Skips the string whose first character after the quote is at `start`;
/// returns the offset after its closing quote.
pub(super) fn skip(source: &str, start: usize) -> Result<usize, (usize, ParseErrorKind)> {
    let bytes = source.as_bytes();
    let mut from = start;
    loop {
        let stop = plain_end(bytes, from)?;
        if bytes[stop] == b'"' {
            return Ok(stop + 1);
        }
        from = skip_escape(bytes, stop + 1)?;
    }
}

/// Skips the escape at `at`, checking it as if it were parsed. The two halves
/// of a surrogate pair count as separate escapes.
fn skip_escape(bytes: &[u8], at: usize) -> Result<usize, (usize, ParseErrorKind)> {
    match bytes.get(at) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 1),
        Some(b'u') => match hex_unit(bytes, at + 1) {
            Some(_) => Ok(at + 5),
            None => Err((at + 1, ParseErrorKind::InvalidEscape)),
        },
        Some(_) => Err((at, ParseErrorKind::InvalidEscape)),
        None => Err((at, ParseErrorKind::UnexpectedEnd)),
    }
}

/// The end of the plain characters that start at `from`: a quote or a
/// backslash.
fn plain_end(bytes: &[u8], from: usize) -> Result<usize, (usize, ParseErrorKind)> {
    let Some(length) = first_special(bytes.get(from..).unwrap_or_default()) else {
        return Err((bytes.len(), ParseErrorKind::UnexpectedEnd));
    };
    let stop = from + length;
    if matches!(bytes.get(stop), Some(b'"' | b'\\')) {
        Ok(stop)
    } else {
        Err((stop, ParseErrorKind::ControlCharacter))
    }
}

/// Appends the character escaped at `at`; returns the offset after it.
fn escape(bytes: &[u8], at: usize, text: &mut String) -> Result<usize, (usize, ParseErrorKind)> {
    let plain = match bytes.get(at) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(bytes, at + 1, text),
        Some(_) => return Err((at, ParseErrorKind::InvalidEscape)),
        None => return Err((at, ParseErrorKind::UnexpectedEnd)),
    };
    text.push(plain);
    Ok(at + 1)
}

fn unicode_escape(
    bytes: &[u8],
    at: usize,
    text: &mut String,
) -> Result<usize, (usize, ParseErrorKind)> {
    let unit = hex_unit(bytes, at).ok_or((at, ParseErrorKind::InvalidEscape))?;
    let end = at + 4;
    if let Some(character) = char::from_u32(unit) {
        text.push(character);
        return Ok(end);
    }
    // A surrogate: only a high one directly followed by a low one is a
    // character.
    let low = (bytes.get(end..end + 2) == Some(b"\\u"))
        .then(|| hex_unit(bytes, end + 2))
        .flatten()
        .filter(|low| unit < 0xdc00 && (0xdc00..0xe000).contains(low));
    if let Some(low) = low {
        let scalar = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        text.push(char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER));
        return Ok(end + 6);
    }
    text.push(char::REPLACEMENT_CHARACTER);
    Ok(end)
}

fn hex_unit(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..at + 4)?
        .iter()
        .try_fold(0, |unit, byte| char::from(*byte).to_digit(16).map(|digit| (unit << 4) | digit))
}
