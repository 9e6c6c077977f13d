//! Appends to a sidecar that other processes may append to at the same time.
//!
//! One handle stays open. For each batch, the writer takes the lock, checks
//! that the file was not replaced, reads what others appended (for line numbers
//! and a torn line), writes once and releases the lock. After a failed write,
//! the file is truncated to its previous length.
//!
//! The lock is `flock`: it also works between machines over NFS on Linux. A
//! filesystem without it is an error, because two writers would corrupt each
//! other's lines.

mod durable;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use cap_std::fs::Dir;
use traj_core::capture::{Blob, BlobDigest, PendingLine};
use traj_core::event::RuntimeRow;
use traj_core::id::SessionId;
use traj_core::location::{Pointer, blobs_beside};
use traj_core::port::{Appended, Exposure, Room, SidecarError, SidecarOptions, SidecarWriter};
use traj_core::settings::{Durability, WhenFull};

use self::durable::Unsynced;
use super::blobs::SidecarBlobs;
use super::handle::SidecarHandle;
use super::roll;
use crate::error::{Context as _, FsError};
use crate::safe::directory::exposure_of;
use crate::safe::limited_file::check_growth;
use crate::safe::lock::lock_exclusive;
use crate::safe::open::identity_of;
use crate::safe::replace::{replace_file, sweep_leftovers};

/// A temporary file this old is no longer being written.
const LEFTOVER_AGE: Duration = Duration::from_secs(3_600);

/// Larger buffers are not kept for a single large batch.
const KEPT_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// Where the pointer to a sidecar is written.
#[derive(Debug)]
pub(super) struct PointerTarget {
    pub(super) folder: Dir,
    pub(super) name: String,
    pub(super) runtime_file: String,
    /// The session file it is written for.
    pub(super) session_file: String,
}

/// The writer of one sidecar.
#[derive(Debug)]
pub(super) struct FsSidecarWriter {
    folder: Dir,
    name: String,
    session: SessionId,
    options: SidecarOptions,
    /// Opened for the first line, so that no empty file is created.
    handle: Option<SidecarHandle>,
    /// The highest line number used with an earlier handle.
    last_sequence: u64,
    blobs: SidecarBlobs,
    exposure: Option<Exposure>,
    /// The pointer, until it is written after the first line.
    pointer: Option<PointerTarget>,
    /// A buffer for the bytes of a batch, reused for the next one.
    text: String,
    unsynced: Unsynced,
    /// Whether leftovers of crashed writers must still be removed.
    needs_sweep: bool,
}

/// The outcome of one try.
enum AppendOutcome {
    /// The batch was appended to the file.
    Added(Appended),
    /// The batch was appended, and a new file replaced the open one, without
    /// the lines that referred to these blobs.
    Rolled(Appended, BTreeSet<BlobDigest>),
    /// Nothing was written: another file has replaced the open one.
    Reopen,
}

impl FsSidecarWriter {
    pub(super) fn new(
        folder: Dir,
        name: String,
        session: SessionId,
        options: SidecarOptions,
        pointer: Option<PointerTarget>,
    ) -> Result<Self, FsError> {
        let exposure = exposure_of(&folder, &name)?;
        let blob_folder = folder.try_clone().context("open the directory of", &name)?;
        let blobs = SidecarBlobs::new(blob_folder, blobs_beside(&name), options.blob_budget_bytes);
        Ok(Self {
            folder,
            name,
            session,
            options,
            handle: None,
            last_sequence: 0,
            blobs,
            exposure,
            pointer,
            text: String::new(),
            unsynced: Unsynced { lines: false, entry: true, is_doubtful: false },
            needs_sweep: true,
        })
    }

    /// Tries to append a batch under the lock of the open file. `text` is the
    /// buffer for its bytes.
    fn try_append(
        &self,
        handle: &mut SidecarHandle,
        lines: &[PendingLine],
        room: Room,
        text: &mut String,
    ) -> Result<AppendOutcome, SidecarError> {
        let file = Arc::clone(&handle.file);
        let _lock = lock_exclusive(&file, &self.name)?;
        if !handle.is_current(&self.folder, &self.name, || self.session_names(lines))? {
            return Ok(AppendOutcome::Reopen);
        }
        handle.catch_up(&self.name)?;
        let first = handle.last_sequence + 1;
        text.clear();
        if handle.is_torn {
            text.push('\n');
        }
        let closing = text.len();
        for (number, line) in (first..).zip(lines) {
            line.write(number, text);
        }
        let added = (text.len() - closing) as u64;
        let capacity = self.options.capacity(room);
        let length = handle.length + closing as u64;
        if length + added > capacity {
            if self.options.when_full == WhenFull::Stop || added > capacity {
                return Err(self.full(capacity.saturating_sub(length)));
            }
            let kept = self.options.kept_when_rolling(added);
            let new_lines = text.trim_start_matches('\n');
            let gone = roll::replace_with_tail(&self.folder, &self.name, handle, kept, new_lines)?;
            handle.wrote(0, lines.len() as u64);
            return Ok(AppendOutcome::Rolled(Appended::new(first, added, gone.lines), gone.blobs));
        }
        let written = check_growth(handle.length, text.len())
            .and_then(|()| (&*handle.file).write_all(text.as_bytes()));
        if let Err(error) = written {
            // If this fails, a torn line is left, which the next batch closes.
            handle.file.set_len(handle.length).ok();
            return Err(error).context("append to", &self.name).map_err(SidecarError::from);
        }
        handle.wrote(text.len() as u64, lines.len() as u64);
        Ok(AppendOutcome::Added(Appended::new(first, added, 0)))
    }

