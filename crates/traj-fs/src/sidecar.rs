//! Appending to a sidecar that others may append to at the same moment.
//!
//! One handle stays open. Each batch takes the lock, looks whether the file is
//! still the one we know, reads what others added since (for their numbers and
//! for a torn line), writes once and lets go. A write that fails is cut back to
//! the line before it.

mod blobs;
mod handle;
mod roll;
mod scan;

use std::io::Write as _;
use std::time::Duration;

use cap_std::fs::Dir;
use traj_core::capture::{Blob, PendingLine};
use traj_core::id::SessionId;
use traj_core::location::{Pointer, blobs_beside};
use traj_core::port::{Appended, Room, SidecarError, SidecarOptions, SidecarWriter};
use traj_core::settings::{Durability, WhenFull};

use self::blobs::BlobFolder;
use self::handle::SidecarHandle;
use crate::error::{Context as _, FsError};
use crate::lock::lock_exclusive;
use crate::replace::{replace_file, sweep_leftovers, sync_folder};

/// A temporary file this old has lost its writer.
const LEFTOVER_AGE: Duration = Duration::from_secs(3_600);

/// Where the pointer to a sidecar goes.
#[derive(Debug)]
pub(crate) struct PointerPlace {
    pub(crate) folder: Dir,
    pub(crate) name: String,
    pub(crate) runtime_file: String,
}

/// The writer of one sidecar.
#[derive(Debug)]
pub(crate) struct FsSidecarWriter {
    folder: Dir,
    name: String,
    session: SessionId,
    options: SidecarOptions,
    /// Opened with the first line, so that nothing exists before it.
    handle: Option<SidecarHandle>,
    blobs: BlobFolder,
    /// Still to be written, once there is something to point to.
    pointer: Option<PointerPlace>,
    /// Lines were written since the last sync.
    needs_sync: bool,
    /// The folder's entry for the sidecar has not been synced yet.
    needs_folder_sync: bool,
}

impl FsSidecarWriter {
    pub(crate) fn new(
        folder: Dir,
        name: String,
        session: SessionId,
        options: SidecarOptions,
        pointer: Option<PointerPlace>,
    ) -> Result<Self, FsError> {
        let blob_folder = folder.try_clone().context("open the folder of", &name)?;
        let blobs = BlobFolder::new(blob_folder, blobs_beside(&name), options.blob_budget_bytes);
        Ok(Self {
            folder,
            name,
            session,
            options,
            handle: None,
            blobs,
            pointer,
            needs_sync: false,
            needs_folder_sync: true,
        })
    }

    /// Appends under the lock of a handle that is known to be current.
    fn append_to(
        &mut self,
        handle: &mut SidecarHandle,
        lines: &[PendingLine],
        room: Room,
    ) -> Result<Appended, SidecarError> {
        let first = handle.last_sequence + 1;
        let mut text = String::new();
        if handle.is_torn {
            text.push('\n');
        }
        for (number, line) in (first..).zip(lines) {
            line.write(number, &mut text);
        }
        let added = text.len() as u64;
        let capacity = self.options.capacity(room);
        if handle.length + added > capacity {
            if self.options.when_full == WhenFull::Stop || added > capacity {
                let room = capacity.saturating_sub(handle.length);
                return Err(SidecarError::Full { limit: self.options.limit_bytes, room });
            }
            let kept = self.options.kept_when_rolling(added);
            let text = text.trim_start_matches('\n');
            let rolled_lines =
                roll::replace_with_tail(&self.folder, &self.name, handle, kept, text)?;
            // The next batch opens the file that took this one's place.
            handle.is_stale = true;
            self.needs_sync = false;
            return Ok(Appended::new(first, added, rolled_lines));
        }
        if let Err(error) = (&handle.file).write_all(text.as_bytes()) {
            // What cannot be cut back is a torn line, which the next batch
            // closes off.
            handle.file.set_len(handle.length).ok();
            handle.is_stale = true;
            return Err(error).context("append to", &self.name).map_err(SidecarError::from);
        }
        handle.wrote(added, lines.len() as u64);
        self.needs_sync = true;
        Ok(Appended::new(first, added, 0))
    }

    /// The pointer is a convenience: a failure is tried again with the next
    /// batch and never keeps a line from being written.
    fn write_pointer(&mut self) {
        let Some(place) = &self.pointer else { return };
        let content = Pointer::new(&self.session, place.runtime_file.as_str()).to_file();
        let written = replace_file(&place.folder, &place.name, 0o600, |file| {
            file.write_all(content.as_bytes())
        });
        if written.is_ok() {
            self.sweep_after(&place.folder, &place.name);
            self.pointer = None;
        }
    }

    /// Takes away what crashed writers left. The file just written tells the
    /// time by the filesystem's own clock.
    fn sweep_after(&self, folder: &Dir, written: &str) {
        let now = folder.symlink_metadata(written).and_then(|metadata| metadata.modified());
        if let Ok(now) = now {
            // Only tidying: whoever writes next tries again.
            sweep_leftovers(&self.folder, now, LEFTOVER_AGE).ok();
        }
    }
}

impl SidecarWriter for FsSidecarWriter {
    fn append(&mut self, lines: &[PendingLine], room: Room) -> Result<Appended, SidecarError> {
        loop {
            let mut handle = match self.handle.take() {
                Some(handle) => handle,
                None => SidecarHandle::open(&self.folder, &self.name)?,
            };
            let file = handle.file.try_clone().context("open", &self.name)?;
            let lock = lock_exclusive(&file, &self.name)?;
            if !handle.is_current(&self.folder, &self.name, &self.session)? {
                // Rolled or removed by another process: open what is there now.
                continue;
            }
            handle.catch_up(&self.name)?;
            let outcome = self.append_to(&mut handle, lines, room);
            drop(lock);
            if !handle.is_stale {
                self.handle = Some(handle);
            }
            let appended = outcome?;
            if self.options.durability == Durability::Batch {
                self.flush()?;
            }
            self.write_pointer();
            return Ok(appended);
        }
    }

    fn store_blob(&mut self, blob: &Blob) -> Result<(), SidecarError> {
        self.blobs.store(blob)
    }

    fn flush(&mut self) -> Result<(), SidecarError> {
        if self.options.durability == Durability::Relaxed || !self.needs_sync {
            return Ok(());
        }
        if let Some(handle) = &self.handle {
            handle.file.sync_data().context("sync", &self.name)?;
        }
        if self.needs_folder_sync {
            sync_folder(&self.folder, &self.name)?;
            self.needs_folder_sync = false;
        }
        self.needs_sync = false;
        Ok(())
    }
}
