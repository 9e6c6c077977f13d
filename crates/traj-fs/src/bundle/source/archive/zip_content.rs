//! Reads the content of a zip entry, to the last packed byte. A decoder stops
//! where its stream ends. Without a check, bytes between that point and the
//! length that the list of entries states would go unnoticed.

use std::io::{self, BufReader, Read};
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::File;
use traj_core::port::BundleSourceError;
use zip::CompressionMethod;
use zip::read::{ZipFile, ZipReadOptions, read_zipfile_from_stream_with_options};

use super::damage::{ArchiveDamage, damaged};
use crate::safe::position::FileReader;

/// How many bytes are added after the packed ones. The decoder reads the first
/// one when it has used all packed bytes, and the second one only if its stream
/// has not ended there.
const BEYOND: u64 = 2;

/// The header of a deflated entry. A flag says that its sizes and its checksum
/// are stored elsewhere.
const HEADER: [u8; 30] = *b"PK\x03\x04\x14\0\x08\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// Takes the content of an entry.
type ShowContent<'s> = dyn FnMut(&mut (dyn Read + Send)) -> Result<(), BundleSourceError> + 's;

/// Passes the content of an entry to `show`. It must be as long as the list
/// states.
pub(super) fn show<R: Read + Send>(
    file: &File,
    number: usize,
    mut entry: ZipFile<'_, R>,
    show: &mut ShowContent<'_>,
) -> Result<(), BundleSourceError> {
    let differs = || BundleSourceError::from(ArchiveDamage::Differs { number });
    let length = entry.size();
    if entry.compression() != CompressionMethod::Deflated {
        return show_all(&mut entry, length, show)?.ok_or_else(differs);
    }
    let asked = AtomicU64::new(0);
    let at = entry.data_start().ok_or_else(differs)?;
    let packed = BufReader::new(FileReader::new(file, at)).take(entry.compressed_size());
    let mut stream = HEADER.chain(packed).chain(CountedPadding(&asked));
    let options = ZipReadOptions::default()
        .override_compressed_size(entry.compressed_size().saturating_add(BEYOND))
        .override_uncompressed_size(length)
        .override_crc(entry.crc32());
    let entry = read_zipfile_from_stream_with_options(&mut stream, options);
    let mut entry = entry.map_err(damaged)?.ok_or_else(differs)?;
    show_all(&mut entry, length, show)?.ok_or_else(differs)?;
    // Read once more: the decoder may have stopped at the end without reading
    // past it.
    entry.read(&mut [0]).map_err(damaged)?;
    match asked.load(Ordering::Relaxed) {
        0 => Err(ArchiveDamage::StrayBytes.into()),
        1 => Ok(()),
        _ => Err(differs()),
    }
}

/// Passes content to `show`. Returns `None` if its length is wrong.
fn show_all(
    content: &mut (dyn Read + Send),
    length: u64,
    show: &mut ShowContent<'_>,
) -> Result<Option<()>, BundleSourceError> {
    let mut content = content.take(length.saturating_add(1));
    show(&mut content)?;
    Ok((content.limit() == 1).then_some(()))
}

/// The bytes added after the packed ones; counts how many of them were read.
struct CountedPadding<'c>(&'c AtomicU64);

impl Read for CountedPadding<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let asked = self.0.load(Ordering::Relaxed);
        let Some(byte) = buffer.first_mut().filter(|_| asked < BEYOND) else { return Ok(0) };
        *byte = 0;
        self.0.store(asked + 1, Ordering::Relaxed);
        Ok(1)
    }
}
