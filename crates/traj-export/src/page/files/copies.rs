//! Long strings that the events contain already are not stored again: the other
//! file refers to them.
//!
//! A bundle contains every message twice, as an event and in the branch. A file
//! in this encoding is its bytes, in which a string that a row of the events
//! contains is replaced by [`COPY`] and three numbers: the row, where in the row
//! the string begins, and how long it is.

use std::collections::HashMap;

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use traj_core::port::{BundleContent, BundleSourceError};

use super::CHUNK_BYTES;

/// What a copy begins with. A file that contains it is stored as it is.
pub(in crate::page) const COPY: u8 = 0x01;

/// The name of the encoding in the head.
pub(in crate::page) const ENCODING: &str = "copies";

/// Shorter strings are stored again.
const SHORTEST: usize = 48;

/// Longer strings too.
const LONGEST: usize = 128 * 1024;

/// At most this many strings are remembered.
const MOST_STRINGS: usize = 400_000;

/// Finds the strings in JSON text that comes in blocks.
#[derive(Debug, Default)]
struct StringFinder {
    is_inside: bool,
    is_escaped: bool,
    /// The string so far, unless it is too long.
    string: Vec<u8>,
    is_too_long: bool,
}

/// A part of JSON text.
#[derive(Clone, Copy)]
enum TextPart<'t> {
    /// Anything that is not a string, with the quotes around strings.
    Other(&'t [u8]),
    /// A piece of a string that is too long.
    Piece(&'t [u8]),
    /// A string, without its quotes.
    String(&'t [u8]),
}

impl StringFinder {
    fn push(&mut self, mut block: &[u8], show: &mut dyn FnMut(TextPart<'_>)) {
        while !block.is_empty() {
            let end = if self.is_inside {
                self.end_of_string(block)
            } else {
                memchr::memchr(b'"', block)
            };
            let count = end.unwrap_or(block.len());
            let (part, rest) = block.split_at_checked(count).unwrap_or((block, &[]));
            if self.is_inside {
                self.add(part, show);
            } else {
                show(TextPart::Other(part));
            }
            let Some((quote, rest)) = rest.split_at_checked(1) else { break };
            if self.is_inside {
                if !self.is_too_long {
                    show(TextPart::String(&self.string));
                }
                self.string.clear();
                self.is_too_long = false;
            }
            self.is_inside = !self.is_inside;
            show(TextPart::Other(quote));
            block = rest;
        }
    }

    /// Adds a part of a string.
    fn add(&mut self, part: &[u8], show: &mut dyn FnMut(TextPart<'_>)) {
        if !self.is_too_long && self.string.len() + part.len() <= LONGEST {
            self.string.extend_from_slice(part);
            return;
        }
        show(TextPart::Piece(&self.string));
        self.string.clear();
        self.is_too_long = true;
        show(TextPart::Piece(part));
    }

    /// Where the string that continues in this block ends.
    fn end_of_string(&mut self, block: &[u8]) -> Option<usize> {
        let mut place = usize::from(std::mem::take(&mut self.is_escaped));
        loop {
            let found = place + memchr::memchr2(b'"', b'\\', block.get(place..)?)?;
            if block.get(found) == Some(&b'"') {
                return Some(found);
            }
            if found + 1 == block.len() {
                self.is_escaped = true;
                return None;
            }
            place = found + 2;
        }
    }

    /// Shows a string that does not end.
    fn finish(&mut self, show: &mut dyn FnMut(TextPart<'_>)) {
        show(TextPart::Piece(&self.string));
        self.string.clear();
    }
}

/// The strings of the events, and where they are.
#[derive(Debug, Default)]
pub(in crate::page) struct KnownStrings {
    places: HashMap<[u8; 16], (u32, u32)>,
    finder: StringFinder,
    row: u32,
    /// How much of the row was seen.
    offset: usize,
    /// The strings of the row so far.
    pending: Vec<([u8; 16], u32)>,
}

impl KnownStrings {
    /// Takes the next bytes of the events.
    pub(in crate::page) fn push(&mut self, block: &[u8]) {
        let mut finder = std::mem::take(&mut self.finder);
        finder.push(block, &mut |part| match part {
            TextPart::Other(bytes) | TextPart::Piece(bytes) => self.pass(bytes),
            TextPart::String(string) => {
                // A row that is damaged may have a string over its end.
                let is_whole = memchr::memchr(b'\n', string).is_none();
                if string.len() >= SHORTEST
                    && is_whole
                    && let Ok(start) = u32::try_from(self.offset)
                {
                    self.pending.push((name_of(string), start));
                }
                self.pass(string);
            }
        });
        self.finder = finder;
    }

    /// Counts rows, and remembers the strings of a complete row.
    fn pass(&mut self, bytes: &[u8]) {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            // A longer row is a separate chunk, which is not read for copies.
            let is_readable = ((self.offset + end - start) as u64) < CHUNK_BYTES;
            for (name, place) in self.pending.drain(..) {
                if is_readable && self.places.len() < MOST_STRINGS {
                    self.places.entry(name).or_insert((self.row, place));
                }
            }
            self.row = self.row.saturating_add(1);
            (self.offset, start) = (0, end + 1);
        }
        self.offset += bytes.len() - start;
    }
}

fn name_of(string: &[u8]) -> [u8; 16] {
    let digest: [u8; 32] = Sha256::digest(string).into();
    let mut name = [0; 16];
    name.copy_from_slice(digest.split_at(16).0);
    name
}

/// Where the content of a chunk begins in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(in crate::page) struct ChunkStart {
    /// How many bytes at its beginning belong to a reference in the chunk before.
    skip: u64,
    /// The offset of what follows, in the file.
    offset: u64,
}

/// Finds out where chunks begin while a file is encoded.
#[derive(Debug, Default)]
struct StartFinder {
    encoded: u64,
    offset: u64,
    starts: Vec<ChunkStart>,
}

impl StartFinder {
    /// Takes the next bytes: how many there are in the file, and encoded.
    fn pass(&mut self, bytes: u64, encoded: u64) {
        let end = self.encoded + encoded;
        let is_literal = bytes == encoded;
        while let chunk = self.starts.len() as u64 * CHUNK_BYTES
            && chunk < end
        {
            let inside = chunk - self.encoded;
            self.starts.push(if is_literal || inside == 0 {
                ChunkStart { skip: 0, offset: self.offset + inside }
            } else {
                ChunkStart { skip: end - chunk, offset: self.offset + bytes }
            });
        }
        self.encoded = end;
        self.offset += bytes;
    }
}

/// A file in this encoding, while it is read.
pub(in crate::page) struct CopyingContent<'c> {
    content: &'c mut dyn BundleContent,
    known: &'c KnownStrings,
    finder: StringFinder,
    block: Vec<u8>,
    encoded: Vec<u8>,
    taken: usize,
    is_over: bool,
    starts: StartFinder,
    /// Whether the file contains [`COPY`] itself.
    pub(in crate::page) is_ambiguous: bool,
}

impl<'c> CopyingContent<'c> {
    pub(in crate::page) fn new(
        content: &'c mut dyn BundleContent,
        known: &'c KnownStrings,
    ) -> Self {
        Self {
            content,
            known,
            finder: StringFinder::default(),
            block: vec![0; 64 * 1024],
            encoded: Vec::new(),
            taken: 0,
            is_over: false,
            starts: StartFinder::default(),
            is_ambiguous: false,
        }
    }

    /// Where the chunks begin, once everything is read.
    pub(in crate::page) fn into_starts(self) -> Vec<ChunkStart> {
        self.starts.starts
    }
}

impl BundleContent for CopyingContent<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, BundleSourceError> {
        while self.taken == self.encoded.len() && !self.is_over {
            (self.taken, self.encoded) = (0, std::mem::take(&mut self.encoded));
            self.encoded.clear();
            let read = self.content.read(&mut self.block)?;
            let block = self.block.get(..read).unwrap_or_default();
            self.is_ambiguous |= memchr::memchr(COPY, block).is_some();
            let (known, encoded, starts) = (self.known, &mut self.encoded, &mut self.starts);
            let mut show = |part: TextPart<'_>| {
                let before = encoded.len();
                let (TextPart::Other(bytes) | TextPart::Piece(bytes) | TextPart::String(bytes)) =
                    part;
                if let TextPart::String(string) = part {
                    encode(string, known, encoded);
                } else {
                    encoded.extend_from_slice(bytes);
                }
                starts.pass(bytes.len() as u64, (encoded.len() - before) as u64);
            };
            if read == 0 {
                self.finder.finish(&mut show);
                self.is_over = true;
            } else {
                self.finder.push(block, &mut show);
            }
        }
        let left = self.encoded.get(self.taken..).unwrap_or_default();
        let count = left.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(left) {
            *to = *from;
        }
        self.taken += count;
        Ok(count)
    }
}

