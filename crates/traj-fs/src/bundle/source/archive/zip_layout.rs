//! Checks the layout of a zip file. The list at its end states where each entry
//! is. Some programs unpack by the list, others by the entries themselves. All
//! of them get the same files only if both agree and there are no other bytes.

use std::io::{self, BufReader, Read, Seek as _, SeekFrom};

use cap_std::fs::{File, FileExt as _};
use traj_core::port::BundleSourceError;

use super::damage::{ArchiveDamage, damaged};

const END: &[u8] = b"PK\x05\x06";
const END_LENGTH: u64 = 22;
const LARGE_END: &[u8] = b"PK\x06\x06";
const LARGE_END_LENGTH: u64 = 56;
const LOCATOR: &[u8] = b"PK\x06\x07";
const LOCATOR_LENGTH: u64 = 20;
const LISTED: &[u8] = b"PK\x01\x02";
const LISTED_LENGTH: usize = 46;
const LOCAL: &[u8] = b"PK\x03\x04";
const LOCAL_LENGTH: usize = 30;

/// The value of a field if its number is too large and stored elsewhere.
const ELSEWHERE: u64 = 0xffff_ffff;

/// Checks that a file consists only of entries and their list. Passes the names
/// to `take`, in order.
pub(super) fn check(
    file: &File,
    mut take: impl FnMut(&str) -> Result<(), BundleSourceError>,
) -> Result<(), BundleSourceError> {
    let list = EntryList::find(file)?;
    let mut handle = file.try_clone().map_err(damaged)?;
    handle.seek(SeekFrom::Start(list.start)).map_err(damaged)?;
    let mut rows = BufReader::new(handle).take(list.end - list.start);
    let mut at = 0;
    for number in 1..=list.entries {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let listed = ZipEntry::listed(&mut rows).map_err(damaged)?.ok_or(ArchiveDamage::NoEnd)?;
        take(&String::from_utf8_lossy(&listed.name))?;
        let local = ZipEntry::local(file, at).map_err(damaged)?;
        let (local, start) = local.ok_or(ArchiveDamage::Differs { number })?;
        if listed.has_more || local.has_more {
            return Err(ArchiveDamage::Header { number }.into());
        }
        if !listed.agrees(&local) {
            return Err(ArchiveDamage::Differs { number }.into());
        }
        at = start.checked_add(listed.packed).ok_or(ArchiveDamage::Differs { number })?;
    }
    if at != list.start || rows.limit() != 0 {
        return Err(ArchiveDamage::StrayBytes.into());
    }
    Ok(())
}

/// The position of the list of entries.
struct EntryList {
    start: u64,
    end: u64,
    entries: u64,
}

impl EntryList {
    /// Reads the end of the file, where a comment is possible but not allowed.
    fn find(file: &File) -> Result<Self, BundleSourceError> {
        let length = file.metadata().map_err(damaged)?.len();
        let end = length.checked_sub(END_LENGTH).ok_or(ArchiveDamage::NoEnd)?;
        let record = HeaderBytes::read(file, end, END_LENGTH).map_err(damaged)?;
        if !record.starts_with(END) {
            return Err(ArchiveDamage::NoEnd.into());
        }
        let list = Self::from_fields(end, record.u16(10), record.u32(12), record.u32(16));
        if record.u16(20) != 0 {
            return Err(ArchiveDamage::StrayBytes.into());
        }
        let is_large =
            record.u16(10) == 0xffff || record.u32(12) == ELSEWHERE || record.u32(16) == ELSEWHERE;
        let list = if is_large { Self::find_large(file, end)? } else { list };
        list.ok_or_else(|| ArchiveDamage::NoEnd.into())
    }

    /// Reads the end record of large files, which comes before the other one.
    fn find_large(file: &File, end: u64) -> Result<Option<Self>, BundleSourceError> {
        let Some(place) = end.checked_sub(LOCATOR_LENGTH) else { return Ok(None) };
        let locator = HeaderBytes::read(file, place, LOCATOR_LENGTH).map_err(damaged)?;
        let start = locator.u64(8);
        if !locator.starts_with(LOCATOR) || start.checked_add(LARGE_END_LENGTH) != Some(place) {
            return Ok(None);
        }
        let record = HeaderBytes::read(file, start, LARGE_END_LENGTH).map_err(damaged)?;
        if !record.starts_with(LARGE_END) {
            return Ok(None);
        }
        Ok(Self::from_fields(start, record.u64(32), record.u64(40), record.u64(48)))
    }

