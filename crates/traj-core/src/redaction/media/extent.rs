//! Finds where a data URI ends inside a longer string.
//!
//! Base64 ends at the first character outside its alphabet. Any other body ends
//! with the SVG that it contains, at the quote that matches the one before the
//! URI, or like any other URI: at a space, an unmatched bracket, a line end.

use super::head::UriHead;
use super::picture::{Beginning, Pictures, beginning};
use super::reader::Coding;

/// How far after the head an SVG may begin: comments and a doctype come first.
const PROLOGUE: usize = 2048;

/// How far into an SVG its namespace may be.
const OPENING: usize = 512;

/// A quote after more backslashes than this is an ordinary character.
const MOST_BACKSLASHES: usize = 3;

/// Finds the ends of all data URIs in one string, in linear time.
pub(super) struct Extents<'t> {
    text: &'t [u8],
    pictures: Option<Pictures>,
}

impl<'t> Extents<'t> {
    pub(super) const fn new(text: &'t [u8]) -> Self {
        Self { text, pictures: None }
    }

    /// Where the URI with this head ends.
    pub(super) fn end(&mut self, head: &UriHead<'_>) -> usize {
        let body = self.text.get(head.body..).unwrap_or_default();
        if head.coding == Coding::Base64 {
            return head.body + base64_length(body);
        }
        let quote = Quote::before(self.text, head.start);
        let Some((start, closed)) = self.picture(head.body, body) else {
            let quoted = quote.and_then(|quote| quote.length(body, QuotedLines::One));
            return head.body + quoted.unwrap_or_else(|| address_length(body));
        };
        if let Some(end) = closed {
            // In code, the rest of an SVG may be in another string literal.
            let drawing = self.text.get(head.body..end).unwrap_or_default();
            let quoted = quote.and_then(|quote| quote.length(drawing, QuotedLines::Any));
            return quoted.map_or(end, |length| head.body + length);
        }
        let length =
            quote.and_then(|quote| quote.length(body, QuotedLines::One)).unwrap_or_else(|| {
                let opening = self.text.get(start..).unwrap_or_default();
                if says_drawing(opening) { line_length(body) } else { address_length(body) }
            });
        head.body + length
    }

    /// Where the SVG in a body begins, and where it ends if it is closed.
    fn picture(&mut self, place: usize, body: &[u8]) -> Option<(usize, Option<usize>)> {
        let prologue = match beginning(body)? {
            Beginning::Prologue => PROLOGUE,
            Beginning::Element => 1,
        };
        let text = self.text;
        let pictures = self.pictures.get_or_insert_with(|| Pictures::of(text));
        pictures.first_in(place, place + prologue)
    }
}

/// Whether an unclosed SVG is a real one that was cut off, and not an example in
/// prose: browsers show an SVG data URI only if it has a namespace.
fn says_drawing(opening: &[u8]) -> bool {
    let opening = opening.get(..OPENING).unwrap_or(opening);
    memchr::memmem::find(opening, b"xmlns=")
        .and_then(|place| opening.get(place.checked_sub(1)?))
        .is_some_and(u8::is_ascii_whitespace)
}

/// Length of the base64 at the start of a string, with or without percent
/// escapes.
fn base64_length(text: &[u8]) -> usize {
    let mut place = 0;
    while let Some(byte) = text.get(place) {
        place += match byte {
            b'+' | b'/' | b'=' | b'-' | b'_' => 1,
            _ if byte.is_ascii_alphanumeric() => 1,
            b'%' if is_base64_escape(text.get(place + 1..place + 3)) => 3,
            _ => break,
        };
    }
    place
}

/// Whether these digits represent `+`, `/`, `=` or a line break.
fn is_base64_escape(digits: Option<&[u8]>) -> bool {
    digits.is_some_and(|digits| {
        [b"2B", b"2F", b"3D", b"0A", b"0D"].iter().any(|known| digits.eq_ignore_ascii_case(*known))
    })
}

fn line_length(text: &[u8]) -> usize {
    let end = memchr::memchr2(b'\n', b'\r', text).unwrap_or(text.len());
    text.get(..end).unwrap_or_default().trim_ascii_end().len()
}

/// Length of the unquoted URI at the start of a string. Punctuation at its end
/// belongs to the sentence, an unmatched bracket to the text around it.
fn address_length(text: &[u8]) -> usize {
    let is_tag = text.first() == Some(&b'<');
    let mut open = 0_usize;
    let end = text.iter().position(|byte| match byte {
        b'(' => {
            open += 1;
            false
        }
        b')' if open == 0 => true,
        b')' => {
            open -= 1;
            false
        }
        b'<' | b'>' => !is_tag,
        b'"' | b'`' | b'\\' | b'{' | b'}' | b'|' | b'^' => true,
        _ => !byte.is_ascii_graphic(),
    });
    let address = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
    let ends_sentence = |byte: &u8| {
        matches!(byte, b'.' | b',' | b';' | b':' | b'!' | b'?' | b'\'' | b']' | b'*' | b'_')
    };
    address.iter().rposition(|byte| !ends_sentence(byte)).map_or(0, |last| last + 1)
}

/// How many lines a quoted string may span.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QuotedLines {
    One,
    Any,
}

/// The quote before a URI, and the number of backslashes before that quote.
#[derive(Clone, Copy)]
struct Quote {
    mark: u8,
    backslashes: usize,
}

impl Quote {
    fn before(text: &[u8], start: usize) -> Option<Self> {
        let (mark, before) = text.get(..start)?.split_last()?;
        let backslashes = backslashes_before(before);
        (matches!(mark, b'"' | b'\'' | b'`') && backslashes <= MOST_BACKSLASHES)
            .then_some(Self { mark: *mark, backslashes })
    }

    /// Length of the string up to the quote that matches this one. The quotes
    /// around an attribute value do not match it; on one line, the search gives
    /// up at the first of them.
    fn length(self, text: &[u8], lines: QuotedLines) -> Option<usize> {
        let mut is_in_value = false;
        for place in memchr::memchr3_iter(self.mark, b'\n', b'\r', text) {
            if text.get(place) != Some(&self.mark) {
                if lines == QuotedLines::One {
                    return None;
                }
                continue;
            }
            let before = text.get(..place).unwrap_or_default();
            let backslashes = backslashes_before(before);
            let before = before.get(..place - backslashes).unwrap_or_default();
            if backslashes > self.backslashes {
                continue;
            }
            if is_in_value {
                is_in_value = false;
            } else if !before.ends_with(b"=") {
                return Some(before.len());
            } else if lines == QuotedLines::One {
                return None;
            } else {
                is_in_value = true;
            }
        }
        None
    }
}

/// Number of backslashes at the end of a string, up to one too many.
fn backslashes_before(text: &[u8]) -> usize {
    let limit = MOST_BACKSLASHES + 1;
    text.iter().rev().take(limit).take_while(|byte| **byte == b'\\').count()
}
