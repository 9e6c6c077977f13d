//! Measures and digests the bytes that a string encodes, in pieces.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use sha2::{Digest as _, Sha256};

use super::Medium;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
pub(super) const STANDARD: GeneralPurpose =
    GeneralPurpose::new(&base64::alphabet::STANDARD, LENIENT);

/// Encoded bytes that are decoded at once.
const PIECE: usize = 16 * 1024;

/// How a string encodes bytes. Both codings may be percent-encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Coding {
    #[default]
    Base64,
    /// Each byte represents itself.
    Plain,
}

/// Measures and digests the bytes that a string encodes, in pieces.
#[derive(Clone, Debug, Default)]
pub(super) struct Reader {
    coding: Coding,
    escape: Escape,
    hash: Sha256,
    bytes: u64,
    buffer: Vec<u8>,
    decoded: Vec<u8>,
}

impl Reader {
    pub(super) fn new(coding: Coding) -> Self {
        Self { coding, ..Self::default() }
    }

    pub(super) fn push(&mut self, text: &[u8]) {
        for byte in text {
            match self.escape.next(*byte) {
                Step::Byte(byte) => self.take(byte),
                Step::Held => {}
                Step::NoEscape(held, length) => {
                    held.iter().take(length).for_each(|byte| self.take(*byte));
                }
            }
        }
    }

    fn take(&mut self, byte: u8) {
        let byte = match (self.coding, byte) {
            (Coding::Plain, _) => byte,
            (Coding::Base64, b'-') => b'+',
            (Coding::Base64, b'_') => b'/',
            (Coding::Base64, b'+' | b'/' | b'=') => byte,
            (Coding::Base64, _) if byte.is_ascii_alphanumeric() => byte,
            (Coding::Base64, _) => return,
        };
        self.buffer.push(byte);
        if self.buffer.len() == PIECE {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.decoded.clear();
        let is_decoded = self.coding == Coding::Base64
            && STANDARD.decode_vec(&self.buffer, &mut self.decoded).is_ok();
        if is_decoded {
            self.hash.update(&self.decoded);
            self.bytes += self.decoded.len() as u64;
        } else {
            // Digest undecodable bytes unchanged.
            self.hash.update(&self.buffer);
            self.bytes += match self.coding {
                Coding::Base64 => self.buffer.len() * 3 / 4,
                Coding::Plain => self.buffer.len(),
            } as u64;
        }
        self.buffer.clear();
    }

    pub(super) fn finish(mut self, media_type: &str) -> Medium {
        let (held, length) = self.escape.rest();
        held.iter().take(length).for_each(|byte| self.take(*byte));
        self.flush();
        let mut sha256 = String::with_capacity(64);
        for byte in self.hash.finalize() {
            // Writing to a string cannot fail.
            let _ = write!(sha256, "{byte:02x}");
        }
        Medium { media_type: clean_type(media_type), bytes: self.bytes, sha256 }
    }
}

/// A media type cut down to characters that cannot break the marker.
fn clean_type(media_type: &str) -> String {
    let cleaned: String = media_type
        .trim()
        .chars()
        .take_while(|letter| {
            letter.is_ascii_alphanumeric() || matches!(letter, '/' | '+' | '-' | '.')
        })
        .take(64)
        .collect::<String>()
        .to_ascii_lowercase();
    if cleaned.is_empty() { "application/octet-stream".to_owned() } else { cleaned }
}

/// A percent escape while it is incomplete; it may continue in the next piece.
#[derive(Clone, Copy, Debug, Default)]
struct Escape {
    held: [u8; 3],
    length: usize,
}

/// The result of one byte.
enum Step {
    Byte(u8),
    Held,
    /// These bytes are not an escape and represent themselves.
    NoEscape([u8; 3], usize),
}

impl Escape {
    fn next(&mut self, byte: u8) -> Step {
        if self.length == 0 && byte != b'%' {
            return Step::Byte(byte);
        }
        let before = self.length;
        if before > 0 && byte == b'%' {
            // The held bytes are not an escape; this `%` may start one.
            let (held, length) = self.rest();
            *self = Self { held: [b'%', 0, 0], length: 1 };
            return Step::NoEscape(held, length);
        }
        if let Some(slot) = self.held.get_mut(before) {
            *slot = byte;
        }
        self.length += 1;
        if before > 0 && !byte.is_ascii_hexdigit() {
            let (held, length) = self.rest();
            return Step::NoEscape(held, length);
        }
        let [_, high, low] = self.held;
        match (self.length, hex_value(high), hex_value(low)) {
            (3, Some(high), Some(low)) => {
                self.length = 0;
                Step::Byte(high * 16 + low)
            }
            _ => Step::Held,
        }
    }

    /// Takes the bytes that were held back.
    const fn rest(&mut self) -> ([u8; 3], usize) {
        let rest = (self.held, self.length);
        self.length = 0;
        rest
    }
}

fn hex_value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(coding: Coding, pieces: &[&str]) -> Medium {
        let mut reader = Reader::new(coding);
        pieces.iter().for_each(|piece| reader.push(piece.as_bytes()));
        reader.finish("image/png")
    }

    #[test]
    fn the_decoded_original_is_measured_and_digested() {
        let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        for text in ["aGVsbG8=", "aGVs\nbG8=", "aGVsbG8%3D", "a%47Vs%0AbG8%3d", "%aGVsbG8="] {
            let medium = read(Coding::Base64, &[text]);
            assert_eq!((medium.bytes, medium.sha256.as_str()), (5, hello), "{text}");
        }
        for text in ["hello", "%68ello", "hell%6f", "%68%65%6C%6c%6F"] {
            let medium = read(Coding::Plain, &[text]);
            assert_eq!((medium.bytes, medium.sha256.as_str()), (5, hello), "{text}");
        }
    }

    #[test]
    fn an_invalid_escape_represents_itself() {
        for (text, bytes) in [("100%", 4), ("%4", 2), ("%%41", 2), ("%4%41", 3), ("%zz%41", 4)] {
            assert_eq!(read(Coding::Plain, &[text]).bytes, bytes, "{text}");
        }
    }

    #[test]
    fn a_long_string_is_digested_as_one() {
        let bytes: Vec<u8> = (0..100_000_u32).map(|place| (place % 251) as u8).collect();
        let medium = read(Coding::Base64, &[&STANDARD.encode(&bytes)]);
        assert_eq!(medium.bytes, 100_000);
        let mut plain = Reader::new(Coding::Plain);
        bytes.iter().for_each(|byte| plain.push(format!("%{byte:02x}").as_bytes()));
        assert_eq!(plain.finish("image/png"), medium);
    }

    proptest! {
        #[test]
        fn pieces_give_the_same_result(text in "[%0-9a-f+z]{0,30}", cut in 0_usize..30) {
            let (first, second) = text.split_at(cut.min(text.len()));
            for coding in [Coding::Base64, Coding::Plain] {
                prop_assert_eq!(read(coding, &[first, second]), read(coding, &[&text]));
            }
        }
    }
}