/// Writes a string, or where the events contain it.
fn encode(string: &[u8], known: &KnownStrings, encoded: &mut Vec<u8>) {
    let is_long = string.len() >= SHORTEST;
    let place = is_long.then(|| known.places.get(&name_of(string))).flatten();
    let Some((row, start)) = place else {
        encoded.extend_from_slice(string);
        return;
    };
    encoded.push(COPY);
    for number in [u64::from(*row), u64::from(*start), string.len() as u64] {
        push_number(number, encoded);
    }
}

/// Seven bits in each byte, the lowest first; the highest bit says that more
/// follow.
fn push_number(mut number: u64, encoded: &mut Vec<u8>) {
    while number >= 0x80 {
        encoded.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    encoded.push((number & 0x7f) as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pieces<'t>(std::slice::Chunks<'t, u8>);

    impl BundleContent for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize, BundleSourceError> {
            let Some(piece) = self.0.next() else { return Ok(0) };
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn strings_are_found_however_they_are_cut() {
        let long = "words of the run ".repeat(4);
        let quoted = format!(r#"{long}\"and \\"#);
        let events = format!("{{\"a\":\"x\"}}\n{{\"b\":[\"{long}\",\"{quoted}\"]}}\n");
        let file = format!("{{\n  \"c\": \"{quoted}\",\n  \"d\": \"{long}\", \"e\": \"{long}");
        let start = 7;
        for size in [1, 2, 3, 7, 4_096] {
            let mut known = KnownStrings::default();
            events.as_bytes().chunks(size).for_each(|block| known.push(block));
            let mut pieces = Pieces(file.as_bytes().chunks(size));
            let mut content = CopyingContent::new(&mut pieces, &known);
            let (mut encoded, mut buffer) = (Vec::new(), [0; 5]);
            loop {
                let read = content.read(&mut buffer).unwrap();
                encoded.extend_from_slice(&buffer[..read]);
                if read == 0 {
                    break;
                }
            }
            assert!(!content.is_ambiguous);
            let second = start + long.len() + 3;
            let mut expected = b"{\n  \"c\": \"".to_vec();
            expected.extend([COPY, 1, second as u8, quoted.len() as u8]);
            expected.extend(b"\",\n  \"d\": \"");
            expected.extend([COPY, 1, start as u8, long.len() as u8]);
            expected.extend(format!("\", \"e\": \"{long}").bytes());
            assert_eq!(encoded, expected, "{size}");
        }
    }

    #[test]
    fn the_beginning_of_every_chunk_is_known() {
        let literal = CHUNK_BYTES - 3;
        let mut starts = StartFinder::default();
        for (bytes, encoded) in
            [(literal, literal), (1_000, 8), (2, 2), (2 * CHUNK_BYTES, 2 * CHUNK_BYTES)]
        {
            starts.pass(bytes, encoded);
        }
        // The reference takes three bytes of the first chunk and five of the second.
        let start = |skip, offset| ChunkStart { skip, offset };
        let second = literal + 1_000;
        let third = second + CHUNK_BYTES - 5;
        assert_eq!(
            starts.starts,
            [start(0, 0), start(5, second), start(0, third), start(0, third + CHUNK_BYTES)]
        );
    }

    #[test]
    fn rows_are_counted_even_if_they_are_damaged() {
        let long = "words of the run ".repeat(4);
        let events = format!("{{\"a\":\"cut\n\n{{\"b\":1}}\n{{\"b\":\"{long}\"}}\n");
        let mut known = KnownStrings::default();
        known.push(events.as_bytes());
        let rows: Vec<&[u8]> = events.as_bytes().split(|byte| *byte == b'\n').collect();
        let is_there = known.places.iter().all(|(name, (row, start))| {
            let rest = &rows[*row as usize][*start as usize..];
            (0..=rest.len()).any(|length| name_of(&rest[..length]) == *name)
        });
        assert!(is_there, "{:?}", known.places);
    }
}
