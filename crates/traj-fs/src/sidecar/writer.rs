//! Appending to a sidecar that others may append to at the same moment.
//!
//! One handle stays open. Each batch takes the lock, looks whether the file is
//! still the one we know, reads what others added since (for their numbers and
//! for a torn line), writes once and lets go. A write that fails is cut back to
//! the line before it.
//!
//! The lock is `flock`: it also works between machines over NFS on Linux, and
//! a filesystem without it is an error, because two writers there would tear
//! each other's lines.

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

/// A temporary file this old has lost its writer.
const LEFTOVER_AGE: Duration = Duration::from_secs(3_600);

/// Memory for a batch is not kept beyond this: one large batch is no reason to.
const KEPT_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// Where the pointer to a sidecar goes.
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
    /// Opened with the first line, so that nothing exists before it.
    handle: Option<SidecarHandle>,
    /// The highest number given out under a handle that is gone.
    last_sequence: u64,
    blobs: SidecarBlobs,
    exposure: Option<Exposure>,
    /// Still to be written, once there is something to point to.
    pointer: Option<PointerTarget>,
    /// Memory for the bytes of a batch, kept from one to the next.
    text: String,
    unsynced: Unsynced,
    /// Nobody looked yet for what crashed writers left.
    needs_sweep: bool,
}

/// What became of a batch.
enum AppendOutcome {
    /// It was added to the file.
    Added(Appended),
    /// It was added, and a new file took the place of the one that is open,
    /// without the lines that named these blobs.
    Rolled(Appended, BTreeSet<BlobDigest>),
    /// Nothing: another file had taken the place of the one that was open.
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
        let blob_folder = folder.try_clone().context("open the folder of", &name)?;
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

    /// One try at a batch, under the lock of the file that is open; `text` is
    /// where its bytes are put together.
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
            // What cannot be cut back is a torn line, which the next batch
            // finds and closes off.
            handle.file.set_len(handle.length).ok();
            return Err(error).context("append to", &self.name).map_err(SidecarError::from);
        }
        handle.wrote(text.len() as u64, lines.len() as u64);
        Ok(AppendOutcome::Added(Appended::new(first, added, 0)))
    }

    /// The file that is open, or the one that has the name now.
    fn take_handle(&mut self) -> Result<SidecarHandle, FsError> {
        match self.handle.take() {
            Some(handle) => Ok(handle),
            None => {
                SidecarHandle::open(&self.folder, &self.name, &self.session, self.last_sequence)
            }
        }
    }

    /// The session's id, as it is and as redaction leaves it on a line.
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

    /// The pointer is a convenience: a failure is tried again with the next
    /// batch and never keeps a line from being written.
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

/// Takes away what crashed writers left in a folder. The file just written
/// tells the time by the filesystem's own clock.
pub(super) fn sweep_after(folder: &Dir, written: &str) {
    let now = folder.symlink_metadata(written).and_then(|metadata| metadata.modified());
    if let Ok(now) = now {
        // Only tidying: whoever writes next tries again.
        sweep_leftovers(folder, now, LEFTOVER_AGE).ok();
    }
}

impl SidecarWriter for FsSidecarWriter {
    fn append(&mut self, lines: &[PendingLine], room: Room) -> Result<Appended, SidecarError> {
        if lines.is_empty() {
            return Ok(Appended::new(0, 0, 0));
        }
        // A batch that fits no sidecar must not leave an empty one.
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
                    // The new file was synced before it took the place.
                    self.unsynced = Unsynced { lines: false, entry: true, is_doubtful: false };
                    break appended;
                }
                Ok(AppendOutcome::Reopen) => self.unsynced.entry = true,
                Err(error) => {
                    // Kept, so that a file put in its place stays refused.
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
            // The lines are there; whether they are safe, the next flush tells.
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
