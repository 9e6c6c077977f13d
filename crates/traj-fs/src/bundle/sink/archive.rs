//! Packs a bundle into one file. The same files give the same bytes: no times,
//! no owners, a fixed order.

mod first_failure;

use std::io::{self, Write as _};

use cap_std::fs::{Dir, File};
use traj_core::port::BundleFile;
use zip::write::SimpleFileOptions;

use self::first_failure::{FailureKeeper, FirstFailure};
use crate::error::{Context as _, FsError};
use crate::safe::directory::open_subfolder;
use crate::safe::limited_file::LimitedFile;
use crate::safe::open::{Access, open_regular};
use crate::safe::temporary_directory::{TemporaryEntry, TemporaryFolder};
use crate::stop_flag::{StopFlag, StoppableReader};

/// The zstd level. Above it, time grows faster than size shrinks.
const ZSTD_LEVEL: i32 = 3;

/// Writes the files of a directory into an archive.
pub(super) type Pack = fn(&Dir, &[BundleFile], &mut LimitedFile, &StopFlag) -> io::Result<()>;

/// Packs the staged files into a file beside them.
pub(super) fn pack(
    staging: &TemporaryFolder,
    files: &[BundleFile],
    pack: Pack,
    stop: &StopFlag,
) -> Result<TemporaryEntry, FsError> {
    let (entry, file) = TemporaryEntry::file(staging.parent())?;
    let mut archive = LimitedFile::new(file);
    let packed = pack(staging.folder(), files, &mut archive, stop);
    packed.and_then(|()| archive.as_file().sync_all()).context("pack", &entry.name)?;
    Ok(entry)
}

/// Writes a zip file.
pub(super) fn zip(
    folder: &Dir,
    files: &[BundleFile],
    archive: &mut LimitedFile,
    stop: &StopFlag,
) -> io::Result<()> {
    let failure = FirstFailure::default();
    let mut writer = zip::ZipWriter::new(FailureKeeper::new(archive, &failure));
    for file in files {
        let content = open(folder, *file)?;
        let is_large = content.metadata()?.len() > u64::from(u32::MAX) / 2;
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .unix_permissions(0o600)
            .large_file(is_large);
        writer.start_file(file.to_string(), options)?;
        first_failure::copy(StoppableReader::new(content, stop), &mut writer, &failure)?;
        failure.take()?;
    }
    writer.finish()?;
    failure.take()
}

/// Writes a tar file, compressed with zstd.
pub(super) fn tar_zst(
    folder: &Dir,
    files: &[BundleFile],
    archive: &mut LimitedFile,
    stop: &StopFlag,
) -> io::Result<()> {
    let encoder = zstd::Encoder::new(archive, ZSTD_LEVEL)?;
    let mut builder = tar::Builder::new(encoder);
    for file in files {
        let content = open(folder, *file)?;
        let mut header = tar::Header::new_gnu();
        header.set_size(content.metadata()?.len());
        header.set_mode(0o600);
        header.set_mtime(0);
        header.set_entry_type(tar::EntryType::Regular);
        let content = StoppableReader::new(content, stop);
        builder.append_data(&mut header, file.to_string(), content)?;
    }
    builder.into_inner()?.finish()?.flush()
}

fn open(folder: &Dir, file: BundleFile) -> io::Result<File> {
    let path = file.to_string();
    let opened = match path.split_once('/') {
        Some((inner, name)) => {
            open_subfolder(folder, inner).and_then(|inner| open_regular(&inner, name, Access::Read))
        }
        None => open_regular(folder, &path, Access::Read),
    };
    opened.map_err(io::Error::other)
}
