//! Reads bundles that are archives.

mod allowance;
mod damage;
mod tar_entries;
mod zip_content;
mod zip_layout;

use std::io::{BufReader, Read as _, Seek as _, SeekFrom};

use cap_std::fs::File;
use traj_core::port::{BundleNames, BundleSourceError, BundleVisitor};

use self::allowance::UnpackAllowance;
use self::damage::{ArchiveDamage, damaged};
use super::{manifest_name, storage};

/// Passes the files of a zip file to the visitor, the manifest first.
pub(super) fn visit_zip(
    name: &str,
    file: &File,
    visit: &mut BundleVisitor<'_>,
) -> Result<(), BundleSourceError> {
    // All names are checked first, so that no content of a suspicious archive
    // is read.
    let mut names = BundleNames::default();
    zip_layout::check(file, |path| names.take(path))?;
    let mut allowance = UnpackAllowance::default();
    let handle = file.try_clone().map_err(|error| storage(name, error))?;
    let mut archive = zip::ZipArchive::new(BufReader::new(handle)).map_err(damaged)?;
    // The manifest states how much the other files may unpack to.
    let manifest = archive.index_for_name(&manifest_name());
    let others = (0..archive.len()).filter(|index| Some(*index) != manifest);
    for index in manifest.into_iter().chain(others) {
        let entry = archive.by_index(index).map_err(damaged)?;
        if entry.is_symlink() || entry.is_dir() || entry.encrypted() {
            return Err(BundleSourceError::UnsafeEntry { number: index + 1 });
        }
        let path = entry.name().map_err(damaged)?.into_owned();
        zip_content::show(file, index + 1, entry, &mut |content| {
            allowance.show(&path, content, visit)
        })?;
    }
    Ok(())
}

/// Passes the files of a compressed tar file to the visitor, in the order of
/// the file.
pub(super) fn visit_tar_zst(
    name: &str,
    file: &File,
    visit: &mut BundleVisitor<'_>,
) -> Result<(), BundleSourceError> {
    let mut allowance = UnpackAllowance::default();
    let mut handle = file.try_clone().map_err(|error| storage(name, error))?;
    handle.seek(SeekFrom::Start(0)).map_err(|error| storage(name, error))?;
    let decoder = zstd::Decoder::new(handle).map_err(damaged)?;
    let mut decoder = decoder.single_frame();
    tar_entries::visit(&mut decoder, |path, content| allowance.show(path, content, visit))?;
    // A bundle is a single frame, with nothing after it.
    match decoder.finish().read(&mut [0]).map_err(damaged)? {
        0 => Ok(()),
        _ => Err(ArchiveDamage::StrayBytes.into()),
    }
}
