//! Secrets inside base64, hexadecimal and compressed data.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use wide::u8x16;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Shorter runs are not decoded.
pub(super) const MIN_RUN: usize = 24;
/// Only the start of a longer run is decoded: such a run is a file, and files are
/// media.
const MAX_RUN: usize = 64 * 1024;
/// Compressed data is unpacked up to this size, and up to `MAX_RATIO` times its
/// own size.
const MAX_UNPACKED: usize = 64 * 1024;
const MAX_RATIO: usize = 32;

/// How many bytes of a run are decoded first, to decide whether to decode the
/// rest.
const HEAD: usize = 64;
const HEX_HEAD: usize = 16;

/// A run of characters that may be encoded data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redaction) struct EncodedRun {
    pub(in crate::redaction) start: usize,
    pub(in crate::redaction) end: usize,
}

const RUN: u8 = 1;
const HEX: u8 = 2;
const TOKEN: u8 = 4;

const fn table() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0_usize;
    while byte < 128 {
        let letter = byte as u8;
        if letter.is_ascii_alphanumeric() || matches!(letter, b'+' | b'/' | b'_' | b'-') {
            table[byte] |= RUN;
        }
        if letter.is_ascii_hexdigit() {
            table[byte] |= HEX;
        }
        if letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'-' | b'.') {
            table[byte] |= TOKEN;
        }
        byte += 1;
    }
    table
}

static TABLE: [u8; 256] = table();

/// All runs of at least [`MIN_RUN`] characters, including their padding.
pub(in crate::redaction) fn runs(text: &[u8]) -> Vec<EncodedRun> {
    let mut out = Vec::new();
    rows(text, |start, end| {
        let mut padded = end;
        while padded < text.len() && text[padded] == b'=' && padded < end + 2 {
            padded += 1;
        }
        while padded + 2 < text.len()
            && padded < end + 6
            && text[padded] == b'%'
            && text[padded + 1] == b'3'
            && matches!(text[padded + 2], b'D' | b'd')
        {
            padded += 3;
        }
        out.push(EncodedRun { start, end: padded });
    });
    out
}

/// Reports every gapless sequence of at least [`MIN_RUN`] run characters.
fn rows(text: &[u8], mut found: impl FnMut(usize, usize)) {
    // Every byte is checked, 16 at a time and without branches that depend on
    // words: jumping from word to word costs more.
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    let mut start = 0;
    let mut end_at = |start: usize, end: usize| {
        if end - start >= MIN_RUN {
            found(start, end);
        }
    };
    for (number, block) in blocks.iter().enumerate() {
        let others = others_in(*block);
        if others != 0 {
            let place = number * BLOCK;
            // A row that fits between two other bytes of a block is too short.
            end_at(start, place + others.trailing_zeros() as usize);
            start = place + others.ilog2() as usize + 1;
        }
    }
    let read = blocks.len() * BLOCK;
    for (at, byte) in (read..).zip(rest) {
        if TABLE[usize::from(*byte)] & RUN == 0 {
            end_at(start, at);
            start = at + 1;
        }
    }
    end_at(start, text.len());
}

/// The number of bytes that are checked together.
const BLOCK: usize = 16;
// Otherwise a whole run could be inside a block.
const _: () = assert!(MIN_RUN + 1 >= BLOCK);

/// One bit for each byte of a block, set if the byte is not in a run.
#[inline]
fn others_in(block: [u8; BLOCK]) -> u32 {
    let block = u8x16::new(block);
    let is = |byte: u8| block.simd_eq(u8x16::splat(byte));
    let within = |bytes: u8x16, first: u8, last: u8| {
        bytes.max(u8x16::splat(first)).min(u8x16::splat(last)).simd_eq(bytes)
    };
    // Sets the bit that distinguishes upper and lower case; no other character
    // becomes a letter.
    let letter = within(block | u8x16::splat(0x20), b'a', b'z');
    let digit_or_slash = within(block, b'/', b'9');
    let run = letter | digit_or_slash | is(b'+') | is(b'-') | is(b'_');
    !run.to_bitmask() & 0xffff
}

/// The run with the letters, digits, underscores, hyphens and dots next to it, up
/// to a limit.
pub(in crate::redaction) fn token_around(text: &[u8], run: EncodedRun) -> (usize, usize) {
    const MOST_BEFORE: usize = 40;
    const MOST_AFTER: usize = 80;
    let is_token = |byte: &&u8| TABLE[usize::from(**byte)] & TOKEN != 0;
    let before = text.get(..run.start).unwrap_or_default().iter().rev().take(MOST_BEFORE);
    let after = text.get(run.end..).unwrap_or_default().iter().take(MOST_AFTER);
    let before = before.take_while(is_token).count();
    (run.start - before, run.end + after.take_while(is_token).count())
}

/// Whether there is a row of `least` letters, digits, underscores, hyphens and
/// dots.
pub(in crate::redaction) fn has_token_of(least: usize, text: &[u8]) -> bool {
    let mut place = 0;
    // Read backwards: the search continues after the last byte of another kind,
    // so most bytes are never read.
    while let Some(row) = text.get(place..place + least) {
        match row.iter().rposition(|byte| TABLE[usize::from(*byte)] & TOKEN == 0) {
            Some(other) => place += other + 1,
            None => return true,
        }
    }
    false
}

