//! Inspects a file or directory without following links.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;

use cap_std::fs::{Dir, File, MetadataExt as _};
use traj_core::care::prune::Proof;
use traj_core::limits::Reading;
use traj_core::location::{Pointer, SidecarHead, stated_by_transcript};
use traj_core::timestamp::UnixMillis;

use crate::error::{Context as _, FsError, Refusal};
use crate::safe::directory::open_subfolder;
use crate::safe::open::{Access, open_regular};
use crate::session::sources::FsSource;
use crate::stop_flag::StopFlag;

const LIMITS: Reading = Reading::standard();

/// The names in a directory, sorted. Names that are not UTF-8 are not ours.
pub(super) fn names_in(folder: &Dir, path: &Path) -> Result<Vec<String>, FsError> {
    let read = || -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in folder.entries()? {
            // With an incomplete list, existing sessions would look deleted.
            names.extend(entry?.file_name().into_string().ok());
        }
        names.sort();
        Ok(names)
    };
    read().context("read the directory", &path.to_string_lossy())
}

/// Opens a regular file that has only one name.
pub(super) fn open_plain(folder: &Dir, name: &str) -> Result<File, FsError> {
    let file = open_regular(folder, name, Access::Read)?;
    let is_plain = file.metadata().is_ok_and(|metadata| metadata.nlink() == 1);
    if is_plain { Ok(file) } else { Err(FsError::refused("open", name, Refusal::HardLink)) }
}

/// The proof that a file's first line gives, or that the file cannot be
/// inspected.
pub(super) fn proof_of(folder: &Dir, name: &str, proof: &dyn Fn(&[u8]) -> Proof) -> Proof {
    match first_line(folder, name) {
        Ok(line) => proof(&line),
        Err(error) if error.refusal().is_some() => Proof::NotPlain,
        Err(_) => Proof::Unreadable,
    }
}

pub(super) fn first_line(folder: &Dir, name: &str) -> Result<Vec<u8>, FsError> {
    first_line_of(&open_plain(folder, name)?).context("read", name)
}

pub(super) fn first_line_of(file: &File) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    BufReader::new(file).take(LIMITS.first_line_bytes as u64).read_until(b'\n', &mut line)?;
    Ok(line)
}

/// The proof for a directory: ours are recognised by their name.
pub(super) fn folder_proof(folder: &Dir, name: &str) -> Proof {
    match folder.symlink_metadata(name) {
        Ok(metadata) if metadata.is_dir() => Proof::ByName,
        Ok(_) => Proof::NotPlain,
        Err(_) => Proof::Unreadable,
    }
}

pub(super) fn read_pointer(folder: &Dir, name: &str) -> Option<Pointer> {
    let mut bytes = Vec::new();
    let file = open_plain(folder, name).ok()?;
    file.take(LIMITS.pointer_bytes as u64).read_to_end(&mut bytes).ok()?;
    Pointer::parse(&bytes)
}

/// The id that a transcript states, if it can be read.
pub(super) fn transcript_id(folder: &Dir, name: &str) -> Option<String> {
    let file = open_regular(folder, name, Access::Read).ok()?;
    let source = FsSource::new(name.to_owned(), file, StopFlag::default()).ok()?;
    stated_by_transcript(&source).ok().flatten()
}

/// The id that the first event of a sidecar states, if it can be read.
pub(super) fn sidecar_id(folder: &Dir, name: &str) -> Option<String> {
    match SidecarHead::of_lines(&first_line(folder, name).ok()?) {
        SidecarHead::EventOf(id) => Some(id),
        _ => None,
    }
}

/// The size of a file, or of the files directly in a directory.
pub(super) fn size_of(folder: &Dir, name: &str) -> u64 {
    let Ok(metadata) = folder.symlink_metadata(name) else { return 0 };
    if !metadata.is_dir() {
        return metadata.len();
    }
    let inside = open_subfolder(folder, name);
    let entries = inside.ok().and_then(|inside| inside.entries().ok());
    let sizes = entries.into_iter().flatten().flatten();
    sizes.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}

pub(super) fn modified(folder: &Dir, name: &str) -> UnixMillis {
    let seconds = folder.symlink_metadata(name).map_or(0, |metadata| metadata.mtime());
    UnixMillis::new(seconds.saturating_mul(1_000)).unwrap_or_default()
}
