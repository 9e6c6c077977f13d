//! Reads the entries of a tar file and allows nothing between them. A library
//! is not enough: libraries skip bytes between entries and after the last one,
//! and read names from extensions that can hold other data too.

use std::io::{self, Read};

use traj_core::port::{BundleNames, BundleSourceError};

use super::damage::{ArchiveDamage, damaged};

const BLOCK: usize = 512;

/// The most zeros that may follow the last entry: a large tape record.
const MOST_PADDING: u64 = 1024 * 1024;

/// The header fields with octal numbers: mode and owner, time, device.
const NUMBERS: [std::ops::Range<usize>; 3] = [100..124, 136..148, 329..345];

/// The fields that must be exactly one number, because they are used: the size,
/// and the checksum of the header.
const SIZE: std::ops::Range<usize> = 124..136;
const CHECKSUM: std::ops::Range<usize> = 148..156;

/// The signatures of the three kinds of headers: GNU, POSIX and the oldest one.
const KIND: std::ops::Range<usize> = 257..265;
const KINDS: [&[u8]; 3] = [b"ustar  \0", b"ustar\x0000", &[0; 8]];

/// The fields that must be empty: the target of a link, the owner's name, the
/// prefix of a long name, and unused bytes.
const EMPTY: [std::ops::Range<usize>; 3] = [157..257, 265..329, 345..512];

/// Passes every entry of a tar file to `show`, up to the end of the stream.
pub(super) fn visit(
    stream: &mut (dyn Read + Send),
    mut show: impl FnMut(&str, &mut (dyn Read + Send)) -> Result<(), BundleSourceError>,
) -> Result<(), BundleSourceError> {
    let mut names = BundleNames::default();
    let mut block = [0; BLOCK];
    for number in 1.. {
        stream.read_exact(&mut block).map_err(damaged)?;
        if block == [0; BLOCK] {
            break;
        }
        // Checked first: the library's error would repeat the content of these
        // fields.
        if !is_number(part(&block, CHECKSUM)) || !is_size(part(&block, SIZE)) {
            return Err(ArchiveDamage::Header { number }.into());
        }
        let header = tar::Header::from_byte_slice(&block);
        if header.cksum().map_err(damaged)? != checksum(&block) {
            return Err(ArchiveDamage::Header { number }.into());
        }
        if header.entry_type() != tar::EntryType::Regular {
            return Err(names.refuse());
        }
        let name = header.as_old().name;
        let (name, rest) = name.split_at(name.iter().position(|byte| *byte == 0).unwrap_or(100));
        let path = String::from_utf8_lossy(name);
        names.take(&path)?;
        if !is_zero(rest) || !is_plain(&block) {
            return Err(ArchiveDamage::Header { number }.into());
        }
        let size = header.entry_size().map_err(damaged)?;
        let mut content = stream.take(size);
        show(&path, &mut content)?;
        if content.limit() > 0 {
            return Err(ArchiveDamage::Cut { number }.into());
        }
        let padding = size.next_multiple_of(BLOCK as u64) - size;
        if skip_zeros(stream, padding)? < padding {
            return Err(ArchiveDamage::Cut { number }.into());
        }
    }
    skip_zeros(stream, MOST_PADDING)?;
    match stream.read(&mut block).map_err(damaged)? {
        0 => Ok(()),
        _ => Err(ArchiveDamage::StrayBytes.into()),
    }
}

/// Reads up to this many bytes, which must be zero. Returns how many it read.
fn skip_zeros(stream: &mut (dyn Read + Send), most: u64) -> Result<u64, BundleSourceError> {
    let mut padding = stream.take(most);
    let mut buffer = [0; BLOCK];
    loop {
        let read = match padding.read(&mut buffer) {
            Ok(0) => return Ok(most - padding.limit()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            read => read.map_err(damaged)?,
        };
        if !is_zero(buffer.get(..read).unwrap_or_default()) {
            return Err(ArchiveDamage::StrayBytes.into());
        }
    }
}

/// Whether a header contains only what an entry needs.
fn is_plain(block: &[u8; BLOCK]) -> bool {
    let mut numbers = NUMBERS.into_iter().flat_map(|range| part(block, range));
    let mut empty = EMPTY.into_iter().map(|range| part(block, range));
    numbers.all(|byte| matches!(byte, b'0'..=b'7' | b' ' | 0))
        && empty.all(is_zero)
        && KINDS.contains(&part(block, KIND))
}

/// Whether a field is octal digits, surrounded by spaces and zeros.
fn is_number(field: &[u8]) -> bool {
    let blanks = field.iter().take_while(|byte| **byte == b' ').count();
    let (_, digits) = field.split_at(blanks);
    let end = digits.iter().position(|byte| !matches!(byte, b'0'..=b'7'));
    let (digits, rest) = digits.split_at(end.unwrap_or(digits.len()));
    !digits.is_empty() && rest.iter().all(|byte| matches!(byte, b' ' | 0))
}

/// Whether a field is a size. A size that does not fit into octal digits is
/// binary, after a marker byte.
fn is_size(field: &[u8]) -> bool {
    is_number(field) || field.starts_with(&[0x80, 0, 0, 0])
}

fn part(block: &[u8; BLOCK], range: std::ops::Range<usize>) -> &[u8] {
    block.get(range).unwrap_or_default()
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// The sum of a header's bytes, with spaces in place of the sum itself.
fn checksum(block: &[u8; BLOCK]) -> u32 {
    let counted = block.iter().enumerate().map(|(at, byte)| match at {
        148..156 => u32::from(b' '),
        _ => u32::from(*byte),
    });
    counted.sum()
}
