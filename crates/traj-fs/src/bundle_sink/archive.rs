//! A bundle as one file. The same files give the same bytes: no times, no
//! owners, a fixed order.

use std::io::{self, Seek, Write};

use cap_std::fs::File;
use traj_core::port::BundleFile;
use zip::write::SimpleFileOptions;

use super::staging::{Staging, unique_name};
use super::{BundleForm, create_private};
use crate::new_file::NewFile;
use crate::open::{Access, open_regular};
use crate::stop_flag::{StopFlag, Stoppable};

/// What zstd is told to spend; above it time grows faster than size shrinks.
const ZSTD_LEVEL: i32 = 3;

/// Packs the staged files into a file beside them; returns its name.
pub(super) fn pack(
    staging: &Staging,
    files: &[BundleFile],
    form: BundleForm,
    stop: &StopFlag,
) -> io::Result<String> {
    let name = unique_name();
    let mut archive = NewFile::new(create_private(staging.root(), &name)?);
    let packed = match form {
        BundleForm::TarZst => tar_zst(staging, files, &mut archive, stop),
        BundleForm::Zip | BundleForm::Folder => zip(staging, files, &mut archive, stop),
    };
    let packed = packed.and_then(|()| archive.as_file().sync_all());
    if let Err(error) = packed {
        staging.root().remove_file(&name).ok();
        return Err(error);
    }
    Ok(name)
}

fn zip(
    staging: &Staging,
    files: &[BundleFile],
    archive: &mut (impl Write + Seek),
    stop: &StopFlag,
) -> io::Result<()> {
    let mut writer = zip::ZipWriter::new(archive);
    for file in files {
        let content = open(staging, *file)?;
        let is_large = content.metadata()?.len() > u64::from(u32::MAX) / 2;
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .unix_permissions(0o600)
            .large_file(is_large);
        writer.start_file(file.to_string(), options)?;
        io::copy(&mut Stoppable::new(content, stop), &mut writer)?;
    }
    writer.finish()?;
    Ok(())
}

fn tar_zst(
    staging: &Staging,
    files: &[BundleFile],
    archive: impl Write,
    stop: &StopFlag,
) -> io::Result<()> {
    let encoder = zstd::Encoder::new(archive, ZSTD_LEVEL)?;
    let mut builder = tar::Builder::new(encoder);
    for file in files {
        let content = open(staging, *file)?;
        let mut header = tar::Header::new_gnu();
        header.set_size(content.metadata()?.len());
        header.set_mode(0o600);
        header.set_mtime(0);
        header.set_entry_type(tar::EntryType::Regular);
        let content = Stoppable::new(content, stop);
        builder.append_data(&mut header, file.to_string(), content)?;
    }
    builder.into_inner()?.finish()?.flush()
}

fn open(staging: &Staging, file: BundleFile) -> io::Result<File> {
    let path = file.to_string();
    let opened = match path.split_once('/') {
        Some((inner, name)) => {
            let folder = staging.folder().open_dir(inner)?;
            open_regular(&folder, name, Access::Read)
        }
        None => open_regular(staging.folder(), &path, Access::Read),
    };
    opened.map_err(io::Error::other)
}
