//! Bundles as one file.

use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};

use cap_std::fs::{File, FileExt as _};
use traj_core::port::{BundleNames, BundleSourceError, BundleVisitor};

use super::allowance::Allowance;
use super::damage::damaged;
use super::{Form, MANIFEST, storage};

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

pub(super) fn visit_zip(
    name: &str,
    file: &File,
    visit: &mut BundleVisitor<'_>,
) -> Result<(), BundleSourceError> {
    let mut allowance = Allowance::default();
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
    // The manifest says how much the others may unpack to.
    let manifest = archive.index_for_name(MANIFEST);
    let others = (0..archive.len()).filter(|index| Some(*index) != manifest);
    for index in manifest.into_iter().chain(others) {
        let mut entry = archive.by_index(index).map_err(damaged)?;
        let path = entry.name().map_err(damaged)?.into_owned();
        allowance.show(&path, &mut entry, visit)?;
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
    let mut allowance = Allowance::default();
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
        allowance.show(&path, &mut entry, visit)?;
    }
    Ok(())
}