/// The decoded run, if it is readable text.
pub(super) fn decode(run: &[u8]) -> Option<Vec<u8>> {
    let body = run.split(|byte| matches!(byte, b'=' | b'%')).next().unwrap_or(run);
    let body = &body[..body.len().min(MAX_RUN)];
    if body.len() % 2 == 0 && body.iter().all(|byte| TABLE[usize::from(*byte)] & HEX != 0) {
        return if is_hopeless(body.len() / 2, unhex(body).take(HEX_HEAD)) {
            None
        } else {
            readable(unhex(body).collect())
        };
    }
    let is_url_safe = body.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let engine = if is_url_safe { &URL_SAFE } else { &STANDARD };
    // Decode the first bytes before all of it: most runs are digests and other
    // binary data.
    let mut head = [0; HEAD];
    let first = &body[..body.len().min(HEAD) / 4 * 4];
    let length = engine.decode_slice(first, &mut head).ok()?;
    let head = head.get(..length)?;
    let is_packed = matches!(head, [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] | [0x1f, 0x8b, 8, ..]);
    if !is_packed && is_hopeless(body.len() * 3 / 4, head.iter().copied()) {
        return None;
    }
    let bytes = engine.decode(body).ok()?;
    let limit = (bytes.len() * MAX_RATIO).min(MAX_UNPACKED);
    match bytes.as_slice() {
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => {
            unpacked(miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&bytes, limit))
        }
        [0x1f, 0x8b, 8, flags, ..] => {
            let head = gzip_head(&bytes, *flags)?;
            let body = bytes.get(head..)?;
            unpacked(miniz_oxide::inflate::decompress_to_vec_with_limit(body, limit))
        }
        _ => readable(bytes),
    }
}

fn unpacked(result: Result<Vec<u8>, miniz_oxide::inflate::DecompressError>) -> Option<Vec<u8>> {
    let bytes = match result {
        Ok(bytes) => bytes,
        // Search the part that could be unpacked.
        Err(error) => error.output,
    };
    readable(bytes)
}

/// The length of a gzip header with its optional parts.
fn gzip_head(bytes: &[u8], flags: u8) -> Option<usize> {
    let mut place = 10;
    if flags & 4 != 0 {
        let length = usize::from(*bytes.get(place)?) | usize::from(*bytes.get(place + 1)?) << 8;
        place += 2 + length;
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            place += memchr::memchr(0, bytes.get(place..)?)? + 1;
        }
    }
    if flags & 2 != 0 {
        place += 2;
    }
    Some(place)
}

fn unhex(digits: &[u8]) -> impl Iterator<Item = u8> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit.wrapping_sub(b'A') + 10,
    };
    digits.chunks_exact(2).map(move |pair| value(pair[0]) << 4 | value(pair[1]))
}

const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() || matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | 0x1b)
}

/// Whether `length` bytes cannot be text, because too many of the first ones are
/// not.
fn is_hopeless(length: usize, head: impl Iterator<Item = u8>) -> bool {
    head.filter(|byte| !is_plain(*byte)).count() * 20 > length
}

/// The bytes, if they are text.
fn readable(bytes: Vec<u8>) -> Option<Vec<u8>> {
    let plain = bytes.iter().filter(|byte| is_plain(**byte)).count();
    (bytes.len() >= 6 && plain * 20 >= bytes.len() * 19).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn runs_are_found_at_any_position() {
        let token = "a".repeat(MIN_RUN);
        for before in 0..MIN_RUN + 2 {
            let text = format!("{}{token}== tail", " ".repeat(before));
            assert_eq!(
                runs(text.as_bytes()),
                [EncodedRun { start: before, end: before + MIN_RUN + 2 }]
            );
        }
        assert!(runs(b"short words only in this line of text").is_empty());
    }

    proptest! {
        #[test]
        fn every_byte_is_in_the_run_that_the_table_says(
            text in prop::collection::vec(
                prop_oneof![20 => b'0'..=b'z', 2 => any::<u8>(), 1 => Just(b'+')], 0..200,
            ),
        ) {
            let is_run = |byte: &u8| TABLE[usize::from(*byte)] & RUN != 0;
            let mut expected = Vec::new();
            let mut start = 0;
            for row in text.split(|byte| !is_run(byte)) {
                if row.len() >= MIN_RUN {
                    expected.push((start, start + row.len()));
                }
                start += row.len() + 1;
            }
            let mut found = Vec::new();
            rows(&text, |start, end| found.push((start, end)));
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_token_is_found_at_any_position() {
        for before in 0..12 {
            let text = format!("{}a_b-c.d {}", "x ".repeat(before), "y".repeat(6));
            assert!(has_token_of(7, text.as_bytes()), "{text}");
            assert!(!has_token_of(8, text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn encodings_are_decoded() {
        let plain = b"password=hunter2 and more";
        assert_eq!(decode(STANDARD.encode(plain).as_bytes()).as_deref(), Some(&plain[..]));
        let digits: String = plain.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(decode(digits.as_bytes()).as_deref(), Some(&plain[..]));
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(plain, 6);
        assert_eq!(decode(STANDARD.encode(packed).as_bytes()).as_deref(), Some(&plain[..]));
    }

    #[test]
    fn both_packed_forms_obey_the_ratio() {
        let plain = vec![b'a'; 60_000];
        let zlib = miniz_oxide::deflate::compress_to_vec_zlib(&plain, 9);
        let mut gzip = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        gzip.extend(miniz_oxide::deflate::compress_to_vec(&plain, 9));
        for packed in [zlib, gzip] {
            let text = decode(STANDARD.encode(&packed).as_bytes()).unwrap();
            assert!(text.len() <= packed.len() * MAX_RATIO, "{} of {}", text.len(), packed.len());
            assert!(text.len() > packed.len());
        }
    }

    #[test]
    fn binary_data_is_not_readable() {
        assert_eq!(decode(b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"), None);
    }
}