    /// The open file; otherwise, opens the one that has the name now.
    fn take_handle(&mut self) -> Result<SidecarHandle, FsError> {
        match self.handle.take() {
            Some(handle) => Ok(handle),
            None => {
                SidecarHandle::open(&self.folder, &self.name, &self.session, self.last_sequence)
            }
        }
    }

    /// The session's id, as given and as redaction writes it on a line.
    fn session_names(&self, lines: &[PendingLine]) -> Vec<String> {
        let mut names = vec![self.session.as_str().to_owned()];
        if let Some(line) = lines.first() {
            let mut text = String::new();
            line.write(1, &mut text);
            names
                .extend(RuntimeRow::parse(text.trim()).ok().map(|row| row.session_id().to_owned()));
        }
        names
    }

    fn full(&self, room: u64) -> SidecarError {
        SidecarError::Full { limit: self.options.limit_bytes, room }
    }

    /// Writes the pointer. It is optional: a failure is retried with the next
    /// batch, and never prevents a line from being written.
    fn write_pointer(&mut self) {
        let Some(place) = &self.pointer else { return };
        let pointer = Pointer::new(&self.session, place.runtime_file.as_str());
        let content = pointer.written_for(place.session_file.as_str()).to_file();
        let written = replace_file(&place.folder, &place.name, 0o600, |file| {
            file.write_all(content.as_bytes())
        });
        if written.is_ok() {
            sweep_after(&place.folder, &place.name);
            self.pointer = None;
        }
    }
}

impl Drop for FsSidecarWriter {
    fn drop(&mut self) {
        self.blobs.end(&self.name);
    }
}

/// Removes what crashed writers left in a directory. The modification time of
/// the file just written is the filesystem's current time.
pub(super) fn sweep_after(folder: &Dir, written: &str) {
    let now = folder.symlink_metadata(written).and_then(|metadata| metadata.modified());
    if let Ok(now) = now {
        // This is only cleanup: the next writer tries again.
        sweep_leftovers(folder, now, LEFTOVER_AGE).ok();
    }
}

impl SidecarWriter for FsSidecarWriter {
    fn append(&mut self, lines: &[PendingLine], room: Room) -> Result<Appended, SidecarError> {
        if lines.is_empty() {
            return Ok(Appended::new(0, 0, 0));
        }
        // A batch that does not fit must not leave an empty sidecar.
        let least = lines.iter().map(|line| line.bytes_without_number() as u64 + 2).sum::<u64>();
        let capacity = self.options.capacity(room);
        if least > capacity && identity_of(&self.folder, &self.name)?.is_none() {
            return Err(self.full(capacity));
        }
        let mut text = std::mem::take(&mut self.text);
        let appended = loop {
            let mut handle = self.take_handle()?;
            let step = self.try_append(&mut handle, lines, room, &mut text);
            self.last_sequence = handle.last_sequence;
            match step {
                Ok(AppendOutcome::Added(appended)) => {
                    self.handle = Some(handle);
                    self.unsynced.lines = true;
                    break appended;
                }
                Ok(AppendOutcome::Rolled(appended, unused)) => {
                    self.blobs.rolled(unused);
                    // The new file was synced before it replaced the old one.
                    self.unsynced = Unsynced { lines: false, entry: true, is_doubtful: false };
                    break appended;
                }
                Ok(AppendOutcome::Reopen) => self.unsynced.entry = true,
                Err(error) => {
                    // Kept, so that a foreign file that replaces it is still
                    // refused.
                    self.handle = Some(handle);
                    return Err(error);
                }
            }
        };
        self.blobs.named(&text);
        self.blobs.free(&self.name);
        if text.capacity() <= KEPT_TEXT_BYTES {
            self.text = text;
        }
        if std::mem::take(&mut self.needs_sweep) {
            sweep_after(&self.folder, &self.name);
        }
        if self.options.durability == Durability::Batch {
            // The lines are written. If the sync fails, the next flush reports
            // it.
            self.flush().ok();
        }
        self.write_pointer();
        Ok(appended)
    }

    fn store_blob(&mut self, blob: &Blob) -> Result<(), SidecarError> {
        self.blobs.store(blob)
    }

    fn flush(&mut self) -> Result<(), SidecarError> {
        if self.options.durability == Durability::Relaxed {
            return Ok(());
        }
        self.sync()
    }

    fn exposure(&self) -> Option<Exposure> {
        self.exposure
    }
}
