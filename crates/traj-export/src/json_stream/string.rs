//! The content of a JSON string of any length, read from a source.

use traj_core::port::Source;

use crate::json_stream::rows::ByteRange;
use crate::json_stream::splitter::{ByteStream, ReadError};

/// How much of the literal is read at once.
const PIECE: usize = 64 * 1024;

/// The length of the longest escape: a surrogate pair.
const LONGEST_ESCAPE: usize = 12;

/// The content of a JSON string, with its escapes decoded.
pub(crate) struct LiteralBytes<'s> {
    source: &'s dyn Source,
    place: ByteRange,
    /// How much of the literal was read so far.
    at: u64,
    raw: Vec<u8>,
    text: Vec<u8>,
    given: usize,
}

impl<'s> LiteralBytes<'s> {
    pub(crate) const fn new(source: &'s dyn Source, place: ByteRange) -> Self {
        Self { source, place, at: 0, raw: Vec::new(), text: Vec::new(), given: 0 }
    }

    /// Reads a piece and decodes its escapes, except one at the end that may be
    /// incomplete.
    fn fill(&mut self) -> Result<(), ReadError> {
        let left = usize::try_from(self.place.length - self.at).unwrap_or(usize::MAX);
        let start = self.raw.len();
        self.raw.resize(start + left.min(PIECE), 0);
        let piece = self.raw.get_mut(start..).unwrap_or_default();
        self.source.read_exact_at(self.place.offset + self.at, piece)?;
        self.at += piece.len() as u64;
        let is_last = self.at == self.place.length;
        self.text.clear();
        self.given = 0;
        let mut taken = 0;
        while let Some(rest) = self.raw.get(taken..).filter(|rest| !rest.is_empty()) {
            let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
            self.text.extend_from_slice(rest.get(..plain).unwrap_or_default());
            taken += plain;
            let escape = rest.get(plain..).unwrap_or_default();
            if escape.is_empty() || escape.len() < LONGEST_ESCAPE && !is_last {
                break;
            }
            let (letter, length) = unescape(escape);
            let mut bytes = [0; 4];
            self.text.extend_from_slice(letter.encode_utf8(&mut bytes).as_bytes());
            taken += length;
        }
        self.raw.drain(..taken.min(self.raw.len()));
        Ok(())
    }
}

impl ByteStream for LiteralBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        while self.given == self.text.len() {
            if self.at == self.place.length && self.raw.is_empty() {
                return Ok(0);
            }
            self.fill()?;
        }
        let text = self.text.get(self.given..).unwrap_or_default();
        let length = text.len().min(buffer.len());
        let (to, from) = (buffer.get_mut(..length), text.get(..length));
        if let (Some(to), Some(from)) = (to, from) {
            to.copy_from_slice(from);
        }
        self.given += length;
        Ok(length)
    }
}

/// The character that an escape stands for, and the length of the escape. Half
/// a surrogate pair becomes the replacement character.
fn unescape(escape: &[u8]) -> (char, usize) {
    let letter = match escape.get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unescape_unit(escape),
        Some(other) if other.is_ascii() => char::from(*other),
        _ => return (char::REPLACEMENT_CHARACTER, 1),
    };
    (letter, 2)
}

fn unescape_unit(escape: &[u8]) -> (char, usize) {
    let unit = |at: usize| {
        let digits = std::str::from_utf8(escape.get(at..at + 4)?).ok()?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(2) else { return (char::REPLACEMENT_CHARACTER, 2) };
    let second = if escape.get(6..8) == Some(b"\\u") { unit(8) } else { None };
    let units = [Some(first), second].into_iter().flatten();
    match char::decode_utf16(units).next() {
        Some(Ok(letter)) => (letter, if letter.len_utf16() == 2 { 12 } else { 6 }),
        _ => (char::REPLACEMENT_CHARACTER, 6),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use traj_core::json::Json;
    use traj_core::memory::MemorySources;
    use traj_core::port::Sources as _;

    use super::*;

    fn text_of(literal: &str) -> String {
        let sources = MemorySources::new();
        sources.put("f", format!("..\"{literal}\".."));
        let source = sources.open("f").unwrap();
        let place = ByteRange { offset: 3, length: literal.len() as u64 };
        let mut bytes = LiteralBytes::new(&*source, place);
        let mut text = Vec::new();
        let mut buffer = [0; 1_000];
        loop {
            match bytes.read(&mut buffer).unwrap() {
                0 => return String::from_utf8(text).unwrap(),
                read => text.extend_from_slice(&buffer[..read]),
            }
        }
    }

    #[test]
    fn escapes_are_decoded_wherever_a_piece_ends() {
        assert_eq!(text_of(r#"a\n\"\\\/\u00e9\ud83d\ude00"#), "a\n\"\\/é😀");
        assert_eq!(text_of(r"\ud83d x \ude00"), "\u{fffd} x \u{fffd}");
        for filler in PIECE - 14..PIECE + 2 {
            let literal = "x".repeat(filler) + r"\ud83d\ude00é\n";
            assert_eq!(text_of(&literal), "x".repeat(filler) + "😀é\n", "{filler}");
        }
        assert_eq!(text_of(""), "");
    }

    proptest! {
        #[test]
        fn strings_round_trip(text in ".{0,300}") {
            let literal = Json::from(text.as_str()).to_line();
            let inside = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            prop_assert_eq!(text_of(inside.unwrap()), text);
        }
    }
}