    fn from_fields(end: u64, entries: u64, length: u64, start: u64) -> Option<Self> {
        (start.checked_add(length) == Some(end)).then_some(Self { start, end, entries })
    }
}

/// What a header states about an entry.
struct ZipEntry {
    name: Vec<u8>,
    /// Version, flags, method and time.
    manner: u64,
    date: u64,
    checksum: u64,
    packed: u64,
    unpacked: u64,
    offset: u64,
    /// Whether there is a comment, or an extra field for anything but large
    /// numbers.
    has_more: bool,
}

impl ZipEntry {
    fn agrees(&self, other: &Self) -> bool {
        let facts = |entry: &Self| {
            let sizes = (entry.packed, entry.unpacked);
            (entry.manner, entry.date, entry.checksum, sizes, entry.offset)
        };
        self.name == other.name && facts(self) == facts(other)
    }

    /// The next entry of the list.
    fn listed(rows: &mut impl Read) -> io::Result<Option<Self>> {
        let record = HeaderBytes::next(rows, LISTED_LENGTH)?;
        if !record.starts_with(LISTED) {
            return Ok(None);
        }
        let name = HeaderBytes::next(rows, record.length(28))?;
        let fields = HeaderBytes::next(rows, record.length(30))?;
        let comment = HeaderBytes::next(rows, record.length(32))?;
        let numbers = [record.u32(24), record.u32(20), record.u32(42)];
        let (numbers, is_plain) = fields.large_numbers(numbers);
        let [unpacked, packed, offset] = numbers;
        Ok(Some(Self {
            name: name.0,
            manner: record.u64(6),
            date: record.u16(14),
            checksum: record.u32(16),
            packed,
            unpacked,
            offset,
            has_more: !is_plain || !comment.0.is_empty(),
        }))
    }

    /// The entry at this offset, and where its content starts.
    fn local(file: &File, at: u64) -> io::Result<Option<(Self, u64)>> {
        let record = HeaderBytes::read(file, at, LOCAL_LENGTH as u64)?;
        if !record.starts_with(LOCAL) {
            return Ok(None);
        }
        let names = at.saturating_add(LOCAL_LENGTH as u64);
        let name = HeaderBytes::read(file, names, record.u16(26))?;
        let fields_at = names.saturating_add(record.u16(26));
        let fields = HeaderBytes::read(file, fields_at, record.u16(28))?;
        let (numbers, is_plain) = fields.large_numbers([record.u32(22), record.u32(18)]);
        let [unpacked, packed] = numbers;
        let entry = Self {
            name: name.0,
            manner: record.u64(4),
            date: record.u16(12),
            checksum: record.u32(14),
            packed,
            unpacked,
            offset: at,
            has_more: !is_plain,
        };
        Ok(Some((entry, fields_at.saturating_add(record.u16(28)))))
    }
}

/// Bytes with little-endian numbers in them.
struct HeaderBytes(Vec<u8>);

impl HeaderBytes {
    fn read(file: &File, at: u64, length: u64) -> io::Result<Self> {
        let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        file.read_exact_at(&mut bytes, at)?;
        Ok(Self(bytes))
    }

    fn next(rows: &mut impl Read, length: usize) -> io::Result<Self> {
        let mut bytes = vec![0; length];
        rows.read_exact(&mut bytes)?;
        Ok(Self(bytes))
    }

    fn starts_with(&self, signature: &[u8]) -> bool {
        self.0.starts_with(signature)
    }

    fn number(&self, at: usize, length: usize) -> u64 {
        let bytes = self.0.get(at..at + length).unwrap_or_default();
        bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn u16(&self, at: usize) -> u64 {
        self.number(at, 2)
    }

    fn u32(&self, at: usize) -> u64 {
        self.number(at, 4)
    }

    fn u64(&self, at: usize) -> u64 {
        self.number(at, 8)
    }

    fn length(&self, at: usize) -> usize {
        usize::try_from(self.u16(at)).unwrap_or_default()
    }

    /// Replaces those of `numbers` that did not fit their own fields with the
    /// numbers in these extra fields, in order. Also returns whether the extra
    /// fields contain nothing else.
    fn large_numbers<const N: usize>(&self, mut numbers: [u64; N]) -> ([u64; N], bool) {
        const LARGE: u64 = 1;
        let mut at = 4;
        for number in numbers.iter_mut().filter(|number| **number == ELSEWHERE) {
            *number = self.u64(at);
            at += 8;
        }
        let is_plain = match self.0.len() {
            0 => at == 4,
            length => self.u16(0) == LARGE && self.length(2) + 4 == length && at == length,
        };
        (numbers, is_plain)
    }
}
