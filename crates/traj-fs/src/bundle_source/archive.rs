//! Bundles as one file.

use std::io::{self, BufReader, Read, Seek as _, SeekFrom};

use cap_std::fs::{File, FileExt as _};
use traj_core::port::{BundleContent, BundleNames, BundleSourceError, BundleVisitor};

use super::{Form, storage};

/// An archive may unpack to this much without a question.
const HARMLESS_BYTES: u64 = 64 * 1024 * 1024;

/// Above that, to this many times its own size.
const MAX_RATIO: u64 = 250;

/// Tells an archive by its first bytes.
pub(super) fn recognise(mut file: File) -> io::Result<Option<Form>> {
    let mut start = Vec::new();
    file.by_ref().take(4).read_to_end(&mut start)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(match start.as_slice() {
        [b'P', b'K', 3 | 5, 4 | 6] => Some(Form::Zip(file)),
        [0x28, 0xb5, 0x2f, 0xfd] => Some(Form::TarZst(file)),
        _ => None,
    })
}

/// How much an archive may still unpack.
struct Allowance {
    left: u64,
}

impl Allowance {
    fn of(name: &str, file: &File) -> Result<Self, BundleSourceError> {
        let packed = file.metadata().map_err(|error| storage(name, error))?.len();
        Ok(Self { left: packed.saturating_mul(MAX_RATIO).max(HARMLESS_BYTES) })
    }

    fn spend(&mut self, bytes: usize) -> Result<(), BundleSourceError> {
        self.left = self.left.checked_sub(bytes as u64).ok_or(BundleSourceError::Bomb)?;
        Ok(())
    }
}

pub(super) fn visit_zip(
    name: &str,
    file: &File,
    visit: &mut BundleVisitor<'_>,
) -> Result<(), BundleSourceError> {
    let mut allowance = Allowance::of(name, file)?;
    let handle = file.try_clone().map_err(|error| storage(name, error))?;
    let mut archive = zip::ZipArchive::new(BufReader::new(handle)).map_err(damaged)?;
    let mut names = BundleNames::default();
    // The reader keeps one entry per name; a difference is a repeated name.
    if stated_entries(name, file)?.is_some_and(|stated| stated != archive.len()) {
        return Err(BundleSourceError::RepeatedEntry { number: archive.len() + 1 });
    }
    // All names first: nothing of a suspicious archive is read.
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(damaged)?;
        if entry.is_symlink() || entry.is_dir() || entry.encrypted() {
            return Err(names.refuse());
        }
        names.take(&entry.name().map_err(damaged)?)?;
    }
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(damaged)?;
        let path = entry.name().map_err(damaged)?.into_owned();
        visit(&path, &mut Packed { content: &mut entry, allowance: &mut allowance })?;
    }
    Ok(())
}

/// How many entries the end of a zip file states; `None` where the number
/// does not fit its field.
fn stated_entries(name: &str, file: &File) -> Result<Option<usize>, BundleSourceError> {
    const SIGNATURE: &[u8] = b"PK\x05\x06";
    const LONGEST_END: u64 = 22 + 65_535;
    let failed = |error: io::Error| storage(name, error);
    let length = file.metadata().map_err(failed)?.len();
    let start = length.saturating_sub(LONGEST_END);
    let mut end = vec![0; usize::try_from(length - start).unwrap_or_default()];
    file.read_exact_at(&mut end, start).map_err(failed)?;
    let at = end.windows(SIGNATURE.len()).rposition(|window| window == SIGNATURE);
    let field = at.and_then(|at| end.get(at + 10..at + 12)).unwrap_or(&[0xff, 0xff]);
    let count = field.iter().rev().fold(0, |count, byte| count << 8 | usize::from(*byte));
    Ok((count != 0xffff).then_some(count))
}

pub(super) fn visit_tar_zst(
    name: &str,
    file: &File,
    visit: &mut BundleVisitor<'_>,
) -> Result<(), BundleSourceError> {
    let mut allowance = Allowance::of(name, file)?;
    let mut handle = file.try_clone().map_err(|error| storage(name, error))?;
    handle.seek(SeekFrom::Start(0)).map_err(|error| storage(name, error))?;
    let decoder = zstd::Decoder::new(handle).map_err(damaged)?;
    let mut archive = tar::Archive::new(decoder);
    let mut names = BundleNames::default();
    for entry in archive.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        if entry.header().entry_type() != tar::EntryType::Regular {
            return Err(names.refuse());
        }
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        names.take(&path)?;
        visit(&path, &mut Packed { content: &mut entry, allowance: &mut allowance })?;
        // What the visitor leaves unread is unpacked all the same.
        let mut rest = Packed { content: &mut entry, allowance: &mut allowance };
        let mut buffer = vec![0; 64 * 1024];
        while rest.read(&mut buffer)? > 0 {}
    }
    Ok(())
}

/// A file that is unpacked as it is read.
struct Packed<'c> {
    content: &'c mut dyn Read,
    allowance: &'c mut Allowance,
}

impl BundleContent for Packed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, BundleSourceError> {
        let read = self.content.read(buffer).map_err(damaged)?;
        self.allowance.spend(read)?;
        Ok(read)
    }
}

fn damaged(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> BundleSourceError {
    BundleSourceError::Damaged { source: error.into() }
}
